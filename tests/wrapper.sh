#!/bin/sh
# `dibs lock` and its kin as people use them: at a terminal, with descriptors closed, with odd names, and by mistake.
# tests/service.sh has what they do when all is as it should be.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

serve solo
until_true is_ready solo
tell $? "a daemon"
export DIBS_SOCKET="$dir/solo"

rejects 'unknown option "-l" (--help shows all; write -- before the command and its own options)' lock a ls -l
span='it takes seconds, from 0 to 1000000, or a time with a unit: 250ms, 10s, 5m, 2h'
for time in -1 nan 5x 1e7 '' s 3ss; do
    rejects "--wait $time is not possible; $span" lock a --wait "$time" -- true
done
for place in 127.0.0.1 :1 127.0.0.1:99999 127.0.0.1:0 127.0.0.1:x; do
    rejects "\"$place\" is neither a path nor an address; write a path with a slash in it, or HOST:PORT" \
        lock a --connect "$place" -- true
done
rejects "the path of the daemon's socket is empty" lock a --socket '' -- true
rejects '--socket "a,b": a comma would separate two places; choose a path without one' lock a --socket a,b -- true
rejects "--keep is longer than half of --ttl: the lock could be granted to another client before the command has ended; choose a shorter --keep, or a longer --ttl" lock a --ttl 4s --keep 3s -- true
rejects '--socket: "a,b": clients separate places by commas; choose a path without one' serve --socket a,b
: >"$dir/key" && chmod 644 "$dir/key"
take_ports
"$DIBS" serve --socket "$dir/tcp" --clients 127.0.0.1:$base 2>"$dir/tcp.log" &
started="$started $!"
until_true grep -q "as well" "$dir/tcp.log"
rejects "others can read or write $dir/key; change that with chmod 600, and make a new key if they did" \
    lock a --connect 127.0.0.1:$base --key "$dir/key" -- true

"$DIBS" lock a --wait 250ms --ttl 5m --grace 0.5s -- true
tell $? "times may have units"
"$DIBS" force-unlock nobodys 2>&1 | grep -qx 'dibs: no client holds "nobodys"'
tell $? "force-unlock says that no client holds the lock"

# ------------------------------------------------------------------------------------------------- statuses and messages

"$DIBS" lock --help | sed -n 's/^  \([0-9]\{1,3\}\) */| \1 | /p' >"$dir/statuses"
[ "$(wc -l <"$dir/statuses")" -gt 5 ] && while IFS= read -r row; do
    grep -qF "$row" docs/failures.md || echo "$row"
done <"$dir/statuses" >"$dir/out" && [ ! -s "$dir/out" ]
tell $? "docs/failures.md has the exit statuses of dibs lock --help"

# shellcheck disable=SC2016 # expanded by the inner shell
"$DIBS" lock taken -- sh -c ': >"$0"; while [ -e "$0" ]; do sleep 0.05; done' "$dir/taken" &
holder=$!
until_true test -e "$dir/taken"
"$DIBS" lock taken --wait 0.2 -- true 2>"$dir/err"
[ $? = 112 ] && grep -Eqx "dibs: timed out after 0\.2 s waiting for lock \"taken\" \(held by $(hostname):$holder sh since ([0-9-]+ )?[0-9:]{8}\)" "$dir/err"
tell $? "a wait that was too long tells which client holds the lock, and since when"
"$DIBS" try taken -- true 2>"$dir/err"
[ $? = 112 ] && grep -q "^dibs: lock \"taken\" is not free (held by $(hostname):$holder sh since" "$dir/err"
tell $? "so does dibs try"
"$DIBS" lock taken --wait 0.2 --exit-status 0 --quiet -- false 2>"$dir/err" && [ ! -s "$dir/err" ]
tell $? "--exit-status sets the status of a lock that is not granted in time, and --quiet says nothing"
"$DIBS" lock taken --verbose -- true 2>"$dir/err" &
waiter=$!
until_true grep -q "^dibs: waiting for lock \"taken\" (held by $(hostname):$holder sh since" "$dir/err"
tell $? "--verbose tells which client holds the lock while it is waited for"
rm -f "$dir/taken"
wait $waiter && wait $holder
tell $? "and then it is granted"
rejects 'only one of --quiet and --verbose is possible' lock a --quiet --verbose -- true
"$DIBS" lock a --slots 2 -- "$DIBS" lock a --exit-status 5 -- true 2>"$dir/err"
[ $? = 114 ]
tell $? "--exit-status is for locks that are not granted in time, and for nothing else"

# --------------------------------------------------------------------------------------------------------- no daemon yet

"$DIBS" lock a --socket "$dir/late" -- true 2>"$dir/err"
[ $? = 115 ] && grep -q "no daemon at $dir/late" "$dir/err"
tell $? "without --wait, a daemon that is not there is not waited for"
"$DIBS" lock a --socket "$dir/late" --wait 0.2 --exit-status 0 -- true 2>"$dir/err"
[ $? = 115 ] && grep -q "no daemon at $dir/late" "$dir/err"
tell $? "with --wait it is, and at the end its absence is told"
"$DIBS" lock a --socket "$dir/late" --wait 60 --verbose -- echo inside >"$dir/out" 2>"$dir/err" &
waiter=$!
until_true grep -q "waiting for lock \"a\": no daemon at $dir/late" "$dir/err"
serve late
wait $waiter && grep -qx inside "$dir/out"
tell $? "when it comes, the lock is granted"

# shellcheck disable=SC2016
"$DIBS" lock b --socket "$dir/late" --keep 0 -- sh -c ': >"$0"; sleep 1000' "$dir/b" 2>/dev/null &
holder=$!
until_true test -e "$dir/b"
"$DIBS" lock b --socket "$dir/late" --wait 60 -- echo inside >"$dir/out" 2>"$dir/err" &
waiter=$!
"$DIBS" lock b --socket "$dir/late" --keep 0 -- true 2>/dev/null &
other=$!
until_true sh -c "[ \$('$DIBS' waiters b --socket '$dir/late' | wc -l) = 2 ]"
end_daemon late
wait $other
[ $? = 115 ]
tell $? "without --wait, and with --keep 0, a daemon that goes ends the wait"
serve late
wait $waiter && grep -qx inside "$dir/out"
tell $? "with --wait, a client that waits comes back when its daemon does"
kill $holder 2>/dev/null
wait $holder
rm -f "$dir/out" "$dir/err"

# ------------------------------------------------------------------------------------------------------------- odd uses

"$DIBS" lock a -- "$dir/nothing" 2>/dev/full
[ $? = 127 ]
tell $? "a message that cannot be written changes no status"

# shellcheck disable=SC3045 # there is no other way to say it
(ulimit -n 6 && "$DIBS" lock a -- true) 2>"$dir/err"
[ $? = 126 ] && grep -q "cannot start the command: Too many open files" "$dir/err"
tell $? "a command that cannot be started ends with 126"
rm -f "$dir/err"

# Nor does one for a file that may not grow.
head -c 1024 /dev/zero >"$dir/said"
# shellcheck disable=SC2016,SC3045 # expanded by the inner shell; there is no other way to say it
(ulimit -c 0 && ulimit -f 1 && exec "$DIBS" lock a --grace 0 -- sh -c ': >"$0"; exec sleep 1000' "$dir/begun") 2>>"$dir/said" &
wrapper=$!
until_true test -e "$dir/begun" && "$DIBS" force-unlock a | grep -q exclusive
wait $wrapper
[ $? = 113 ]
tell $? "also if the file for it has its largest size (ulimit -f)"
rm -f "$dir/said" "$dir/begun"

# The program that starts a daemon may have blocked signals.
python3 -c '
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))
os.execvp(sys.argv[1], sys.argv[1:])
' "$DIBS" serve --socket "$dir/deaf" 2>"$dir/deaf.log" &
daemon=$!
started="$started $daemon"
until_true is_ready deaf
kill $daemon
until_true sh -c "! grep -qs '^State:.[RSDT]' /proc/$daemon/status"
tell $? "a daemon ends when it is told to, though TERM was blocked when it was started"
kill -KILL $daemon 2>/dev/null
wait $daemon 2>/dev/null

# If it starts, the guard has descriptors left to find it and to kill it.
lasting=
for most in 7 8 9 10 11 12 13 14; do
    # shellcheck disable=SC2016,SC3045 # expanded by the inner shell; there is no other way to say it
    (ulimit -n $most && exec "$DIBS" lock few -- sh -c 'exec >"$0"; echo $$; exec sleep 1000' "$dir/few") 2>"$dir/err" &
    wrapper=$!
    until_true sh -c "! kill -0 $wrapper || [ -s '$dir/few' ]"
    kill -KILL $wrapper 2>/dev/null
    wait $wrapper 2>/dev/null
    [ ! -s "$dir/few" ] || until_true sh -c "! kill -0 $(cat "$dir/few")" || lasting="$lasting $most"
    [ ! -s "$dir/few" ] || kill -KILL "$(cat "$dir/few")" 2>/dev/null
    rm -f "$dir/few"
done
[ -z "$lasting" ]
tell $? "with few descriptors, a command does not start, or ends with dibs (ulimit -n$lasting)"
rm -f "$dir/err"

# What the system refuses: strace makes it fail.
refuses() { # CALL ERROR TEXT: then the command is not run, and the status and the message tell that
    rm -f "$dir/ran"
    timeout -k 1 60 strace -f -qq -o "$dir/trace" -e trace="$1" -e inject="$1:error=$2:when=1" "$DIBS" lock a -- touch "$dir/ran" 2>"$dir/err"
    [ $? = 126 ] && [ ! -e "$dir/ran" ] && { [ -z "$3" ] || grep -q "$3" "$dir/err"; } && "$DIBS" try a -- true
}
if [ "${MODE:-release}" = release ] && strace -qq -o /dev/null true 2>/dev/null; then
    refuses signalfd4 ENFILE 'cannot watch for signals: Too many open files in system' && refuses socketpair ENFILE 'cannot start the command: Too many open files' &&
        refuses pipe2 ENFILE 'cannot start the command: Too many open files' && refuses clone EAGAIN 'cannot start the command: Resource temporarily' &&
        refuses vfork EAGAIN 'there are too many processes' && refuses write EPIPE '' # then the message is not written, either
    tell $? "no command is run that dibs cannot watch"
    failed= # the system has no memory for a part of what dibs says
    for when in 1 2 3 4; do
        timeout -k 1 60 strace -f -qq -o "$dir/trace" -e trace=sendto -e inject=sendto:error=ENOBUFS:when=$when "$DIBS" lock a -- true 2>"$dir/err" || failed="$failed $when"
    done
    [ -z "$failed" ]
    tell $? "what the system has no memory to send is sent later$failed"
else
    tell 0 "no command is run that dibs cannot watch # SKIP strace cannot trace here, or the sanitizers would notice it"
fi
rm -f "$dir/err"

# A caller that ignores SIGCHLD, to have no zombies, leaves that to what it starts. Without --keep nothing but that signal wakes the guard.
for keep in 60 0; do
    timeout -k 1 60 python3 -c '
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])
' "$DIBS" lock a --keep $keep -- sh -c 'exit 7'
    [ $? = 7 ]
    tell $? "the status of a command is told though the caller ignores the end of children, with --keep $keep"
done

# A message about a lock that is lost would go to the daemon, if its connection had the number of the closed stderr.
# shellcheck disable=SC2016 # expanded by the inner shell
"$DIBS" lock a --grace 0 -- sh -c 'echo $$ >"$0.in"; mv "$0.in" "$0"; exec sleep 1000' "$dir/pid" 2>&- &
wrapper=$!
until_true test -e "$dir/pid" && "$DIBS" force-unlock a | grep -q exclusive
wait $wrapper
[ $? = 113 ] && ! kill -0 "$(cat "$dir/pid")" 2>/dev/null
tell $? "it works with descriptors closed"
"$DIBS" status >&- 2>"$dir/err"
[ $? = 2 ] && [ "$(cat "$dir/err")" = "dibs: cannot write the output: Bad file descriptor" ]
tell $? "and says so if it cannot answer"
rm -f "$dir/pid" "$dir/err"

# Nor does a message keep dibs from ending the command: here nobody reads the pipe, and it is full.
mkfifo "$dir/full"
exec 8<>"$dir/full"
dd if=/dev/zero of="$dir/full" bs=4096 oflag=nonblock 2>/dev/null
# shellcheck disable=SC2016 # expanded by the inner shell
"$DIBS" lock a --grace 0 -- sh -c 'echo $$ >"$0.in"; mv "$0.in" "$0"; exec sleep 1000' "$dir/pid" 2>"$dir/full" 8>&- &
wrapper=$!
until_true test -e "$dir/pid" && "$DIBS" force-unlock a | grep -q exclusive
until_true sh -c "! kill -0 '$(cat "$dir/pid")'"
tell $? "a command is ended when its lock is lost, though no process reads the message"
exec 8>&-
wait $wrapper
[ $? = 113 ]
tell $? "and the status tells that"
rm -f "$dir/pid" "$dir/full"

# What the command has started is in the background, and outlives the command itself.
# shellcheck disable=SC2016
"$DIBS" lock a -- sh -c 'sleep 1000 & echo $! >"$0.in"; mv "$0.in" "$0"; wait' "$dir/pid" 2>"$dir/said" &
wrapper=$!
until_true test -e "$dir/pid"
kill -KILL "$(tr -d " " <"/proc/$wrapper/task/$wrapper/children")"
wait $wrapper
[ $? = 137 ] && grep -q "the guard of the command was killed" "$dir/said" && ! kill -0 "$(cat "$dir/pid")" 2>/dev/null
tell $? "if the guard is killed, so is all that the command has started, and then the lock is released"

"$DIBS" lock a -- sleep 1000 &
wrapper=$!
until_true grep -q . "/proc/$wrapper/task/$wrapper/children"
kill -STOP "$(tr -d " " <"/proc/$wrapper/task/$wrapper/children")"
kill -TERM $wrapper
until_true sh -c "! grep -qs '^State:.[RSDT]' /proc/$wrapper/status"
tell $? "if the guard is stopped, the end of the command is noticed all the same"
kill -KILL $wrapper 2>/dev/null
wait $wrapper

# shellcheck disable=SC2016
"$DIBS" lock a -- sh -c 'trap "exit 9" USR1; : >"$0"; while :; do sleep 0.02; done' "$dir/trap" &
wrapper=$!
until_true test -e "$dir/trap"
kill -USR1 $wrapper
wait $wrapper
[ $? = 9 ]
tell $? "USR1 is passed on to the command"

# The caller ignores HUP, as nohup does. So does the command, and dibs while it waits and while it waits for what the command has left.
: >"$dir/taken"
# shellcheck disable=SC2016 # expanded by the inner shell
"$DIBS" lock hup -- sh -c 'while [ -e "$0" ]; do sleep 0.05; done' "$dir/taken" &
holder=$!
until_true sh -c "'$DIBS' holders hup | grep -q exclusive"
# shellcheck disable=SC2016
(trap '' HUP && exec "$DIBS" lock hup -- sh -c '(: >"$0.left"; while [ ! -e "$0.end" ]; do sleep 0.05; done; : >"$0.ended") & exit 7' "$dir/hup") &
waiter=$!
until_true sh -c "'$DIBS' waiters hup | grep -q exclusive"
kill -HUP $waiter
rm "$dir/taken"
wait $holder
until_true test -e "$dir/hup.left"
until_true sh -c "! pgrep -P \"\$(cat /proc/$waiter/task/$waiter/children)\" -f 'exit 7'"
kill -HUP $waiter
sleep 0.1
: >"$dir/hup.end"
wait $waiter
[ $? = 7 ] && [ -e "$dir/hup.ended" ]
tell $? "a signal that the caller ignores ends neither the wait nor what the command has left running (nohup)"
python3 -c '
import os, signal, sys
for number in signal.SIGPIPE, signal.SIGTTOU, signal.SIGHUP:
    signal.signal(number, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])
' "$DIBS" lock a -- grep -qx 'SigIgn:.*201001' /proc/self/status
tell $? "the command ignores what the caller ignores"

# A signal that comes when the lock has just been granted, and the command is about to start.
lost=0
for _ in $(seq 20); do
    "$DIBS" lock early -- sleep 1000 &
    wrapper=$!
    until_true sh -c "'$DIBS' holders early | grep -q exclusive"
    kill -TERM $wrapper
    until_true sh -c "! grep -qs '^State:.[RSDT]' /proc/$wrapper/status" || lost=$((lost + 1))
    kill -KILL $wrapper 2>/dev/null
    wait $wrapper 2>/dev/null
done
[ $lost = 0 ]
tell $? "no signal is lost while the command starts"

# A daemon that is stopped answers nobody, and it takes long to give it up.
serve stopped
until_true is_ready stopped
kill -STOP "$(cat "$dir/stopped.pid")"
"$DIBS" lock a --socket "$dir/stopped" -- true 2>/dev/null &
comes=$!
until_true grep -qx dibs "/proc/$comes/comm"
kill -TERM $comes
wait $comes
[ $? = $((128 + 15)) ]
tell $? "a signal ends a command that waits for an answer of a daemon that is stopped"

odd=$(printf 'odd "\\ name \303\244')
"$DIBS" lock "$odd" -- "$DIBS" locks --format json >"$dir/json"
python3 -c 'import json, sys
text = open(sys.argv[1], encoding="utf-8").read()
sys.exit(json.loads(text)[0]["name"] != "odd \"\\ name \u00e4")' "$dir/json"
tell $? "odd names are valid JSON"

# ---------------------------------------------------------------------------------------------------------- at a terminal

python3 tests/terminal.py "$DIBS" "$dir/solo" >"$dir/said" 2>&1
status=$?
while IFS= read -r line; do
    case $line in
    "ok "*) tell 0 "at a terminal: ${line#* - }" ;;
    "not ok "*) tell 1 "at a terminal: ${line#* - }" ;;
    "#"*) echo "$line" ;;
    esac
done <"$dir/said"
[ $status = 0 ] && grep -q '^1\.\.' "$dir/said"
tell $? "at a terminal: all of it"
echo "1..$number"
