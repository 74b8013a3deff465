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
tell $? "a daemon runs, and no process reads its log"

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

timeout 60 sh -c 'while read -r line; do case $line in *"were dropped"*) echo "$line"; exit 0 ;; esac; done' <"$dir/pipe" >"$dir/said" &
reader=$!
started="$started $reader"
until_true sh -c "kill -HUP $daemon; kill -0 $reader 2>/dev/null && exit 1; exit 0"
grep -q ' warning dibs: [^:]*: [0-9]* lines of this log were dropped, as they were not read in time$' "$dir/said"
tell $? "once it is read again, the log tells how many"

until_true drops_lines
kill $daemon
wait $daemon
tell $? "and the daemon ends when it is told to, though no process reads its last words"

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
sed -e 's/, [0-9]* ms of them/, 126 ms of them/' -e 's/ with [0-9]* ms/ with 126 ms/' "$dir/slow.log" | long_turns | grep -q "126 ms of them"
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
until_true grep -q " warning dibs: solo: audit: lost: client [0-9]* (user:.* from user $(id -u), $(hostname):[0-9]* sh): \"job\", fence [0-9]*: $by\$" "$dir/solo.log"
tell $? "so is the log"
end_daemon solo
grep -vqE '^20[0-9-]{8}T[0-9:]{8}\.[0-9]{3}Z (error|warning|info) dibs: solo: .' "$dir/solo.log"
[ $? = 1 ]
tell $? "every line has a time, a level and the member"

# The audit trail in a file, with grants and releases. It can be renamed, as logrotate does, and goes on in a new file.
lock() {
    "$DIBS" lock --socket "$dir/clerk" "$@"
}
serve clerk --name clerk --log-format json --log-level debug --audit "$dir/trail" --audit-scope locks
until_true is_ready clerk
lock 'a "quoted" \ näme' -- true
lock brief -- "$DIBS" force-unlock --socket "$dir/clerk" brief >"$dir/out" 2>&1
until_true grep -q '"audit":"lost"' "$dir/trail"
mv "$dir/trail" "$dir/trail.1"
kill -HUP "$(cat "$dir/clerk.pid")"
until_true test -e "$dir/trail"
lock later -- true
until_true grep -q '"audit":"released".*"lock":"later"' "$dir/trail"
tell $? "the audit trail goes on in a new file when the old one was renamed"
end_daemon clerk
python3 - "$dir/trail.1" "$dir/trail" "$dir/clerk.log" <<'END'
import json, sys
old, new, log = ([json.loads(line) for line in open(name, encoding="utf-8")] for name in sys.argv[1:])
def of(trail, lock):
    return [r["audit"] for r in trail if r.get("lock") == lock]
assert of(old, 'a "quoted" \\ näme') == ["granted", "released"], old
assert of(old, "brief") == ["granted", "force_unlock", "lost"], old
assert of(new, "later") == ["granted", "released"] and not of(old, "later")
assert all(r["client"] > 0 and r["identity"] and r["who"] for r in old + new)
assert all(r["fence"] > 0 for r in old + new if r["audit"] in ("granted", "lost", "released"))
assert {"info", "debug"} <= {r["level"] for r in log} and all({"time", "level", "member", "text"} <= set(r) for r in log)
assert not [r for r in log if "granted" in r["text"] and "audit" in r["text"]]
END
tell $? "it has grants, losses and releases, and all of it is JSON, as the log is with --log-format json"

# For the journal of systemd the lines have priorities. systemd names the file that it reads.
: >"$dir/journald.log"
JOURNAL_STREAM=$(stat -c '%d:%i' "$dir/journald.log")
export JOURNAL_STREAM
serve journald --name journald --log-level warning
until_true is_ready journald
unset JOURNAL_STREAM
"$DIBS" lock --socket "$dir/journald" x -- "$DIBS" force-unlock --socket "$dir/journald" x >"$dir/out" 2>&1
until_true grep -q '^<4>journald: audit: lost: ' "$dir/journald.log"
tell $? "the journal gets priorities, and no time"
end_daemon journald
grep -vq '^<[34]>journald: ' "$dir/journald.log"
[ $? = 1 ]
tell $? "and with --log-level warning nothing of less importance"

# Are these words refused, with this line?
serve_fails() {
    line=$1
    shift
    timeout 60 "$DIBS" serve --socket "$dir/none.sock" --data "$dir/none.data" "$@" 2>"$dir/err"
    [ $? != 0 ] && grep -qF "$line" "$dir/err"
    tell $? "serve $*: $line"
}
serve_fails 'cannot append to the audit trail' --audit "$dir/none/trail"
serve_fails '"loud" is not one of error|warning|info|debug' --log-level loud
serve_fails 'grants and releases go to a file; name it with --audit' --audit-scope locks
echo "1..$number"
