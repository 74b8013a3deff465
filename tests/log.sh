#!/bin/sh
# The log. A daemon whose log nobody reads goes on, drops lines, counts them, and tells how many once it is read again. And what
# operators do is in it.
# Invariant: I31.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

mkfifo "$dir/pipe"
exec 7<>"$dir/pipe" # open for reading, and not read
"$DIBS" serve --socket "$dir/deaf" 2>"$dir/pipe" &
daemon=$!
started="$started $daemon"
until_true "$DIBS" status --socket "$dir/deaf"
tell $? "a daemon runs, and nobody reads its log"

dropped() {
    "$DIBS" status --socket "$dir/deaf" | sed -n 's/^log lines dropped //p'
}

# It logs a line for each of these signals. A pipe takes 65536 bytes, the daemon's buffer as many.
drops_lines() {
    for _ in $(seq 100); do
        kill -HUP $daemon
        sleep 0.001 # signals of a kind that come together are one
    done
    [ "$(dropped)" -gt 0 ]
}
until_true drops_lines
tell $? "when neither the pipe nor its buffer take more, lines are dropped and counted"
"$DIBS" lock --socket "$dir/deaf" a -- true
tell $? "locks are granted all the same"

timeout 20 sh -c 'while read -r line; do case $line in *"were dropped"*) echo "$line"; exit 0 ;; esac; done' <"$dir/pipe" >"$dir/said" &
reader=$!
started="$started $reader"
until_true sh -c "kill -HUP $daemon; kill -0 $reader 2>/dev/null && exit 1; exit 0"
grep -q '^dibs: [0-9]* lines of this log were dropped, as nothing has read it$' "$dir/said"
tell $? "once it is read again, the log tells how many"

until_true drops_lines
kill $daemon
wait $daemon
tell $? "and the daemon ends when it is told to, though nobody reads its last words"

# A turn that takes long is told, with its time on the processor. Every suite looks for such lines (suite.sh).
serve slow --name slow
until_true is_ready slow
yes PING | python3 -c 'import shutil, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
import threading
threading.Thread(target=lambda: all(iter(lambda: s.recv(65536), b"")), daemon=True).start()
shutil.copyfileobj(sys.stdin.buffer, s.makefile("wb"))' "$dir/slow" 2>/dev/null &
flood=$!
started="$started $flood"
stopped_in_a_turn() {
    kill -STOP "$(cat "$dir/slow.pid")"
    sleep 0.3
    kill -CONT "$(cat "$dir/slow.pid")"
    sleep 0.1
    grep -q "a turn took [0-9]* ms, [0-9]* ms of them on the processor, in which nothing else was done (an eighth of the lease is 125 ms): " "$dir/slow.log"
}
until_true stopped_in_a_turn
tell $? "a turn that took long is logged"
kill $flood
end_daemon slow
[ -z "$(long_turns <"$dir/slow.log")" ]
tell $? "the time for which the daemon was stopped does not count"
sed 's/, [0-9]* ms of them/, 126 ms of them/' "$dir/slow.log" | long_turns | grep -q "126 ms of them"
tell $? "the time on the processor does"

# Who has taken a lock away is told to the client that has lost it, and in the log.
serve solo --name solo
until_true is_ready solo
"$DIBS" lock --socket "$dir/solo" job -- sh -c ": >'$dir/in'; exec sleep 1000" 2>"$dir/lost" &
holder=$!
until_true test -e "$dir/in"
"$DIBS" force-unlock --socket "$dir/solo" job >"$dir/out"
grep -q "state held" "$dir/out"
tell $? "force-unlock tells whom it takes the lock from"
wait $holder
by="it was taken away by force-unlock ($(hostname):[0-9]*, user $(id -u), at member solo)"
grep -q "$by" "$dir/lost"
tell $? "the client that has lost it is told by whom"
until_true grep -q "lock \"job\" (fence [0-9]*) of client [0-9]* ($(hostname):[0-9]* sh, user $(id -u)) was taken away by force-unlock ($(hostname):[0-9]*, user $(id -u), at member solo)" "$dir/solo.log"
tell $? "so is the log"
end_daemon solo
echo "1..$number"
