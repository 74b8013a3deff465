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
