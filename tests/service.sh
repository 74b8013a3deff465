#!/bin/sh
# The lock service with real daemons, sockets, processes and signals. Everything lives in a directory of its own; what is
# started is stopped by its number. No time is asserted: waits are generous, and end when what they wait for is there.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

cluster=0 # each has journals of its own

serve() { # SOCKET [OPTION...]
    socket=$1
    shift
    "$DIBS" serve --socket "$dir/$socket" --data "$dir/data.$cluster" "$@" 2>>"$dir/$socket.log" &
    pid=$!
    started="$started $pid"
    echo $pid >"$dir/$socket.pid"
}

end_daemon() { # SOCKET [SIGNAL]
    kill -"${2:-TERM}" "$(cat "$dir/$1.pid")"
    wait "$(cat "$dir/$1.pid")" 2>/dev/null
}

lock() { # SOCKET ARGUMENT...
    socket=$1
    shift
    "$DIBS" lock --socket "$dir/$socket" --wait 30 "$@" # nothing here may wait for ever
}

# ------------------------------------------------------------------------------------------------- a cluster of one

began=$(date +%s)
serve solo
until_true is_ready solo
ready=$?
tell $ready "a daemon without options is ready by itself"
[ $ready = 0 ] || exit 1

[ "$(stat -c %a "$dir/solo")" = 600 ]
tell $? "only its owner may use the socket"

age=$("$DIBS" views --socket "$dir/solo" | sed -n 's/^view 1  age ms \([0-9]*\) .*/\1/p')
[ -n "$age" ] && [ "$age" -le $((($(date +%s) - began + 1) * 1000)) ]
tell $? "its only view is as old as the daemon"

"$DIBS" replay --socket "$dir/solo" job 2>"$dir/said"
[ $? = 1 ] && grep -q 'no replay of "job": one member alone grants locks without an algorithm' "$dir/said"
tell $? "it has nothing to replay, and says why"

"$DIBS" serve --socket "$dir/solo" 2>"$dir/said"
[ $? = 1 ] && grep -q "serves $dir/solo already" "$dir/said"
tell $? "a second daemon on the same socket says so"
mv "$dir/solo" "$dir/moved"
timeout 20 "$DIBS" serve --socket "$dir/solo" 2>"$dir/said"
[ $? = 1 ] && grep -q "serves $dir/solo already, though the file of its socket was removed; stop it" "$dir/said" && [ ! -e "$dir/solo" ]
tell $? "so it does if the file of the socket is gone: two daemons would grant the same locks"
mv "$dir/moved" "$dir/solo"
take_ports
"$DIBS" serve --name near --members "near=127.0.0.1:$((base + 48)),far=127.0.0.1:$((base + 49))" --data "$dir" --socket "$dir/near" 2>"$dir/near.log" &
near=$!
until_true "$DIBS" views --socket "$dir/near"
tell $? "a member's socket may have the name and the directory of its journal"
kill $near
wait $near

# shellcheck disable=SC2016 # expanded by the inner shell
out=$(lock solo job -- sh -c 'echo $DIBS_LOCK $DIBS_FENCE; exit 7')
[ $? = 7 ] && echo "$out" | grep -Eq '^job [0-9]+$'
tell $? "the command gets lock and fence, and its status is passed on"

lock solo job -- sh -c 'kill -USR1 $$'
[ $? = $((128 + 10)) ]
tell $? "a command that dies of a signal is told as a shell tells it"

lock solo job -- "$dir/nothing" 2>/dev/null
[ $? = 127 ]
tell $? "a command that does not exist ends with 127"
"$DIBS" lock --socket "$dir/solo" job nothing true >"$dir/out" 2>&1
[ $? = 127 ] && grep -q 'if it is the name of a second lock, write -- before the command' "$dir/out"
tell $? "a command that may be a second lock is told apart by --"
rm -f "$dir/out"

lock nowhere job -- true 2>"$dir/said"
[ $? = 115 ] && grep -q "dibs serve" "$dir/said"
tell $? "without a daemon it ends with 115, and says what to do"

# Runs a command under the lock until it is told to end by removing a file; returns when it is inside.
hold() { # SOCKET FILE ARGUMENT...
    socket=$1
    file=$2
    shift 2
    # shellcheck disable=SC2016
    "$DIBS" lock --socket "$dir/$socket" --wait 30 "$@" -- \
        sh -c 'echo $$ >"$0.in"; mv "$0.in" "$0"; while [ -e "$0" ]; do sleep 0.02; done' "$dir/$file" 2>"$dir/$file.log" &
    holder=$!
    until_true test -e "$dir/$file"
}

let_go() { # FILE
    rm -f "$dir/$1"
    wait "$holder"
}

hold solo busy job
lock solo job --wait 0.1 -- true 2>/dev/null
[ $? = 112 ]
tell $? "a wait that is too long ends with 112"

"$DIBS" try --socket "$dir/solo" job -- true 2>/dev/null
[ $? = 112 ]
tell $? "dibs try does not wait for a holder"

lock solo job --slots 3 -- true 2>"$dir/said"
[ $? = 114 ] && grep -q "ask for it without SLOTS" "$dir/said"
tell $? "another kind of the same lock is refused, with 114"

"$DIBS" holders --socket "$dir/solo" job --format json | grep -q '"fence"'
tell $? "holders are shown"

"$DIBS" lock --socket "$dir/solo" job -- true &
waiter=$!
until_true sh -c "'$DIBS' waiters --socket '$dir/solo' job | grep -q exclusive"
kill -TERM $waiter
wait $waiter
[ $? = $((128 + 15)) ] && [ -z "$("$DIBS" waiters --socket "$dir/solo" job)" ]
tell $? "a signal ends a wait, and nothing is left of it"

"$DIBS" force-unlock --socket "$dir/solo" job | grep -q "mode exclusive"
tell $? "force-unlock says whom it evicts"
wait "$holder"
[ $? = 113 ] && grep -q "is lost" "$dir/busy.log" && ! kill -0 "$(cat "$dir/busy")" 2>/dev/null
tell $? "whose lock is taken away, its command is ended, and it ends with 113"
rm -f "$dir/busy"

# shellcheck disable=SC2016
"$DIBS" lock --socket "$dir/solo" job -- sh -c 'trap "exit 9" TERM; : >"$0"; while :; do sleep 0.02; done' "$dir/trap" &
wrapper=$!
until_true test -e "$dir/trap"
kill -TERM $wrapper
wait $wrapper
[ $? = 9 ]
tell $? "TERM is passed on to the command"

hold solo busy job
kill -KILL "$holder"
wait "$holder" 2>/dev/null
# shellcheck disable=SC2016
lock solo job --wait 20 -- sh -c '! kill -0 "$(cat "$0")" 2>/dev/null' "$dir/busy"
tell $? "if dibs is killed, its command is, before the next one is let in"
rm -f "$dir/busy"

# A command whose child does the work; dibs, its guard, and the child's number.
hold_by_child() {
    # shellcheck disable=SC2016
    "$DIBS" lock --socket "$dir/solo" job -- sh -c 'sleep 600 & echo $! >"$0.in"; mv "$0.in" "$0"; wait' "$dir/child" \
        2>/dev/null &
    holder=$!
    until_true test -e "$dir/child"
    guard=$(tr -d " " <"/proc/$holder/task/$holder/children")
    child=$(cat "$dir/child")
    rm -f "$dir/child"
}

hold_by_child
kill -KILL "$guard"
wait "$holder"
[ $? = $((128 + 9)) ] && ! kill -0 "$child" 2>/dev/null
tell $? "if its guard is killed, dibs kills the command and all it has started"

hold_by_child
kill -STOP "$holder" "$guard" # neither does anything between the deaths of both
until_true grep -q '^State:.T' "/proc/$holder/status"
until_true grep -q '^State:.T' "/proc/$guard/status"
kill -KILL "$guard" "$holder"
wait "$holder" 2>/dev/null
"$DIBS" lock --socket "$dir/solo" job --wait 0.5 -- true 2>/dev/null
[ $? = 112 ] && kill "$child" && lock solo job -- true
tell $? "if both are killed, the lock is not released before what the command has started ends"

# shellcheck disable=SC2016
lock solo job --background leave -- sh -c 'sleep 600 & echo $! >"$0"' "$dir/left"
until_true sh -c "'$DIBS' status --socket '$dir/solo' >/dev/null; ! '$DIBS' holders --socket '$dir/solo' job | grep -q ." &&
    lock solo job --wait 5 -- true && kill "$(cat "$dir/left")"
tell $? "--background leave: what a command leaves running holds nothing"

# shellcheck disable=SC2016
"$DIBS" lock --socket "$dir/solo" job --ttl 1000ms -- sh -c 'sleep 2.5' && :
tell $? "a lease is renewed while the command runs"

if command -v redis-cli >/dev/null; then
    redis() {
        redis-cli -s "$dir/solo" "$@"
    }
    [ "$(redis PING)" = PONG ] && [ "$(redis LOCK redis | sed -n 1p)" = redis ] && redis LOK | grep -q 'unknown command' &&
        redis -3 STATUS | grep -q 'swaroop-singh'
    tell $? "redis-cli is a client"
else
    tell 0 "redis-cli is a client # SKIP it is not installed"
fi

# A command that does not hear TERM, and a daemon that dies.
# shellcheck disable=SC2016
"$DIBS" lock --socket "$dir/solo" job --keep 1 --grace 0.1 -- sh -c 'trap "" TERM; echo $$ >"$0"; while :; do sleep 0.02; done' \
    "$dir/deaf" 2>/dev/null &
wrapper=$!
until_true test -s "$dir/deaf"
end_daemon solo KILL
wait $wrapper
[ $? = 113 ] && ! kill -0 "$(cat "$dir/deaf")" 2>/dev/null
tell $? "if the daemon dies and does not come back, the command is ended, by force if need be"

serve solo
until_true is_ready solo
tell $? "a socket that a dead daemon has left behind is taken over"

end_daemon solo && [ ! -e "$dir/solo" ]
tell $? "TERM ends a daemon, and its socket is removed"

# --------------------------------------------------------------------------------------------------- a cluster of three

members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"

"$DIBS" serve --name ant --members "ant=10.0.0.1:7400" --socket "$dir/out" 2>"$dir/said"
[ $? = 2 ] && grep -q "not on loopback" "$dir/said"
tell $? "an address beyond this machine is refused"

serve_all() { # ALGORITHM MEMBER...: which are all
    cluster=$((cluster + 1))
    algorithm=$1
    shift
    for member in "$@"; do
        serve "$member" --name "$member" --members "$members" --lease 2500 --algorithm "$algorithm" # whatever else the machine does
    done
    for member in "$@"; do
        until_true is_ready "$member" || return 1
    done
}

end_all() { # MEMBER...
    for member in "$@"; do kill "$(cat "$dir/$member.pid")"; done
    for member in "$@"; do wait "$(cat "$dir/$member.pid")" 2>/dev/null; done
}

# One process: so many times it takes the lock, reads a number, and writes the next one.
count_up() { # SOCKET TIMES
    for _ in $(seq "$2"); do
        # shellcheck disable=SC2016
        lock "$1" counter -- sh -c 'read -r n <"$0"; echo $((n + 1)) >"$0"; echo "$DIBS_FENCE" >>"$0.fences"' "$dir/count"
    done
}

# A process for each of these members; what they have counted, and their fences in the order in which they were inside.
count_by() { # TIMES MEMBER...
    times=$1
    shift
    echo 0 >"$dir/count"
    : >"$dir/count.fences"
    counters=
    for member in "$@"; do
        count_up "$member" "$times" &
        counters="$counters $!"
    done
    # shellcheck disable=SC2086 # a list of numbers
    wait $counters
    [ "$(cat "$dir/count")" = $(($# * times)) ]
}

fences_grow() {
    sort -nu "$dir/count.fences" | cmp -s - "$dir/count.fences"
}

# Two are inside together, on two machines; somebody who may not be with them is not.
share() { # HOW_MANY_DAEMONS MEMBER MEMBER MEMBER
    for kind in "--shared|" "--group red|--group blue" "--slots 2|--slots 2"; do
        with=${kind%|*}
        against=${kind#*|}
        # shellcheck disable=SC2086 # options
        hold "$2" one "shelf ${with#--}" $with
        first=$holder
        # shellcheck disable=SC2086
        hold "$3" two "shelf ${with#--}" $with
        tell $? "$with: two of $1 daemons hold it together"
        # shellcheck disable=SC2086
        "$DIBS" try --socket "$dir/$4" "shelf ${with#--}" $against -- true 2>/dev/null
        [ $? = 112 ]
        tell $? "$with: a client that may not join has to wait, among $1"
        let_go two
        rm -f "$dir/one"
        wait "$first"
    done
}

# Clients that only try, at all members, get what is free, each time; what is held they do not get, and do not wait for it.
try_all() { # TIMES MEMBER...
    times=$1
    shift
    for k in $(seq "$times"); do
        for member in "$@"; do
            "$DIBS" try --socket "$dir/$member" "tried $((k % 3))" -- true || return 1
            "$DIBS" lock --socket "$dir/$member" --wait 0 "tried $((k % 5))" -- true || return 1
        done
    done
}

try_held() { # MEMBER MEMBER...: held at the first one
    hold "$1" one tried
    first=$holder
    for member in "$@"; do
        timeout 60 "$DIBS" try --socket "$dir/$member" tried -- true 2>/dev/null
        [ $? = 112 ] || return 1
    done
    rm -f "$dir/one"
    wait "$first"
}

# Every algorithm that can run locks. With one that cannot, a daemon ends with 2 before it looks at anything else.
algorithms=$("$DIBS" list | sed -n 's/^\([a-z][a-z0-9-]*\) .*/\1/p')
[ "$MODE" = release ] || algorithms="swaroop-singh ricart-agrawala"
for algorithm in $algorithms; do
    "$DIBS" serve --socket "$dir/no/such/place" --algorithm "$algorithm" 2>/dev/null
    [ $? != 2 ] || continue
    serve_all "$algorithm" ant bee cat
    count_by 4 ant bee cat ant bee cat
    tell $? "$algorithm: three daemons guard a counter, and no step is lost"
    fences_grow
    tell $? "$algorithm: fences grow from holder to holder"
    try_all 5 ant bee cat
    tell $? "$algorithm: a try gets what is free"
    try_held bee ant cat
    tell $? "$algorithm: a try of what is held is answered, and does not wait"
    [ "$algorithm" != swaroop-singh ] || {
        share three ant bee cat
        # All members know of a release of a kept session a moment after its client does.
        lock ant mistaken --slots 3 -- true && until_true lock bee mistaken --shared -- true && until_true lock cat mistaken --slots 2 -- true
        tell $? "a lock that no client uses can become one of another kind"
        end_daemon bee KILL
        serve bee --name bee --members "$members" --lease 2500 --algorithm "$algorithm"
        until_true is_ready bee && lock bee counter -- true
        tell $? "a member that was killed comes back by itself"
    }
    end_all ant bee cat
done

# The network between the members does not last: each connection is cut after some hundred bytes, or a few thousand.
for port in 1 2; do
    "build/$MODE/tests/cutter" $((base + port)) $((base + 10 + port)) $port >"$dir/cuts.$port" &
    echo $! >"$dir/cutter.$port.pid"
    started="$started $!"
done
cluster="cut" # lamport sends most; no member is to be taken for dead
serve ant --name ant --members "$members" --lease 6000 --algorithm lamport
serve bee --name bee --members "$members" --lease 6000 --algorithm lamport --listen 127.0.0.1:$((base + 11))
serve cat --name cat --members "$members" --lease 6000 --algorithm lamport --listen 127.0.0.1:$((base + 12))
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat
count_by 6 ant bee cat ant bee cat
tell $? "over connections that are cut again and again nothing is lost or done twice"
echo "# cut $(cat "$dir/cuts.1") and $(cat "$dir/cuts.2") times"
[ "$(cat "$dir/cuts.1")" -gt 1 ] && [ "$(cat "$dir/cuts.2")" -gt 1 ]
tell $? "and they were cut"
end_all ant bee cat
end_daemon cutter.1
end_daemon cutter.2

# Two members that do not agree on what the cluster is.
cluster="split"
serve ant --name ant --members "$members"
serve bee --name bee --members "$members" --algorithm ricart-agrawala
until_true grep -q "configurations differ" "$dir/ant.log" && until_true grep -q "configurations differ" "$dir/bee.log"
tell $? "members with different configurations refuse each other, with the reason in both logs"
end_daemon ant
end_daemon bee

# ---------------------------------------------------------------------------------------------------- a cluster of five

members=
for k in 0 1 2 3 4; do
    members="$members,$(echo ant bee cat dog elk | cut -d' ' -f$((k + 1)))=127.0.0.1:$((base + 20 + k))"
done
members=${members#,}
cluster=100
for algorithm in $algorithms; do
    "$DIBS" serve --socket "$dir/no/such/place" --algorithm "$algorithm" 2>/dev/null
    [ $? != 2 ] || continue
    serve_all "$algorithm" ant bee cat dog elk
    count_by 2 ant bee cat dog elk ant cat elk
    tell $? "$algorithm: five daemons guard a counter, and no step is lost"
    fences_grow
    tell $? "$algorithm: fences grow from holder to holder, among five"
    [ "$algorithm" != swaroop-singh ] || share five elk bee dog
    end_all ant bee cat dog elk
done

echo "1..$number"
