#!/bin/sh
# dibs drain: a daemon ends when its clients hold no locks any more. Real daemons on loopback; no time is asserted.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"

start() { # NAME PORT
    serve "$1" --name "$1" --members "$members" --lease 2000 --clients "127.0.0.1:$2"
}
are_ready() { is_ready ant && is_ready bee && is_ready cat; }
holds() { # NAME WHERE...: a job that holds the lock NAME until the file is there
    name=$1
    shift
    # shellcheck disable=SC2016 # expanded by the inner shell
    "$DIBS" lock "$name" "$@" -- sh -c ': >"$0.in"; until [ -e "$0.end" ]; do sleep 0.02; done' "$dir/$name" 2>"$dir/$name.err" &
    job=$!
    started="$started $job"
    until_true test -e "$dir/$name.in"
}

# ---- A daemon alone.
serve dog
until_true is_ready dog
holds a --socket "$dir/dog"
"$DIBS" lock a --keep 0 --socket "$dir/dog" -- true 2>"$dir/waits.err" &
waiter=$!
started="$started $waiter"
until_true sh -c "'$DIBS' waiters a --socket '$dir/dog' | grep -q ."
"$DIBS" drain --socket "$dir/dog" --wait 0.3 2>"$dir/said"
[ $? = 1 ] && grep -q "waiting: 1 client holds a lock: \"a\" (.*:$job sh, .*at member .*)" "$dir/said" && grep -q "not drained after 0.3 s" "$dir/said"
tell $? "a daemon whose client holds a lock is not ended; dibs drain says for which client it waits"
wait $waiter
[ $? = 116 ] && grep -q "this member is being drained" "$dir/waits.err"
tell $? "a request that waits is told that no lock is granted here"
[ "$("$DIBS" lock b --socket "$dir/dog" -- echo again)" = again ]
tell $? "when dibs drain gives up, locks are granted again"

"$DIBS" drain --socket "$dir/dog" >"$dir/drained" 2>"$dir/said" &
drain=$!
started="$started $drain"
until_true grep -q waiting "$dir/said"
"$DIBS" try b --socket "$dir/dog" -- true 2>"$dir/err"
[ $? = 116 ] && grep -q "this member is being drained" "$dir/err"
tell $? "a daemon that is drained refuses requests"
rm -f "$dir/err"
"$DIBS" status --socket "$dir/dog" | grep -q "^ready no" && "$DIBS" status --socket "$dir/dog" | grep -q "being drained"
tell $? "and says so"
touch "$dir/a.end"
wait $job
tell $? "the client that holds a lock goes on to its end"
wait $drain && grep -q "drained; the daemon has ended" "$dir/drained" && wait "$(cat "$dir/dog.pid")"
tell $? "then the daemon ends"

# ---- One of three.
start ant $((base + 10))
start bee $((base + 11))
start cat $((base + 12))
until_true are_ready
holds c --socket "$dir/ant"
here=$job
holds d --socket "$dir/bee"
"$DIBS" drain --socket "$dir/ant" >/dev/null 2>"$dir/said" &
drain=$!
started="$started $drain"
until_true grep -q "waiting: 1 client holds a lock: \"c\"" "$dir/said"
tell $? "a member of a cluster is drained: only its own clients are waited for"
[ "$("$DIBS" lock e --connect "127.0.0.1:$((base + 10)),127.0.0.1:$((base + 11))" -- echo elsewhere)" = elsewhere ]
tell $? "a client that knows other members goes there"
touch "$dir/c.end"
wait "$here" && wait $drain
tell $? "it ends when its clients hold nothing"
"$DIBS" try d --socket "$dir/cat" --quiet -- true
[ $? = 112 ]
tell $? "the others go on"
touch "$dir/d.end"
wait "$job"
tell $? "to their end"

echo "1..$number"
