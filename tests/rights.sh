#!/bin/sh
# Rights by name: rules in the configuration, what `dibs may` says about them, and what daemons make of them.
# Real daemons in a directory of their own; what is started is stopped by its number; no time is asserted.
# Invariant: I34.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

# ------------------------------------------------------------------------------------------------------ dibs may, by a file

cat >"$dir/may.conf" <<EOF
allow user:root  none       secret-*
allow user:4711  lock,watch build-*
allow group:4712 shared     build-*
allow key:ci     lock       build-*
allow any        watch      *
EOF
may() { # STATUS TEXT WORD...
    want=$1 text=$2
    shift 2
    "$DIBS" may "$@" --config "$dir/may.conf" >"$dir/out" 2>"$dir/err"
    [ $? = "$want" ] && cat "$dir/out" "$dir/err" | grep -qF -- "$text"
    tell $? "dibs may $*: ${text##*/}"
}
may 0 "yes: user:4711 has the right lock for \"build-1\", by the rule in $dir/may.conf:2: allow user:4711 lock,watch build-*" \
    user:4711 lock build-1
may 1 "no: user:4711 does not have the right force-unlock for \"build-1\", by the rule in $dir/may.conf:2" user:4711 force-unlock build-1
may 1 "by the rule in $dir/may.conf:3: allow group:4712 shared build-*" group:4712 lock build-1
may 0 "by the rule in $dir/may.conf:3" group:4712 shared build-1
may 1 "by the rule in $dir/may.conf:5: allow any watch *" key:ci admin
may 0 "is an operator, who has all rights" user:root lock secret-1
may 2 '"reed" is not one right' key:ci reed x
may 2 'this right is about a lock, and none is named' key:ci lock
may 2 '"alice" is no client' alice lock x
may 2 'there is no user:nobody-here on this machine' user:nobody-here lock x

# Every mistake is told with its line; a rule that decides nothing is one.
cat >"$dir/wrong.conf" <<EOF
allow alice lock *
allow user:nobody-here lock *
allow any lock x*
allow key:ci watch x*
allow auth:web lock y
login web
limit key:ci lock=3
EOF
"$DIBS" serve --config "$dir/wrong.conf" --socket "$dir/never" >"$dir/out" 2>"$dir/err"
[ $? = 2 ] && [ "$(sed 's/^dibs: [^:]*:\([0-9]*\): .*/\1/' "$dir/err" | tr '\n' ' ')" = "1 2 4 5 6 7 " ] &&
    grep -q ":4: this rule decides nothing: line 3 comes first" "$dir/err" && grep -q ':5: "web" cannot log in' "$dir/err"
tell $? "every mistake in the rules is told with its line"
for k in 1 2 3 4 5; do printf 'allow any lock *?%0120d%d*\n' 0 "$k"; done >"$dir/costly.conf"
rejects "$dir/costly.conf:5: with this rule a decision may take 159995 steps, and 131072 is the bound; use fewer ? and [] behind a *, or fewer rules" \
    serve --config "$dir/costly.conf" --socket "$dir/never"
rm -f "$dir/out" "$dir/err"

# --------------------------------------------------------------------------------------------------------- real daemons

take_ports
# One connection, a command in a line.
talk() { # SOCKET
    redis-cli -s "$dir/$1" 2>&1
}

"$DIBS" keygen "$dir/key" && "$DIBS" keygen --client-of "$dir/key" "$dir/plain.key" &&
    "$DIBS" keygen --client-of "$dir/key" --name ci "$dir/ci.key" && grep -q ' name ci$' "$dir/ci.key"
tell $? "a client key can have a name"
rejects '--name: "client" cannot be the name of a key; it has 1 to 63 letters, digits, dots, dashes and underscores, and is neither client nor cluster' \
    keygen --client-of "$dir/key" --name client
rejects '--name: a cluster key has no name; say of which cluster with --client-of' keygen --name x

echo secret | "$DIBS" passwd web >"$dir/web.line" && grep -q '^login web pbkdf2-sha256:4096:[0-9a-f]*:[0-9a-f]*$' "$dir/web.line"
tell $? "dibs passwd prints a line for the configuration"
cat >"$dir/rules.conf" <<EOF
$(cat "$dir/web.line")
allow key:ci     lock,watch build-*
allow key:client watch      public-*
allow auth:web   lock,watch web-*
limit key:ci     locks=3 waiters=1 connections=2
limit auth:web   locks=2
allow key:ci     watch,force-unlock own-*
EOF
serve ant --config "$dir/rules.conf" --key "$dir/key" --clients "127.0.0.1:$base" --http "127.0.0.1:$((base + 2))"
until_true is_ready ant
tell $? "a daemon with rules serves its owner"
as_key() { # KEY WORD...
    key=$1
    shift
    DIBS_CONNECT="127.0.0.1:$base" DIBS_KEY="$dir/$key" "$DIBS" "$@"
}
refused() { # TEXT COMMAND...: not done, and this is why
    text=$1
    shift
    "$@" >"$dir/out" 2>&1
    [ $? != 0 ] && grep -qF -- "$text" "$dir/out"
    tell $? "refused: $text"
    rm -f "$dir/out"
}
as_key ci.key lock build-1 -- true && as_key ci.key holders build-1 >/dev/null && as_key key lock secret -- true
tell $? "a key may do what its rule says, and the cluster key everything"
refused 'key:ci does not have the right lock for "deploy", as no rule in' as_key ci.key lock deploy -- true
refused "key:ci does not have the right force-unlock for \"build-1\", by the rule in $dir/rules.conf:2: allow key:ci lock,watch build-*" \
    as_key ci.key force-unlock build-1
refused 'key:client does not have the right lock for "public-1"' as_key plain.key lock public-1 -- true
refused 'key:client does not have the right watch for "build-1"' as_key plain.key holders build-1
refused 'key:client does not have the right watch for "build-1"' as_key plain.key waiters build-1
refused 'key:client does not have the right watch for "build-1"' as_key plain.key replay build-1
refused 'key:ci does not have the right admin' as_key ci.key member remove dog
refused 'key:ci does not have the right admin' as_key ci.key drain
as_key ci.key drain >/dev/null 2>&1
[ $? = 1 ]
tell $? "the exit status of dibs drain, when the daemon refuses, is not that of a wrong command line"
"$DIBS" lock --socket "$dir/ant" build-7 -- sleep 1000 &
started="$started $!"
"$DIBS" lock --socket "$dir/ant" secret-7 -- sleep 1000 &
started="$started $!"
until_true sh -c "\"$DIBS\" locks --socket \"$dir/ant\" | grep -c 'holders 1' | grep -q 2"
[ "$(as_key ci.key locks | grep -c 'holders 1')" = 1 ] && [ -z "$(as_key plain.key locks)" ]
tell $? "LOCKS shows the names that a client may watch"

# A browser that has logged in is the client that has asked for its token: it sees and does what this one may.
"$DIBS" lock --socket "$dir/ant" own-7 --grace 0.1 -- sleep 1000 2>/dev/null &
started="$started $!"
until_true sh -c "\"$DIBS\" holders own-7 --socket \"$dir/ant\" | grep -q held"
page_asks() { # KEY: prints the names of locks that a page sees, whom it may see hold three locks, and what it can take away
    python3 - "$(as_key "$1" page-token)" <<'EOF'
import http.client, json, sys
address, token = sys.argv[1][7:].split("/#login=")
def ask(method, path, body=None, headers={}):
    c = http.client.HTTPConnection(address, timeout=60)
    c.request(method, path, body, headers)
    r = c.getresponse()
    return r.status, r.headers, json.loads(r.read())
status, headers, login = ask("POST", "/login", token)
me = {"Cookie": headers["Set-Cookie"].split(";")[0], "X-Dibs-Pass": login["pass"]}
print("operator" if login["operator"] else "no operator")
print("sees", *sorted(row["name"] for row in ask("GET", "/locks.json", headers=me)[2][1] if row["holders"]))
for claims in ask("GET", "/claims.json?name=build-7&name=own-7&name=secret-7", headers=me)[2]:
    print(claims["name"], "holders" if isinstance(claims["holders"], list) else claims["holders"]["error"].split()[0], claims["force"][0])
print("forces", *(name for name in ("build-7", "own-7", "secret-7") if ask("POST", "/force-unlock", name, me)[0] == 200))
EOF
}
page_asks ci.key >"$dir/seen"
cat >"$dir/wanted" <<EOF
no operator
sees build-7 own-7
build-7 holders 0
own-7 holders 1
secret-7 NOPERM 0
forces own-7
EOF
cmp "$dir/seen" "$dir/wanted"
tell $? "a page has the rights of the client that asked for its token, name by name, and is no connection of it"
page_asks key >"$dir/seen"
grep -qx "operator" "$dir/seen" && grep -qx "sees build-7 secret-7" "$dir/seen" && grep -qx "forces build-7 own-7 secret-7" "$dir/seen"
tell $? "and that of an operator has all of them"
"$DIBS" force-unlock --socket "$dir/ant" build-7 >/dev/null

as_key ci.key may me lock build-1 >"$dir/out" && grep -q "^yes: key:ci has the right lock" "$dir/out" &&
    ! as_key ci.key may key:client lock x >"$dir/out" 2>&1 && grep -q "right admin" "$dir/out" &&
    ! "$DIBS" may key:client lock public-1 --socket "$dir/ant" >"$dir/out" && grep -q "^no: key:client does not have the right lock.*:3: allow key:client watch" "$dir/out"
tell $? "dibs may asks the daemon: all clients about themselves, operators about others"
rm -f "$dir/out"

# Events are told of names that the client may watch, whatever its pattern is.
DIBS_CONNECT="127.0.0.1:$base" DIBS_KEY="$dir/ci.key" "$DIBS" watch '*' >"$dir/events" 2>&1 &
watcher=$!
started="$started $watcher"
until_true sh -c "\"$DIBS\" lock --socket \"$dir/ant\" build-8 -- true; grep -q build-8 \"$dir/events\""
"$DIBS" lock --socket "$dir/ant" secret-8 -- true
until_true sh -c "\"$DIBS\" lock --socket \"$dir/ant\" build-9 -- true; grep -q build-9 \"$dir/events\""
! grep -q secret "$dir/events"
tell $? "events are told only of names that the client may watch"
kill "$watcher"

# Limits.
DIBS_CONNECT="127.0.0.1:$base" DIBS_KEY="$dir/ci.key" "$DIBS" lock build-a -- sleep 1000 &
started="$started $!"
DIBS_CONNECT="127.0.0.1:$base" DIBS_KEY="$dir/ci.key" "$DIBS" lock build-b -- sleep 1000 &
started="$started $!"
until_true sh -c "\"$DIBS\" locks --socket \"$dir/ant\" | grep -c 'name build-[ab] .*holders 1' | grep -q 2"
refused "key:ci may have at most 2 connections to this member, by the limit in $dir/rules.conf:5" as_key ci.key status
kill $! && until_true as_key ci.key lock build-c -- true
tell $? "a connection that has ended does not count"

# ------------------------------------------------------------------------------------------- names and passwords: AUTH

cat >"$dir/auth.conf" <<EOF
$(cat "$dir/web.line")
allow auth:web lock,watch web-*
limit auth:web locks=2 waiters=1
EOF
serve bee --config "$dir/auth.conf" --clients "127.0.0.1:$((base + 1))"
until_true is_ready bee
redis() { # a script of commands on standard input
    redis-cli -p $((base + 1)) 2>&1
}
printf 'LOCK web-1\nAUTH web wrong\nAUTH nobody secret\nAUTH web secret\nLOCK other\nLOCK web-1\nAUTH web secret\n' | redis >"$dir/out"
grep -q '^NOAUTH any does not have the right lock for "web-1", as no rule' "$dir/out" && [ "$(grep -c '^WRONGPASS' "$dir/out")" = 2 ] &&
    grep -q '^OK' "$dir/out" && grep -q '^NOPERM auth:web does not have the right lock for "other"' "$dir/out" && grep -q '^web-1' "$dir/out" &&
    grep -q '^ERR log in before the first lock' "$dir/out"
tell $? "AUTH with redis-cli: a name and its password, and what it may do then"
printf 'HELLO 3 AUTH web secret SETNAME me\nLOCK web-1\n' | redis >"$dir/out"
grep -q '^web-1' "$dir/out"
tell $? "HELLO can log in as well"
printf 'AUTH web secret\nSET web-1 t NX PX 60000\nSET web-2 t NX PX 60000\nSET web-3 t NX PX 60000\nGET web-1\nDEL web-1\nEXISTS web-1\nSET web-1 u XX PX 5000\nPEXPIRE web-1 10\n' |
    redis >"$dir/out"
[ "$(grep -c '^OK' "$dir/out")" = 3 ] && grep -q "^BUSY auth:web may use at most 2 locks at this member, by the limit in $dir/auth.conf:3" "$dir/out" &&
    [ "$(grep -c '^NOPERM auth:web does not have the right force-unlock for "web-1"' "$dir/out")" = 4 ] && grep -qx 1 "$dir/out"
tell $? "a limit counts the locks of tokens; what needs no token takes the right force-unlock"
rm -f "$dir/out"
"$DIBS" lock --socket "$dir/bee" web-5 -- sleep 1000 &
started="$started $!"
until_true sh -c "\"$DIBS\" holders web-5 --socket \"$dir/bee\" | grep -q held"
printf 'DEL web-1 web-2\n' | talk bee >/dev/null
printf 'AUTH web secret\nLOCK web-5 WAIT 600000\n' | redis >/dev/null &
until_true sh -c "\"$DIBS\" waiters web-5 --socket \"$dir/bee\" | grep -q client"
printf 'AUTH web secret\nLOCK web-5\n' | redis | grep -q "^BUSY auth:web may wait for at most 1 locks"
tell $? "a limit counts the requests that wait"
# Guesses are bounded, and do not keep out a client that knows its password.
(yes 'AUTH web guess' | head -60 && echo 'AUTH web secret') | redis >"$dir/out"
grep -q '^BUSY too many logins have failed' "$dir/out" && [ "$(grep -c '^WRONGPASS' "$dir/out")" -lt 60 ] && [ "$(tail -1 "$dir/out")" = OK ]
tell $? "the number of guesses is bounded, and the right password goes on working"
rm -f "$dir/out"

# SIGHUP: other rules, for clients that are here as well; mistakes change nothing.
sed -i 's/lock,watch web-/watch web-/' "$dir/auth.conf"
kill -HUP "$(cat "$dir/bee.pid")"
until_true grep -q "SIGHUP: the rules for clients were read again: 1 rules, 1 limits, 1 logins" "$dir/bee.log"
printf 'AUTH web secret\nLOCK web-9\n' | redis | grep -q '^NOPERM auth:web does not have the right lock'
tell $? "SIGHUP reads the rules again"
echo 'allow web lock x' >>"$dir/auth.conf"
kill -HUP "$(cat "$dir/bee.pid")"
until_true grep -q "auth.conf:4: .*is no client" "$dir/bee.log" && grep -q "the rules for clients stay as they were" "$dir/bee.log" &&
    printf 'AUTH web secret\nHOLDERS web-9\n' | redis | grep -qv NOPERM
tell $? "rules with a mistake change nothing, and the log says why"
sed '$d' "$dir/auth.conf" >"$dir/auth.conf.kept" # without the mistake
: >"$dir/auth.conf"
kill -HUP "$(cat "$dir/bee.pid")"
until_true grep -q 'warning.*there are no rules for clients any more: every client may use all locks' "$dir/bee.log"
tell $? "a file that has lost its rules is a warning"
mv "$dir/auth.conf.kept" "$dir/auth.conf"
kill -HUP "$(cat "$dir/bee.pid")"
until_true sh -c "grep -c 'were read again: 1 rules' '$dir/bee.log' | grep -qx 2"

# A kept session belongs to the client that has begun it.
id=$(printf 'AUTH web secret\nSESSION KEEP 60000\nSESSION DETACH\n' | redis | sed -n 2p)
[ "${#id}" = 32 ] && printf 'SESSION RESUME %s\n' "$id" | talk bee | grep -q '^NOSESSION' &&
    printf 'SESSION RESUME %s\n' "$id" | redis | grep -q '^NOSESSION' &&
    printf 'AUTH web secret\nSESSION RESUME %s\n' "$id" | redis | grep -q RESUMED
tell $? "the id of a kept session is of no use to another client"

if [ "$(id -u)" = 0 ]; then
    cp "$DIBS" "$dir/dibs"
    chmod 711 "$dir"
    cat >"$dir/users.conf" <<EOF
allow user:54321 lock,watch u-*
allow group:54399 shared,watch g-*
EOF
    serve cat --config "$dir/users.conf" --socket-group daemon
    until_true is_ready cat
    as() { # USER GROUPS WORD...
        user=$1 groups=$2
        shift 2
        setpriv --reuid "$user" --regid daemon --groups "$groups" env ASAN_OPTIONS="${ASAN_OPTIONS:-}" DIBS_SOCKET="$dir/cat" \
            "$dir/dibs" "$@"
    }
    as 54321 1 lock u-1 -- true && as 54322 54399 lock g-1 --shared -- true && as 0 0 lock x -- true
    tell $? "a user and a group may do what their rules say, and root everything"
    refused 'user:54322 does not have the right lock for "g-1", by the rule in' as 54322 54399 lock g-1 -- true
    refused 'user:54321 does not have the right lock for "g-1", as no rule' as 54321 1 lock g-1 -- true
    refused 'user:54322 does not have the right lock for "u-1", as no rule' as 54322 54399 lock u-1 -- true
    end_daemon cat
else
    tell 0 "users and groups # SKIP only root can be all of them"
fi
end_daemon ant bee
grep -q 'audit: denied: client [0-9]* (key:ci from .*): "deploy": key:ci does not have the right lock' "$dir/ant.log" &&
    grep -q 'audit: login_refused: client' "$dir"/*.log && grep -q 'audit: force_unlock: client' "$dir"/*.log
tell $? "the log has an audit trail: refusals, failed logins, orders of operators"
echo "1..$number"
