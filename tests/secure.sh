#!/bin/sh
# What an operator configures and what an intruder tries: the configuration file, clients over TCP, keys, certificates.
# Real daemons in a directory of their own; what is started is stopped by its number; no time is asserted.
# Invariant: I21.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports

end_daemon() { # SOCKET...
    for socket; do
        kill "$(cat "$dir/$socket.pid")"
        wait "$(cat "$dir/$socket.pid")" 2>/dev/null
        rm -rf "$dir/$socket.data" # the next one founds another cluster
    done
}

# Status 2, nothing on stdout, and a line with this text on stderr.
rejects() { # TEXT ARGUMENT...
    text=$1
    shift
    "$DIBS" serve --socket "$dir/never" "$@" >"$dir/out" 2>"$dir/err"
    [ $? = 2 ] && [ ! -s "$dir/out" ] && grep -qF -- "$text" "$dir/err"
    tell $? "refuses to serve: $text"
}

# ------------------------------------------------------------------------------------------------------ configuration

(cd tests/golden && "$DIBS" serve --config mistakes.conf --name ant) >"$dir/out" 2>"$dir/err"
[ $? = 2 ] && [ ! -s "$dir/out" ] && diff tests/golden/mistakes.txt "$dir/err"
tell $? "every mistake in a configuration is told, with its line"

"$DIBS" serve --config examples/dibs.conf --name bee --lease 250 --check-config >"$dir/out" &&
    grep -q '^listen .*127.0.0.1:7402' "$dir/out" && grep -q '^lease .*250 ms' "$dir/out" &&
    grep -q '^policy .*build-\* .*slots=4$' "$dir/out"
tell $? "--check-config tells what the example would do, and options win over the file"

rejects 'cannot read' --config "$dir/nothing"
leases_are_equal() {
    for lease in 2s 2000ms 2000; do
        "$DIBS" serve --config examples/dibs.conf --name bee --lease $lease --check-config | grep -q '^lease .*2000 ms' || return 1
    done
}
leases_are_equal
tell $? "a lease has a unit, or is a number of milliseconds"
for lease in 5 61s 2x 1.5s -2s 99999999999999999999; do rejects "--lease: \"$lease\" is not a lease" --lease $lease; done
rejects '--deadlock-after: "1" is not a time' --deadlock-after 1
rejects '--members: the list of members is empty' --members ''
rejects '--name: "dog" is not in the list' --config examples/dibs.conf --name dog
rejects 'no member has the name of this machine, ' --config examples/dibs.conf

cat >"$dir/two.conf" <<EOF
member ant=127.0.0.1:$base
member bee=127.0.0.1:$((base + 1))
policy build-* slots=2 slots-algorithm=raymond-k   # two at once
policy *.db slots=none algorithm=lamport
EOF
serve ant --config "$dir/two.conf" --name ant
serve bee --config "$dir/two.conf" --name bee
until_true is_ready ant && until_true is_ready bee
tell $? "two members meet by a configuration file"
[ "$("$DIBS" lock --socket "$dir/ant" build-x --slots 2 --wait 20 -- \
    "$DIBS" lock --socket "$dir/bee" build-x --slots 2 --wait 20 -- echo both)" = both ]
tell $? "a policy gives locks their slots"
"$DIBS" lock --socket "$dir/ant" build-x --slots 2 --wait 20 -- "$DIBS" locks --socket "$dir/bee" |
    grep -q "name build-x  algorithm raymond-k  slots 2  holders 1"
tell $? "which algorithm runs a lock is shown"
"$DIBS" lock --socket "$dir/bee" build-x --slots 3 --wait 20 -- true 2>"$dir/said"
[ $? = 114 ] && grep -q "is a lock with 2 slots" "$dir/said"
tell $? "and refuses another number"
"$DIBS" lock --socket "$dir/bee" big.db --shared --wait 20 -- true 2>"$dir/said"
[ $? = 114 ] && grep -q "run by lamport, which does not support sharing" "$dir/said"
tell $? "a policy gives locks their algorithm"
end_daemon bee

sed 's/slots=2/slots=3/' "$dir/two.conf" >"$dir/other.conf"
serve bee --config "$dir/other.conf" --name bee
until_true grep -q "configurations differ.*build-\*" "$dir/ant.log" &&
    until_true grep -q "configurations differ.*build-\*" "$dir/bee.log"
tell $? "members with different policies refuse each other, with the reason in both logs"
end_daemon ant bee

# ----------------------------------------------------------------------------------------------- users of this machine

rejects '--socket-group: there is no group "nobody-here"' --socket-group nobody-here

if [ "$(id -u)" = 0 ]; then
    as() { # GROUP COMMAND...: as nobody who has a name, in this group only
        setpriv --reuid 54321 --regid "$1" --clear-groups env ASAN_OPTIONS="${ASAN_OPTIONS:-}" "$dir/dibs" status --socket "$dir/club"
    }
    cp "$DIBS" "$dir/dibs" # where everybody may come
    chmod 711 "$dir"
    serve club
    until_true is_ready club
    as daemon >/dev/null 2>"$dir/said"
    [ $? != 0 ] && grep -q "Permission denied" "$dir/said"
    tell $? "other users of the machine may not use the socket"
    end_daemon club
    serve club --socket-group daemon
    until_true is_ready club
    as daemon >/dev/null
    tell $? "those of the group that it is given to may"
    setpriv --reuid 54321 --regid daemon --clear-groups env ASAN_OPTIONS="${ASAN_OPTIONS:-}" "$dir/dibs" force-unlock x \
        --socket "$dir/club" >"$dir/out" 2>&1
    [ $? != 0 ] && grep -q "needs an operator" "$dir/out"
    tell $? "but are no operators"
    as mail >/dev/null 2>"$dir/said"
    [ $? != 0 ] && grep -q "Permission denied" "$dir/said"
    tell $? "and no other user"
    end_daemon club
else
    tell 0 "users and groups # SKIP only root can be all of them"
fi

# A data directory that others can write to, or own, or that is a link to elsewhere.
refuses_data() { # REASON DIRECTORY
    timeout 60 "$DIBS" serve --socket "$dir/never" --name ant --members "ant=127.0.0.1:$base" --data "$2" >"$dir/out" 2>"$dir/err"
    [ $? = 1 ] && grep -qF "cannot use the data directory $2: $1" "$dir/err" && grep -q "choose another one with --data" "$dir/err"
    tell $? "refuses a data directory: $1"
}
mkdir "$dir/public" "$dir/private" && chmod 777 "$dir/public" && ln -s private "$dir/link"
refuses_data "others can write to it" "$dir/public"
refuses_data "it is a symbolic link" "$dir/link"
refuses_data "it is a symbolic link" "$dir/link/"
echo precious >"$dir/elsewhere" && ln -s ../elsewhere "$dir/private/ant.journal"
refuses_data "it is a symbolic link, or no directory, or its journal is a link" "$dir/private"
rm "$dir/private/ant.journal" && ln -sf ../elsewhere "$dir/private/ant.lock"
refuses_data "it is a symbolic link, or no directory, or its journal is a link" "$dir/private"
[ "$(cat "$dir/elsewhere")" = precious ]
tell $? "and leaves alone what a link in it leads to"
if [ "$(id -u)" = 0 ]; then
    mkdir "$dir/others" && chown 54321 "$dir/others"
    refuses_data "it belongs to another user" "$dir/others"
else
    tell 0 "a directory of another user # SKIP only root can make one"
fi

# ------------------------------------------------------------------------------------------------- clients over TCP

rejects '--clients: 192.0.2.1 is not on loopback' --clients 192.0.2.1:7411

serve solo --clients "127.0.0.1:$base"
until_true is_ready solo
grep -q "serves 127.0.0.1:$base as well, without a key, for every user of this machine" "$dir/solo.log"
tell $? "a door for every user of the machine is told"

if command -v redis-cli >/dev/null; then
    redis() {
        redis-cli -h 127.0.0.1 -p "$base" "$@"
    }
    [ "$(redis PING)" = PONG ] && [ "$(redis LOCK x | sed -n 1p)" = x ]
    tell $? "redis-cli is a client over TCP"
else
    tell 0 "redis-cli is a client over TCP # SKIP it is not installed"
fi
[ "$("$DIBS" lock --connect "127.0.0.1:$base" --wait 20 x -- echo inside)" = inside ]
tell $? "dibs lock finds a daemon over TCP"
"$DIBS" keygen "$dir/early.key" && "$DIBS" status --connect "127.0.0.1:$base" --key "$dir/early.key" 2>"$dir/said"
[ $? = 1 ] && grep -q "the daemon does not speak TLS" "$dir/said"
tell $? "a member with a key talks to none without"
end_daemon solo

# ------------------------------------------------------------------------------------------------------- a cluster key

"$DIBS" keygen "$dir/key" && [ "$(stat -c %a "$dir/key")" = 600 ] && grep -Eq '^dibs-key cluster [0-9a-f]{64}$' "$dir/key"
tell $? "keygen makes a key that only its owner can read"
"$DIBS" keygen "$dir/key" 2>"$dir/said"
[ $? = 2 ] && grep -q "never overwritten" "$dir/said"
tell $? "and does not overwrite one"
"$DIBS" keygen "$dir/other.key" && ! cmp -s "$dir/key" "$dir/other.key"
tell $? "every key is another one"
"$DIBS" keygen --client-of "$dir/key" "$dir/client.key" && grep -Eq '^dibs-key client [0-9a-f]{64} daemon [0-9a-f]{64}$' "$dir/client.key"
tell $? "a client key is made from a cluster key"

cp "$dir/key" "$dir/open.key" && chmod 640 "$dir/open.key"
rejects 'others can read or write' --key "$dir/open.key"
rejects 'is a key for clients only' --key "$dir/client.key"
rejects 'cannot read' --key "$dir/no.key"
cp examples/dibs.conf "$dir/no.key" && chmod 600 "$dir/no.key"
rejects 'is not a key file; make one with dibs keygen' --key "$dir/no.key"
rejects '--listen: 0.0.0.0 is not on loopback; without a key any process could connect' --listen 0.0.0.0:7400
"$DIBS" serve --name ant --members ant=192.0.2.1:7400 --listen 0.0.0.0:7400 --clients 0.0.0.0:7411 --key "$dir/key" --check-config >"$dir/out" &&
    grep -q '^clients .*0.0.0.0:7411, over TLS, with a key$' "$dir/out"
tell $? "with a key, addresses beyond this machine are possible"

three="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
two="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1))"

# Three members, locks handed around, and fences that grow.
works() { # NAME OPTIONS
    for member in ant bee cat; do
        # shellcheck disable=SC2046 # options
        serve $member --name $member --members "$three" $(echo "$2" | sed "s|@|$member|g")
    done
    until_true is_ready ant && until_true is_ready bee && until_true is_ready cat
    tell $? "$1: three members meet"
    : >"$dir/fences"
    counters=
    for member in ant bee cat; do
        for _ in 1 2 3 4; do
            # shellcheck disable=SC2016 # expanded by the inner shell
            "$DIBS" lock --socket "$dir/$member" --wait 30 x -- sh -c 'echo $DIBS_FENCE >>"$0"' "$dir/fences" || exit 1
        done &
        counters="$counters $!"
    done
    # shellcheck disable=SC2086 # a list of numbers
    wait $counters
    [ "$(wc -l <"$dir/fences")" = 12 ] && sort -nu "$dir/fences" | cmp -s - "$dir/fences"
    tell $? "$1: they hand a lock around"
}

works "a key" "--key $dir/key"
"build/$MODE/tests/send_port" $((base + 2)) <"$DIBS" >/dev/null &&
    "build/$MODE/tests/send_port" $((base + 2)) </dev/null >/dev/null && is_ready cat
tell $? "a key: neither garbage nor silence at the door of members does harm"
grep -q "a connection from 127.0.0.1 was refused: it does not speak TLS" "$dir/cat.log"
tell $? "a key: and it is told"
end_daemon ant bee cat

# Both refuse, and both say so. ant calls bee.
refuse() { # NAME ANT'S-WORDS BEE'S-WORDS ANT'S-OPTIONS BEE'S-OPTIONS
    rm -f "$dir/ant.log" "$dir/bee.log"
    # shellcheck disable=SC2086 # options
    serve ant --name ant --members "$two" $4
    # shellcheck disable=SC2086
    serve bee --name bee --members "$two" $5
    until_true grep -q "bee: $2" "$dir/ant.log" && until_true grep -q "refused: it $3" "$dir/bee.log"
    tell $? "$1 is refused, and both sides say why"
    ! is_ready ant && ! is_ready bee
    tell $? "$1: nothing is granted"
    end_daemon ant bee
}

refuse "another key" "says that our key is another one" "has another key" "--key $dir/key" "--key $dir/other.key"
refuse "a plain caller" "has ended the connection without a reason; does only one side have a key" "does not speak TLS" \
    "" "--key $dir/key"
refuse "a plain answer" "has ended the connection without a reason; does only one side have a key" \
    "speaks TLS, and this member has no key" "--key $dir/key" ""

# Clients with the cluster's key, with a client key, with none, and with another one.
serve solo --clients "127.0.0.1:$base" --key "$dir/key"
until_true is_ready solo
for key in key client.key; do
    [ "$("$DIBS" lock --connect "127.0.0.1:$base" --key "$dir/$key" --wait 20 x -- echo inside)" = inside ]
    tell $? "dibs lock over TLS, with the $key"
done
DIBS_CONNECT="127.0.0.1:$base" DIBS_KEY="$dir/client.key" "$DIBS" status | grep -q '^ready yes'
tell $? "place and key are taken from the environment, too"
"$DIBS" lock --connect "127.0.0.1:$base" --key "$dir/other.key" x -- true 2>"$dir/said"
[ $? = 114 ] && grep -q "the daemon has another key; use the key of its cluster, or a client key that was made from it" "$dir/said"
tell $? "another key is refused, with 114, and with the remedy"
"$DIBS" lock --connect "127.0.0.1:$base" x -- true 2>"$dir/said"
[ $? = 115 ] && grep -q "perhaps because this client has no key; name one with --key, or DIBS_KEY" "$dir/said"
tell $? "no key is refused, too"
sed 's/ daemon.*//' "$dir/client.key" >"$dir/old.key" && chmod 600 "$dir/old.key"
"$DIBS" status --connect "127.0.0.1:$base" --key "$dir/old.key" 2>"$dir/said"
[ $? != 0 ] && grep -q "is a client key of an older form.*make a new one with dibs keygen --client-of" "$dir/said"
tell $? "a client key of the old form, which the daemon has as well, is refused"
"$DIBS" lock --connect "127.0.0.1:$base" --key "$dir/open.key" x -- true 2>"$dir/said"
[ $? = 2 ] && grep -q "others can read" "$dir/said"
tell $? "a client does not use a key that others can read"

timeout 60 openssl s_client -tls1_2 -connect "127.0.0.1:$base" </dev/null >"$dir/said" 2>&1
grep -q "alert protocol version" "$dir/said"
tell $? "what is older than TLS 1.3 is refused"

# A client key opens the door of clients and nothing else; the cluster key, and the owner of the socket, may do more.
for command in "force-unlock x" "drain" "member remove solo" "member add dog=127.0.0.1:9"; do
    # shellcheck disable=SC2086 # words
    "$DIBS" $command --connect "127.0.0.1:$base" --key "$dir/client.key" >"$dir/out" 2>"$dir/said"
    [ $? != 0 ] && grep -q "needs an operator: use the daemon's socket as its owner" "$dir/said"
    tell $? "a client key does not do for dibs $command"
done
"$DIBS" force-unlock x --connect "127.0.0.1:$base" --key "$dir/key" 2>&1 | grep -q 'no client holds "x"' &&
    "$DIBS" force-unlock x --socket "$dir/solo" 2>&1 | grep -q 'no client holds "x"'
tell $? "the cluster key and the owner of the socket do"

# The holder of a client key poses as a daemon, by all that is in the file: the secret as a key of both sides, as it was once,
# and as a private key with a certificate.
secret=$(sed -n 's/^dibs-key client \([0-9a-f]*\) .*/\1/p' "$dir/client.key")
printf '302e020100300506032b657004220420%s' "$secret" | python3 -c '
import base64, sys
der = bytes.fromhex(sys.stdin.read())
print("-----BEGIN PRIVATE KEY-----\n" + base64.b64encode(der).decode() + "\n-----END PRIVATE KEY-----")' >"$dir/pose.key"
openssl req -x509 -key "$dir/pose.key" -days 2 -subj /CN=daemon.dibs -out "$dir/pose.pem" 2>"$dir/err"
pose() { # NAME OPTION...
    name=$1
    shift
    openssl s_server -accept "127.0.0.1:$((base + 5))" -tls1_3 "$@" </dev/zero >"$dir/pose" 2>&1 &
    poser=$!
    started="$started $poser"
    until_true grep -q ACCEPT "$dir/pose"
    "$DIBS" status --connect "127.0.0.1:$((base + 5))" --key "$dir/client.key" >"$dir/out" 2>"$dir/said"
    [ $? = 1 ] && [ ! -s "$dir/out" ] && grep -q "dibs: the daemon has another key\|dibs: the daemon says that we come without the right key\|dibs: the daemon says that our key is another one" "$dir/said"
    tell $? "who has a client key cannot pose as a daemon: $name"
    kill $poser
    wait $poser 2>/dev/null
}
pose "by its certificate" -cert "$dir/pose.pem" -key "$dir/pose.key" -verify 1 -verify_quiet
pose "by a key of both sides" -psk "$secret" -psk_identity "dibs client" -nocert

# A client that is killed while it holds; one whose daemon is.
# shellcheck disable=SC2016 # expanded by the inner shell
"$DIBS" lock --connect "127.0.0.1:$base" --key "$dir/client.key" --keep 1 x -- sh -c 'echo >"$0"; sleep 600' "$dir/inside" &
holder=$!
until_true test -e "$dir/inside"
kill -KILL $holder
wait $holder 2>/dev/null
[ "$("$DIBS" lock --socket "$dir/solo" --wait 20 x -- echo next)" = next ]
tell $? "the lock of a client over TLS that is killed is free when its keep time is over"
rm -f "$dir/inside"
# shellcheck disable=SC2016
"$DIBS" lock --connect "127.0.0.1:$base" --key "$dir/client.key" --keep 1 x -- sh -c 'echo >"$0"; exec sleep 600' "$dir/inside" 2>"$dir/said" &
holder=$!
until_true test -e "$dir/inside"
kill -KILL "$(cat "$dir/solo.pid")"
wait $holder
[ $? = 113 ] && grep -q '"x" is lost' "$dir/said"
tell $? "and one whose daemon is killed has lost it, and ends its command"

# Without a key, on loopback, a member is a process of the same user. And ant calls bee, and is not called by it.
rm -f "$dir/ant.log" "$dir/bee.log"
serve ant --name ant --members "$two"
serve bee --name bee --members "$two"
until_true is_ready ant && until_true is_ready bee
cp "build/$MODE/tests/send_port" "$dir/send_port"
version=$(sed -n 's/^ *LINK_VERSION = \([1-7]\),$/\1/p' src/link/link.h)
hello() { # FROM TO: as a member begins, with a configuration, a cluster and an incarnation that are all zero
    printf '\077\000\000\000\001dibs%b\003%s\003%s' "\\000$version" "$1" "$2"
    head -c 48 /dev/zero
    printf '%b' "\\000$version" # the oldest version that it speaks
}
pretend() { # FROM TO PORT WORDS LOG [COMMAND...]: until the words are in the log, which tells of one refusal in a second
    hello "$1" "$2" >"$dir/hello"
    words=$4 log=$5 port=$3
    shift 5
    timeout 60 "$@" "$dir/send_port" "$port" <"$dir/hello" >"$dir/out" && grep -q "$words" "$dir/$log"
}
stays() { # the connection between them is the first one
    is_ready ant && is_ready bee && [ "$(grep -c "ant: connected" "$dir/bee.log")" = 1 ] && [ "$(grep -c "bee: connected" "$dir/ant.log")" = 1 ]
}
until_true pretend bee ant "$base" "to which this one connects, and not the reverse" ant.log && stays
tell $? "who pretends to be a member that would never call is refused"
escape=$(printf '\033[1')
until_true pretend ant "$escape" $((base + 1)) "wants to reach ?" bee.log && stays
tell $? "a member's name does not do: a process that has it is refused, and the member's connection stays"
hello ant "$escape" | "$dir/send_port" $((base + 1)) 300 >/dev/null && stays && [ "$(wc -l <"$dir/bee.log")" -lt 40 ]
tell $? "however often, and the log stays short"
! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" "$dir/ant.log" "$dir/bee.log" &&
    ! "$DIBS" status --socket "$dir/bee" | LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')"
tell $? "and no control character reaches it, or the status"
if [ "$(id -u)" = 0 ]; then
    chmod 711 "$dir"
    until_true pretend ant bee $((base + 1)) "it is a process of another user" bee.log setpriv --reuid 54321 --regid 54321 --clear-groups && stays
    tell $? "a process of another user is not heard at all"
else
    tell 0 "a process of another user is not heard # SKIP only root can be another user"
fi
end_daemon ant bee
if [ "$(id -u)" = 0 ]; then # the daemon of another user is where bee would be
    rm -f "$dir/ant.log"
    mkdir "$dir/theirs" && chown 54321:54321 "$dir/theirs"
    setpriv --reuid 54321 --regid 54321 --clear-groups env ASAN_OPTIONS="${ASAN_OPTIONS:-}" "$dir/dibs" serve \
        --socket "$dir/theirs/bee" --data "$dir/theirs/data" --name bee --members "$two" 2>"$dir/theirs/log" &
    poser=$!
    started="$started $poser"
    serve ant --name ant --members "$two"
    until_true grep -q "bee: is a process of another user" "$dir/ant.log" && ! is_ready ant
    tell $? "nor believed, where it answers in place of a member"
    end_daemon ant
    kill $poser
    wait $poser
else
    tell 0 "nor believed # SKIP only root can be another user"
fi

# Hundreds who say nothing, at both doors: who comes with the key is served all the same, and they do not stay for ever.
serve ant --name ant --members "$two" --key "$dir/key" --clients "127.0.0.1:$((base + 3))"
until_true test -S "$dir/ant"
"build/$MODE/tests/send_port" "$base" 200 </dev/null >/dev/null &
silent=$!
"build/$MODE/tests/send_port" $((base + 3)) 400 </dev/null >/dev/null &
silent="$silent $!"
serve bee --name bee --members "$two" --key "$dir/key"
until_true is_ready ant &&
    [ "$("$DIBS" lock --connect "127.0.0.1:$((base + 3))" --key "$dir/client.key" --wait 20 x -- echo inside)" = inside ]
tell $? "silent crowds at the doors keep no client out that has the key"
# shellcheck disable=SC2086 # a list of numbers
wait $silent
tell $? "and are sent away"
end_daemon ant bee

# -------------------------------------------------------------------------------------------------------- certificates

authority() { # NAME
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" -keyout "$dir/$1.key" \
        -out "$dir/$1.pem" 2>/dev/null
}
certificate() { # FILE AUTHORITY NAME [COMMON-NAME]; - is no name
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=${4:-ignored}" -keyout "$dir/$1.key" \
        -out "$dir/$1.csr" 2>/dev/null
    case $3 in -) alt= ;; *) alt=DNS:$3, ;; esac
    echo "subjectAltName=${alt}IP:127.0.0.1" >"$dir/$1.ext"
    openssl x509 -req -in "$dir/$1.csr" -CA "$dir/$2.pem" -CAkey "$dir/$2.key" -CAcreateserial -days 2 \
        -extfile "$dir/$1.ext" -out "$dir/$1.pem" 2>/dev/null
}
authority ours && authority theirs
for member in ant bee cat; do
    certificate $member ours $member
done
certificate false theirs ant
certificate common ours - ant
certificate user ours user
certificate operator ours operator.dibs
with() { # FILE
    echo "--cert $dir/$1.pem --cert-key $dir/$1.key --ca $dir/ours.pem"
}

rejects "without --ca it is of no use" --cert "$dir/ant.pem" --cert-key "$dir/ant.key"
rejects "is not the private key of the certificate" --cert "$dir/ant.pem" --cert-key "$dir/bee.key" --ca "$dir/ours.pem"
cp "$dir/ant.key" "$dir/public.key" && chmod 644 "$dir/public.key"
rejects "every user can read" --cert "$dir/ant.pem" --cert-key "$dir/public.key" --ca "$dir/ours.pem"
rejects "is not a certificate in PEM form" --cert "$dir/key" --cert-key "$dir/ant.key" --ca "$dir/ours.pem"

works "certificates" "$(with @)"
end_daemon ant bee cat

refuse "a certificate of another authority" "does not trust the authority of our certificate" \
    "has a certificate that is not accepted" "$(with false)" "$(with bee)"
refuse "a certificate for another name" "has refused us; its log says why" \
    "has a certificate for another name" "$(with cat)" "$(with bee)"
refuse "a certificate that has the name as its common name only" "has refused us; its log says why" \
    "has a certificate for another name" "$(with common)" "$(with bee)"

if command -v redis-cli >/dev/null; then
    # shellcheck disable=SC2046 # options
    serve solo --clients "127.0.0.1:$base" --key "$dir/key" $(with ant)
    until_true is_ready solo
    redis() { # CERTIFICATE COMMAND...
        file=$dir/$1
        shift
        timeout 60 redis-cli --tls --cacert "$dir/ours.pem" --cert "$file.pem" --key "$file.key" -h 127.0.0.1 -p "$base" "$@"
    }
    [ "$(redis user PING)" = PONG ] && [ "$(redis user LOCK x | sed -n 1p)" = x ]
    tell $? "redis-cli is a client over TLS, with a certificate"
    redis user FORCE-UNLOCK x | grep -q '^NOPERM' && redis operator FORCE-UNLOCK nothing >"$dir/out" && ! grep -q . "$dir/out"
    tell $? "FORCE-UNLOCK needs an operator's certificate"
    [ "$("$DIBS" lock --connect "127.0.0.1:$base" --key "$dir/client.key" --wait 20 y -- echo inside)" = inside ]
    tell $? "and a client key does beside certificates"
    ! redis false PING >"$dir/out" 2>&1 && until_true grep -q "refused: it has a certificate that is not accepted" "$dir/solo.log"
    tell $? "but not with one of another authority"
    ! timeout 60 redis-cli -h 127.0.0.1 -p "$base" PING >"$dir/out" 2>&1 &&
        ! timeout 60 redis-cli --tls --cacert "$dir/ours.pem" -h 127.0.0.1 -p "$base" PING >"$dir/out" 2>&1
    tell $? "nor without any"
    is_ready solo
    tell $? "and the daemon serves on"
    end_daemon solo
else
    tell 0 "redis-cli is a client over TLS # SKIP it is not installed"
fi

! grep -l "Sanitizer\|runtime error\|Assertion" "$dir"/*.log
tell $? "no daemon has complained of itself"

echo "1..$number"
