#!/bin/sh
# What an operator configures and what an intruder tries: the configuration file, clients over TCP, keys, certificates.
# Real daemons in a directory of their own; what is started is stopped by its number; no time is asserted.
set -u
cd "$(dirname "$0")/.." || exit 2

dir=$(mktemp -d)
daemons=
unset DIBS_SOCKET DIBS_CONNECT DIBS_KEY XDG_RUNTIME_DIR
cleanup() {
    # shellcheck disable=SC2086 # a list of numbers
    [ -z "$daemons" ] || kill $daemons 2>/dev/null
    rm -rf "$dir"
}
trap cleanup EXIT
number=0
base=$((40000 + $$ % 20000))

tell() { # STATUS NAME
    number=$((number + 1))
    if [ "$1" = 0 ]; then echo "ok $number - $2"; else echo "not ok $number - $2"; fi
}

# Until the command succeeds; at most some 10 seconds.
until_true() {
    for _ in $(seq 200); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    return 1
}

is_ready() { # SOCKET
    [ "$("$DIBS" status --socket "$1" 2>/dev/null | sed -n 's/^ready //p')" = yes ]
}

serve() { # SOCKET [OPTION...]
    socket=$1
    shift
    "$DIBS" serve --socket "$dir/$socket" --data "$dir/$socket.data" "$@" 2>>"$dir/$socket.log" &
    pid=$!
    daemons="$daemons $pid"
    echo $pid >"$dir/$socket.pid"
}

end_daemon() { # SOCKET...
    for socket; do
        kill "$(cat "$dir/$socket.pid")"
        wait "$(cat "$dir/$socket.pid")" 2>/dev/null
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
rejects '--lease: "5" is not a lease' --lease 5
rejects '--name: "dog" is not in the list' --config examples/dibs.conf --name dog
rejects 'which of the members is this?' --config examples/dibs.conf

cat >"$dir/two.conf" <<EOF
member ant=127.0.0.1:$base
member bee=127.0.0.1:$((base + 1))
policy build-* slots=2 slots-algorithm=raymond-k   # two at once
policy *.db slots=none algorithm=lamport
EOF
serve ant --config "$dir/two.conf" --name ant
serve bee --config "$dir/two.conf" --name bee
until_true is_ready "$dir/ant" && until_true is_ready "$dir/bee"
tell $? "two members meet by a configuration file"
[ "$("$DIBS" lock --socket "$dir/ant" build-x --slots 2 --wait 20 -- \
    "$DIBS" lock --socket "$dir/bee" build-x --slots 2 --wait 20 -- echo both)" = both ]
tell $? "a policy gives locks their slots"
"$DIBS" lock --socket "$dir/bee" build-x --wait 20 -- true 2>"$dir/said"
[ $? = 123 ] && grep -q "ask for it with SLOTS 2" "$dir/said"
tell $? "and refuses another kind"
"$DIBS" lock --socket "$dir/bee" big.db --shared --wait 20 -- true 2>"$dir/said"
[ $? = 123 ] && grep -q "run by lamport, which knows no sharing" "$dir/said"
tell $? "a policy gives locks their algorithm"
end_daemon bee

sed 's/slots=2/slots=3/' "$dir/two.conf" >"$dir/other.conf"
serve bee --config "$dir/other.conf" --name bee
until_true grep -q "configurations differ.*build-\*" "$dir/ant.log" &&
    until_true grep -q "configurations differ.*build-\*" "$dir/bee.log"
tell $? "members with different policies refuse each other, with the reason in both logs"
end_daemon ant bee

# ------------------------------------------------------------------------------------------------- clients over TCP

rejects '--clients: 192.0.2.1 is not on loopback' --clients 192.0.2.1:7411

serve solo --clients "127.0.0.1:$base"
until_true is_ready "$dir/solo"
grep -q "serves 127.0.0.1:$base as well, for every user of this machine" "$dir/solo.log"
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
end_daemon solo

echo "1..$number"
