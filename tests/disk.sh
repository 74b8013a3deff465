#!/bin/sh
# Disks that are slow, that fail, that are full: what daemons do, and what their clients hear. The disks are the real ones;
# strace stands between them and a daemon. On loopback; no time is asserted.
# Invariant: I26.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # which cannot be done in a process that is traced

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
lease=2000

start() { # NAME
    "$DIBS" serve --name "$1" --members "$members" --lease $lease --socket "$dir/$1" --data "$dir/$1.data" 2>>"$dir/$1.log" &
    started="$started $!"
    echo $! >"$dir/$1.pid"
}

are_ready() { # NAME...
    for name in "$@"; do "$DIBS" status --socket "$dir/$name" | grep -q "^ready yes" || return 1; done
}

restart() { # NAME: in an orderly way, which all the others write down
    kill -TERM "$(cat "$dir/$1.pid")"
    wait "$(cat "$dir/$1.pid")"
    start "$1"
}

# What the disk of this daemon does from now on, until the tracer ends.
disk_does() { # NAME WHAT
    strace -f -qq -o "$dir/trace" -e trace=fdatasync,fsync -e inject=fdatasync,fsync:"$2" -p "$(cat "$dir/$1.pid")" 2>"$dir/strace.log" &
    tracer=$!
    started="$started $tracer"
    until_true grep -q "^TracerPid:[^0-9]*$tracer$" "/proc/$(cat "$dir/$1.pid")/status"
}

for name in ant bee cat; do start $name; done
until_true are_ready ant bee cat
tell $? "three daemons meet"

if ! disk_does cat delay_enter=5000000; then
    tell 0 "slow and broken disks # SKIP strace cannot attach to a daemon here: $(head -1 "$dir/strace.log")"
    echo "1..$number"
    exit 0
fi

# ---------------------------------------------------------------------------------------------------------- a new directory

strace -f -y -qq -o "$dir/made" -e trace=fsync "$DIBS" serve --name ant --members "ant=127.0.0.1:$((base + 7)),bee=127.0.0.1:$((base + 8))" \
    --socket "$dir/made.socket" --data "$dir/one/two" 2>"$dir/made.log" &
started="$started $!"
until_true grep -q "fsync([0-9]*<$dir/one/two>)" "$dir/made"
grep -q "fsync([0-9]*<$dir>)" "$dir/made" && grep -q "fsync([0-9]*<$dir/one>)" "$dir/made"
tell $? "a data directory that is made stays there after a crash: the directories above it are synced"
pkill -TERM -P $! # the daemon; strace ends with it
wait $!

# -------------------------------------------------------------------------------------------------------------- a slow disk

# shellcheck disable=SC2016 # expanded by the inner shell
"$DIBS" lock --socket "$dir/cat" --keep 2 prize -- sh -c 'echo held >>"$0"; trap "echo ended >>\"$0\"; exit" TERM; while :; do sleep 0.02; done' \
    "$dir/story" 2>"$dir/holder.log" &
holder=$!
until_true grep -q held "$dir/story"
# shellcheck disable=SC2016
"$DIBS" lock --socket "$dir/ant" prize -- sh -c 'echo next >>"$0"' "$dir/story" &
waiter=$!
until_true sh -c "'$DIBS' waiters --socket '$dir/ant' prize | grep -q exclusive"
restart bee
until_true are_ready ant bee
"$DIBS" lock --socket "$dir/cat" other -- true && "$DIBS" lock --socket "$dir/ant" other -- true &&
    [ "$(tr '\n' ' ' <"$dir/story")" = "held " ]
tell $? "a disk that takes two leases and a half: its daemon goes on, and its client holds what it held"
kill -TERM $holder
wait $waiter
[ "$(tr '\n' ' ' <"$dir/story")" = "held ended next " ]
tell $? "and a client that waits is granted the lock when the client has let go"
until_true grep -q "the disk under .*cat.data took [0-9]* ms" "$dir/cat.log"
tell $? "the log tells that the disk is slow"
kill -INT $tracer
wait $tracer
until_true are_ready ant bee cat
tell $? "when the disk is as before, all take part again"

# --------------------------------------------------------------------------------------------------- a disk that is broken

# shellcheck disable=SC2016
"$DIBS" lock --socket "$dir/cat" prize -- sh -c ': >"$0"; while :; do sleep 0.02; done' "$dir/held" 2>"$dir/holder.log" &
holder=$!
until_true test -e "$dir/held"
disk_does cat error=EIO
restart bee
wait "$(cat "$dir/cat.pid")"
[ $? = 1 ] && grep -q "cannot write to its journal in .*cat.data: Input/output error" "$dir/cat.log"
tell $? "a disk that fails: its daemon ends at the first write, and says why"
wait $holder
[ $? = 113 ]
tell $? "its clients hear that their locks are lost, as it is not started again in time"
until_true are_ready ant bee
tell $? "the others go on"
wait $tracer
start cat
until_true are_ready ant bee cat
tell $? "with a disk that works it comes back, and has forgotten nothing that counts"

# ------------------------------------------------------------------------------------------------------- a disk that is full

mkdir "$dir/small"
if mount -t tmpfs -o size=16k tmpfs "$dir/small" 2>"$dir/mount.log"; then
    dd if=/dev/zero of="$dir/small/ballast" bs=4096 count=8 2>/dev/null
    "$DIBS" serve --name ant --members "ant=127.0.0.1:$((base + 5)),bee=127.0.0.1:$((base + 6))" --socket "$dir/full" \
        --data "$dir/small/data" 2>"$dir/full.log"
    [ $? = 1 ] && grep -q "cannot write to its journal in .*small/data: No space left" "$dir/full.log"
    tell $? "a disk that is full: the daemon does not start, and says why"
    umount "$dir/small"
else
    tell 0 "a disk that is full # SKIP nothing can be mounted here: $(head -1 "$dir/mount.log")"
fi

# --------------------------------------------------------------------------------------------------- a file that may not grow

mkfifo "$dir/bounded.fifo"
cat "$dir/bounded.fifo" >"$dir/bounded.log" &
reader=$!
# shellcheck disable=SC3045 # there is no other way to say it
(ulimit -c 0 && ulimit -f 0 && exec "$DIBS" serve --socket "$dir/bounded" --data "$dir/bounded.data" 2>"$dir/bounded.fifo") &
daemon=$!
started="$started $daemon"
until_true are_ready bounded
# shellcheck disable=SC2016 # expanded by the inner shell
"$DIBS" lock a --keep 1s --grace 0 --socket "$dir/bounded" -- sh -c ': >"$0"; exec sleep 1000' "$dir/bounded.begun" 2>"$dir/bounded.said" &
client=$!
until_true test -e "$dir/bounded.begun"
kill -TERM $daemon
wait $daemon
ended=$?
wait $client
lost=$?
wait $reader
[ $ended = 0 ] && [ $lost = 113 ] && grep -q "cannot write $dir/bounded.sessions: File too large; the kept sessions (1) are lost" "$dir/bounded.log" &&
    [ ! -e "$dir/bounded" ] && [ ! -e "$dir/bounded.sessions.new" ]
tell $? "a daemon that ends, and can write nothing (ulimit -f): it says which sessions are lost, and removes its socket"

for name in ant bee cat; do kill -TERM "$(cat "$dir/$name.pid")"; done
echo "1..$number"
