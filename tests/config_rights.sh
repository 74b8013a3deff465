#!/bin/sh
# The rights of clients on which the members agree are changed while the service runs: real daemons, `dibs config set rights`.
# Invariants: I23, I34.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
"$DIBS" keygen "$dir/key" && for name in ci boss; do "$DIBS" keygen --client-of "$dir/key" --name $name "$dir/$name.key" || exit 1; done
echo secret | "$DIBS" passwd web >"$dir/web.line"
port() { # MEMBER
    case $1 in ant) echo $((base + 10)) ;; bee) echo $((base + 11)) ;; cat) echo $((base + 12)) ;; *) echo $((base + 13)) ;; esac
}
begin() { # MEMBER [OPTION...]
    begun=$1
    shift
    serve "$begun" --name "$begun" --members "$members" --lease 2000 --key "$dir/key" --clients "127.0.0.1:$(port "$begun")" "$@"
}
config() { # MEMBER WORD...
    at=$1
    shift
    timeout 120 "$DIBS" config "$@" --socket "$dir/$at" >"$dir/out" 2>"$dir/err"
}
as() { # KEY MEMBER WORD...
    key=$1 where=$2
    shift 2
    DIBS_CONNECT="127.0.0.1:$(port "$where")" DIBS_KEY="$dir/$key.key" timeout 120 "$DIBS" "$@" >"$dir/out" 2>"$dir/err"
}
says() { # PATTERN: the last command printed that
    grep -q -- "$1" "$dir/out" "$dir/err"
}
same_rights() { # MEMBER...
    for at; do
        until_true sh -c "'$DIBS' config show rights --socket '$dir/$at' | cmp -s - '$dir/expected'" || return 1
    done
}
refused() { # NAME PATTERN MEMBER...: key:ci is not granted the lock, at each
    name=$1 pattern=$2
    shift 2
    for at; do
        ! as ci "$at" try "$name" -- true && says "$pattern" || return 1
    done
}
granted() { # NAME MEMBER...
    name=$1
    shift
    for at; do as ci "$at" try "$name" -- true || return 1; done
}

begin ant
begin bee
begin cat
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat && granted deploy ant bee cat
tell $? "three members are ready, without rules"
config cat show && says '^rights, 0 rules, 0 limits, 0 logins, from the members. configurations$' && says '^    the same in the configuration of ant, bee, cat$'
tell $? "config show tells that"

# A client holds a lock that will be taken from its key, and another one waits for it.
# shellcheck disable=SC2016 # expanded by the inner shell
DIBS_CONNECT="127.0.0.1:$(port bee)" DIBS_KEY="$dir/ci.key" "$DIBS" lock deploy -- sh -c ': >"$0"; while [ -e "$0" ]; do sleep 0.05; done' "$dir/held" 2>"$dir/holder.err" &
holder=$!
started="$started $holder"
until_true test -e "$dir/held"
DIBS_CONNECT="127.0.0.1:$(port ant)" DIBS_KEY="$dir/ci.key" "$DIBS" lock deploy --wait 300 -- touch "$dir/granted" 2>"$dir/waiter.err" &
waiter=$!
started="$started $waiter"
until_true sh -c "'$DIBS' waiters deploy --socket '$dir/cat' | grep -q ."

cat >"$dir/rights.conf" <<END2
# some settings that are not rights are left alone
lease 9000
$(cat "$dir/web.line")
allow key:boss  admin,watch *      # operators of this service
allow key:ci    lock,watch  build-*
limit key:ci    locks=3
allow user:$(id -u) none *
END2
config bee set rights "$dir/rights.conf" && says '^rights, 3 rules, 1 limits, 1 logins, agreed in view .* at member bee$'
tell $? "rights are set, at any member"
refused deploy 'key:ci does not have the right lock for "deploy", as no rule in the agreed rights is about both' ant bee cat
tell $? "when the command has ended, every member uses them"
cat >"$dir/expected" <<END2
allow key:boss watch,admin *
allow key:ci lock,watch build-*
allow user:$(id -u) none *
limit key:ci locks=3
$(cat "$dir/web.line")
END2
same_rights ant bee cat && granted build-1 ant bee cat
tell $? "all members show them, as a configuration has them"
kill -0 $holder && kill -0 $waiter && "$DIBS" holders deploy --socket "$dir/cat" | grep -q held
tell $? "what is held stays"
rm "$dir/held"
wait $holder
tell $? "its holder has not noticed"
wait $waiter
[ $? != 0 ] && [ ! -e "$dir/granted" ] && grep -q 'key:ci does not have the right lock for "deploy"' "$dir/waiter.err"
tell $? "the client that waited is refused when its turn comes"
"$DIBS" may key:ci force-unlock build-1 --socket "$dir/cat" >"$dir/out" 2>"$dir/err"
[ $? = 1 ] && says '^no: key:ci does not have the right force-unlock for "build-1", by the rule in the agreed rights, line 2: allow key:ci lock,watch build-\*$'
tell $? "dibs may names the line of the agreed rights"
grep -q 'audit: config: client .*: set rights, 3 rules, 1 limits, 1 logins, digest' "$dir/bee.log" &&
    grep -q 'the rights of clients are others from this view on, set by .* at member bee$' "$dir/cat.log" && grep -q 'audit: denied: .*key:ci' "$dir/ant.log"
tell $? "the audit trail has who did it, and the log of each member says it"
for at in ant bee cat; do printf 'AUTH web wrong\nAUTH web secret\n' | redis-cli -s "$dir/$at" 2>&1 | tr '\n' ' '; done >"$dir/out"
[ "$(grep -o 'WRONGPASS' "$dir/out" | wc -l)" = 3 ] && [ "$(grep -o 'OK' "$dir/out" | wc -l)" = 3 ]
tell $? "the password of an agreed login is known at all members"

hidden() { # KEY
    as "$1" cat config show && says '^rights, 3 rules' && ! says pbkdf2
}
hidden ci && as ci cat config show rights
[ $? = 1 ] && says 'key:ci does not have the right admin' && ! says pbkdf2 && as boss cat config show rights && says pbkdf2
tell $? "hashes are shown to clients with the right admin, and to no others"
as ci cat config set rights "$dir/rights.conf"
[ $? = 1 ] && says 'key:ci does not have the right admin' && same_rights ant
tell $? "and only they may change rights"

# No client locks itself out by accident, and none the owner of the socket.
echo 'allow key:ci all *' >"$dir/greedy.conf"
as boss ant config set rights "$dir/greedy.conf"
[ $? = 1 ] && [ "$(wc -l <"$dir/err")" = 1 ] && says 'you could not take it back: key:boss does not have the right admin, as no rule in the agreed rights is about both' && same_rights ant bee
tell $? "a change that takes the right admin from the client that asks is refused"
as boss ant config unset rights
[ $? = 1 ] && says 'you could not take it back' && same_rights cat
tell $? "also if it is to take them back"
as boss ant config set rights "$dir/greedy.conf" --force && says '^rights, 1 rules, 0 limits, 0 logins, agreed in view' && refused x 'no-such-text' ant
[ $? = 1 ] && granted deploy ant bee cat && as boss cat config show rights
[ $? = 1 ] && says 'key:boss does not have the right admin'
tell $? "with --force it is done"
config cat set rights "$dir/rights.conf" && same_rights ant bee cat
tell $? "the owner of the socket has all rights, whatever the rules are"
as boss cat config set lease 2000 --force
[ $? = 2 ] && says '--force is for rights, and for policies'
tell $? "--force is for rights"

printf 'allow key:ci lock *\nallow key:ci lock x\nallow ci lock y\nlogin web x\n' >"$dir/bad.conf"
config ant set rights "$dir/bad.conf"
[ $? = 2 ] && says 'bad.conf:2: this rule decides nothing' && says 'bad.conf:3: "ci" is no client' && says 'bad.conf:4: this is no hash' && same_rights ant
tell $? "a file with mistakes is refused, with their lines"
echo 'lease 4000' >"$dir/none.conf"
config ant set rights "$dir/none.conf"
[ $? = 2 ] && says 'there is no line "allow"' && same_rights ant
tell $? "a file without rights does not open the service to all"
awk 'BEGIN { for (k = 0; k < 250; k++) printf "allow key:a-name-of-some-length-%d lock,watch a-pattern-of-some-length-%d-*\n", k, k }' >"$dir/long.conf"
config ant set rights "$dir/long.conf"
[ $? = 2 ] && says 'long.conf: written in full, the rights take .* bytes, and at most 12288 are possible' && same_rights cat
tell $? "nor are too many accepted"
"$DIBS" config show --format json --socket "$dir/bee" >"$dir/out" && python3 -c 'import json,sys; x={s["key"]: s for s in json.load(open(sys.argv[1]))}; assert x["rights"]["value"] == "3 rules, 1 limits, 1 logins" and x["rights"]["source"] == "agreed", x' "$dir/out"
tell $? "config show has them in JSON"

# Users and groups by name, on each machine.
printf 'allow user:nobody-here all *\nallow key:ci lock *\nallow user:root watch *\n' | timeout 120 "$DIBS" config set rights - --socket "$dir/ant" >"$dir/out" 2>"$dir/err" &&
    for at in ant bee cat; do until_true grep -q 'the agreed rights name user:nobody-here, which this machine does not have' "$dir/$at.log" || break; done &&
    granted x ant bee cat && "$DIBS" may user:root watch x --socket "$dir/ant" >"$dir/out" && says 'yes: user:0 has the right watch for "x", by the rule in the agreed rights, line 3'
tell $? "users are looked up on each machine, and one that it does not have is told"

# An agent has no rights of its own.
"$DIBS" serve --agent --connect "127.0.0.1:$(port ant),127.0.0.1:$(port bee)" --key "$dir/ci.key" --socket "$dir/agent" 2>"$dir/agent.log" &
started="$started $!"
until_true "$DIBS" try x --socket "$dir/agent" -- true && config cat set rights "$dir/rights.conf" && ! "$DIBS" try x --socket "$dir/agent" -- true >"$dir/out" 2>"$dir/err" &&
    says 'key:ci does not have the right lock for "x", as no rule in the agreed rights' && config agent unset rights
[ $? = 1 ] && says 'key:ci does not have the right admin'
tell $? "a client of an agent has the rights of the agent's key"

# Restarts, one after the other, with other rules in the file.
printf 'allow key:ci watch *\n' >"$dir/cat.conf"
end_daemon cat
begin cat --config "$dir/cat.conf"
until_true is_ready cat && same_rights cat && refused deploy 'the agreed rights' cat && granted build-1 cat
tell $? "a member that is restarted has the agreed rights, whatever its file says"
grep -q "the rights of clients are the agreed ones of view .*: 3 rules, 1 limits, 1 logins. Those of this daemon.s configuration do not count: 1 rules, 0 limits, 0 logins" "$dir/cat.log"
tell $? "and its log says so"
kill -HUP "$(cat "$dir/cat.pid")"
until_true grep -q 'SIGHUP: the rules for clients were read again: 1 rules, 0 limits, 0 logins; they do not count' "$dir/cat.log" && granted build-1 cat
tell $? "SIGHUP does not change that"
until_true sh -c "'$DIBS' config show --socket '$dir/ant' | grep -q '^    others: [0-9a-f]* in the configuration of cat$'"
tell $? "config show names the members whose files differ"
for at in ant bee; do
    end_daemon $at
    begin $at
    until_true is_ready $at || break
done
same_rights ant bee cat && refused deploy 'the agreed rights' ant bee cat
tell $? "they outlive a restart of one member after the other"

members="$members,dog=127.0.0.1:$((base + 3))"
"$DIBS" member add "dog=127.0.0.1:$((base + 3))" --socket "$dir/ant" >"$dir/out" 2>"$dir/err"
begin dog --join
until_true is_ready dog && same_rights dog && refused deploy 'the agreed rights' dog
tell $? "a new member gets them with the view that admits it"
end_daemon ant bee cat dog
for at in ant bee dog; do begin $at; done
begin cat --config "$dir/cat.conf"
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat && until_true is_ready dog && same_rights ant bee cat dog && refused deploy 'the agreed rights' cat dog
tell $? "they outlive a restart of all members"

until_true config ant unset rights && says '^rights, 0 rules, 0 limits, 0 logins, agreed as in the files in view' && granted deploy ant bee dog &&
    refused deploy "key:ci does not have the right lock for \"deploy\", by the rule in $dir/cat.conf:1: allow key:ci watch \*" cat
tell $? "when they are unset, each daemon's own count again"
sed -i 's/watch/lock,watch/' "$dir/cat.conf"
kill -HUP "$(cat "$dir/cat.pid")"
until_true granted deploy cat
tell $? "and SIGHUP changes them again"

end_daemon dog cat
kill -KILL "$(cat "$dir/bee.pid")"
until_true sh -c "! '$DIBS' status --socket '$dir/ant' | grep -q '^ready yes'"
config ant set rights "$dir/rights.conf"
[ $? = 1 ] && says 'locks are not granted just now'
tell $? "without a majority nothing is changed, and that is said"

# A build that knows of agreed settings, and not of agreed rights.
if [ "$MODE" = release ] && plant src/serve/serve.c 's/\.invite = serve_invite/.without_rights = true, &/'; then
    members="eel=127.0.0.1:$((base + 20)),gnu=127.0.0.1:$((base + 22))"
    serve eel --name eel --members "$members"
    new=$DIBS DIBS=$dir/dibs
    serve gnu --name gnu --members "$members"
    DIBS=$new
    until_true is_ready eel && until_true is_ready gnu
    config eel set rights "$dir/greedy.conf"
    [ $? = 1 ] && says 'gnu is of an earlier build, which does not know of agreed rights' && config eel show && says '^rights, 0 rules, 0 limits, 0 logins, from'
    tell $? "nothing is changed while a member of an earlier build takes part, and it is named"
    end_daemon gnu
    serve gnu --name gnu --members "$members"
    until_true is_ready gnu
    until_true config eel set rights "$dir/greedy.conf"
    tell $? "when it is upgraded, rights can be changed"
fi
serve alone
until_true is_ready alone
config alone set rights "$dir/greedy.conf"
[ $? = 1 ] && says 'this daemon is not part of a cluster; write the rights into its configuration'
tell $? "a daemon alone says how its rights are changed"

echo "1..$number"
