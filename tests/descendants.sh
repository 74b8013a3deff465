#!/bin/sh
# `dibs lock` and all processes that its command has started, also those that have left the process group, the session and
# their parents: none of them runs while the lock may be granted to the next client.
# Invariant: I30.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

serve solo
until_true is_ready solo
tell $? "a daemon"
export DIBS_SOCKET="$dir/solo"

# The processes that were started under this lock and still run: dibs has put its name into their environment.
survivors() { # LOCK
    python3 - "$1" <<'END'
import os, sys
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open("/proc/%s/environ" % pid, "rb") as file:
            if ("DIBS_LOCK=%s" % sys.argv[1]).encode() in file.read().split(b"\0"):
                print(pid)
    except OSError:
        pass  # it has ended
END
}

# Those that should have ended and did not are ended.
none_survives() { # LOCK
    left=$(survivors "$1")
    [ -n "$left" ] || return 0
    for pid in $left; do
        sed 's/^/# left: /' "/proc/$pid/stat" 2>/dev/null
        kill -KILL "$pid" 2>/dev/null
    done
    return 1
}

# Ways to leave the process group. Each makes the file $1 when it has got away; the command itself goes on.
cat >"$dir/daemonize" <<'END'
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 1024)
        os.close(os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY))
        os.execlp("sleep", "sleep", "1000")
    os._exit(0)
os.wait()
END
# Each process of these chains lives for an instant: its child goes on in its place, in a session of its own. They end by
# themselves if nothing else ends them.
cat >"$dir/chains" <<'END'
import os, sys, time
end = time.monotonic() + 20
for chain in range(3):
    if os.fork() == 0:
        while time.monotonic() < end:
            if os.fork():
                os._exit(0)
            os.setsid()
        os._exit(0)
os.close(os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY))
END
script() { # WAY
    # shellcheck disable=SC2016 # expanded by the inner shell
    case $1 in
    timeout) echo 'timeout 1000 sh -c ": >$0; sleep 1000" $0; exit' ;;
    setsid) echo 'setsid sh -c ": >$0; sleep 1000" $0; sleep 1000' ;;
    set-m) echo 'set -m; sh -c ": >$0; sleep 1000" $0 & wait' ;;
    daemon) echo "python3 $dir/daemonize \$0; exec sleep 1000" ;;
    chains) echo "python3 $dir/chains \$0; exec sleep 1000" ;;
    deaf) echo 'trap "" TERM; setsid sh -c ": >$0; while :; do sleep 1; done" $0 & while :; do sleep 1; done' ;;
    esac
}

# Runs one of them under a lock of its name, and returns when it has got away.
begin() { # WAY LOCK [OPTION...]
    way=$1 lock=$2
    shift 2
    "$DIBS" lock "$lock" "$@" -- sh -c "$(script "$way")" "$dir/away" 2>"$dir/err" &
    wrapper=$!
    until_true test -e "$dir/away"
    rm -f "$dir/away"
    guard=$(tr -d " " <"/proc/$wrapper/task/$wrapper/children")
}

for way in timeout setsid set-m daemon chains deaf; do
    begin "$way" "lost-$way" --grace 0.2
    "$DIBS" force-unlock "lost-$way" >/dev/null
    wait $wrapper
    none_survives "lost-$way"
    tell $? "$way: when the lock is lost, all that the command has started is ended"

    begin "$way" "killed-$way"
    kill -KILL $wrapper
    wait $wrapper 2>/dev/null
    "$DIBS" lock "killed-$way" --wait 20 -- true && none_survives "killed-$way"
    tell $? "$way: when dibs is killed, all of it is ended before the lock is granted again"

    begin "$way" "guard-$way"
    kill -KILL "$guard"
    wait $wrapper
    [ $? = 137 ] && none_survives "guard-$way"
    tell $? "$way: when the guard is killed, all of it is ended before dibs is"
    rm -f "$dir/err"
done


# ------------------------------------------------------------------------------------------- the command ends by itself

# A command that leaves a process running, which has left the session and closed its descriptors, and ends with status 7.
leave() { # LOCK [OPTION...]
    lock=$1
    shift
    "$DIBS" lock "$lock" "$@" -- sh -c "python3 $dir/daemonize \$0; exit 7" "$dir/away" 2>"$dir/err" &
    wrapper=$!
    until_true test -e "$dir/away"
    rm -f "$dir/away"
}

leave rest
until_true grep -q 'the command has ended; lock "rest" is held until what it has left running ends: [0-9]* (sleep)' "$dir/err" &&
    "$DIBS" holders rest | grep -q exclusive && ! "$DIBS" try rest -- true 2>/dev/null
tell $? "what the command leaves running keeps the lock, and is named"
kill "$(survivors rest)"
wait $wrapper
[ $? = 7 ] && "$DIBS" try rest -- true
tell $? "when that has ended, too, the lock is released, and the status is that of the command"

leave told
until_true grep -q "the command has ended" "$dir/err"
kill -TERM $wrapper
wait $wrapper
[ $? = 7 ] && none_survives told
tell $? "a signal ends what is waited for"

# The first thread of a process has ended, and another one runs: /proc shows the process as one that has ended.
echo 'import ctypes, threading, time
threading.Thread(target=lambda: time.sleep(1000)).start()
ctypes.CDLL(None).pthread_exit(None)' >"$dir/threads"
# shellcheck disable=SC2016 # expanded by the inner shell
"$DIBS" lock threads -- sh -c 'python3 "$0" & until grep -q "^State:.Z" /proc/$!/status; do sleep 0.05; done; exit 7' "$dir/threads" 2>"$dir/err" &
wrapper=$!
until_true grep -q 'lock "threads" is held until what it has left running ends: [0-9]* (python3)' "$dir/err"
tell $? "so is a process whose first thread has ended"
kill -TERM $wrapper
wait $wrapper
[ $? = 7 ] && "$DIBS" try threads -- true
tell $? "and a signal ends it"

# shellcheck disable=SC2016 # expanded by the inner shell
"$DIBS" lock torn -- sh -c 'setsid sleep 1000 & kill -TERM $$'
[ $? = 143 ] && none_survives torn
tell $? "if a signal has ended the command, what it has left running is ended"

leave end --background end
wait $wrapper
[ $? = 7 ] && none_survives end
tell $? "--background end: what the command leaves running is ended, and then the lock is released"

leave leave --background leave
wait $wrapper
[ $? = 7 ] && "$DIBS" try leave -- true && ! none_survives leave
tell $? "--background leave: the lock is released when the command has ended, and the rest runs on"
rm -f "$dir/err"

# --------------------------------------------------------------------------------------- dibs and its guard are killed

begin setsid both
grep -qx lock-guard "/proc/$guard/comm"
tell $? "the guard has a name of its own: killall dibs spares it"
kill -STOP $wrapper "$guard" # neither does anything between the deaths of both
until_true grep -q '^State:.T' "/proc/$wrapper/status"
until_true grep -q '^State:.T' "/proc/$guard/status"
kill -KILL "$guard" $wrapper
wait $wrapper 2>/dev/null
! "$DIBS" lock both --wait 0.5 -- true 2>/dev/null && ! none_survives both && "$DIBS" lock both --wait 20 -- true
tell $? "if both are killed at once, the lock is held until what has inherited the connection has ended"

# ---------------------------------------------------------------------------------------- a process of another user

# dibs runs as nobody, and what its command has started becomes root's.
as_nobody() {
    setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}
can_become_root() {
    [ "$(id -u)" = 0 ] && cp "$(command -v setpriv)" "$dir/root" && chmod 4755 "$dir/root" && chmod 711 "$dir" &&
        chmod 666 "$dir/solo" && mkdir -m 777 "$dir/open" && cp "$DIBS" "$dir/dibs" &&
        as_nobody "$dir/dibs" status && [ "$(as_nobody "$dir/root" --reuid 0 --clear-groups id -ru)" = 0 ]
}
if can_become_root >"$dir/out" 2>&1; then
    # shellcheck disable=SC2016 # expanded by the inner shell
    as_nobody "$dir/dibs" lock foreign --grace 0.1 --background end -- sh -c '
        setsid "$0/root" --reuid 0 --clear-groups sh -c "echo \$\$ >$0/open/pid; exec sleep 1000" &
        until [ -s "$0/open/pid" ]; do sleep 0.05; done' "$dir" 2>"$dir/err" &
    wrapper=$!
    until_true grep -q "belongs to another user and cannot be killed; the lock \"foreign\" is not released before" "$dir/err"
    tell $? "what cannot be killed is named"
    "$DIBS" holders foreign | grep -q exclusive && kill -0 "$(cat "$dir/open/pid")"
    tell $? "and the lock is not released before it has ended"
    kill "$(cat "$dir/open/pid")"
    wait $wrapper
    status=$?
    [ $status = 0 ] && "$DIBS" try foreign -- true
    tell $? "then it is"
    # The same where /proc shows the processes of other users to root alone. It is that of a new PID namespace, so that of the machine is as before.
    hidden() {
        unshare --mount --pid --fork sh -c 'mount -t proc -o hidepid=2 hidden /proc && exec "$@"' hidden \
            setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
    }
    if unshare --mount --pid --fork sh -c 'mount -t proc -o hidepid=2 hidden /proc' 2>"$dir/out" && as_nobody ls -d /proc/1 >"$dir/out"; then
        rm -f "$dir/open/pid"
        # shellcheck disable=SC2016 # expanded by the inner shell
        hidden "$dir/dibs" lock foreign --grace 0.1 --background end -- sh -c '
            setsid "$0/root" --reuid 0 --clear-groups sh -c "echo \$\$ >$0/open/pid; while [ -e $0/open/pid ]; do sleep 0.05; done" &
            until [ -s "$0/open/pid" ]; do sleep 0.05; done' "$dir" 2>"$dir/err" &
        wrapper=$!
        until_true grep -q "(hidden) belongs to another user and cannot be killed; the lock \"foreign\" is not released before" "$dir/err" &&
            "$DIBS" holders foreign | grep -q exclusive
        tell $? "so is what /proc does not show, by its number, and the lock is not released before it has ended"
        rm "$dir/open/pid"
        wait $wrapper
        tell $? "and then it is"
    else
        tell 0 "what /proc does not show is named # SKIP there is no such /proc: $(head -n 1 "$dir/out")"
    fi
else
    tell 0 "what cannot be killed is named # SKIP there is no process of another user: $(head -n 1 "$dir/out")"
fi
rm -f "$dir/err" "$dir/out"

# ------------------------------------------------------------------------------------- a /proc of another namespace

# Its numbers are those of other processes. Those that the command starts would not be found, and others would get the signals.
if unshare --pid --fork true 2>"$dir/out"; then
    unshare --pid --fork "$DIBS" lock numbers -- true 2>"$dir/err"
    [ $? = 126 ] && grep -q "/proc has to be mounted, in the PID namespace of dibs" "$dir/err"
    tell $? "no command is run if /proc is that of another PID namespace"
    unshare --pid --fork --mount-proc "$DIBS" lock numbers -- sh -c 'exit 7' 2>"$dir/err"
    [ $? = 7 ]
    tell $? "but with that of its own"
    unshare --pid --fork --mount-proc "$DIBS" lock numbers --socket "$dir/none" --wait 60 -- true 2>"$dir/err" &
    outer=$!
    until_true sh -c "kill -TERM \$(tr -d ' ' </proc/$outer/task/$outer/children); sleep 0.05; ! grep -qs '^State:.[RSDT]' /proc/$outer/status"
    wait $outer
    [ $? = 143 ]
    tell $? "a signal ends the first process of a PID namespace, too, while it waits for a daemon"
else
    tell 0 "no command is run if /proc is that of another PID namespace # SKIP there are no namespaces for us: $(head -n 1 "$dir/out")"
fi
rm -f "$dir/err" "$dir/out"

# ----------------------------------------------------------------------------------------------------- it is stopped

# A stopped dibs cannot hear that its lock is lost. So nothing of its tree runs meanwhile, whatever its group. (It has to be in
# a session that somebody can continue: setsid and a shell that waits.)
cat >"$dir/stopped" <<'END'
import os, pty, shlex, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execlp("sh", "sh", "-i")
os.write(terminal, ("%s lock stopped -- sh -c 'setsid sh -c \": >%s; while :; do sleep 0.01; done\" & wait'\n" % (shlex.quote(sys.argv[1]), sys.argv[2])).encode())
while not os.path.exists(sys.argv[2]):
    time.sleep(0.05)
os.write(terminal, b"\x1a")
def states():
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as file:
                if b"DIBS_LOCK=stopped" in file.read().split(b"\0"):
                    found.add(open("/proc/%s/stat" % pid).read().rpartition(")")[2].split()[0])
        except OSError:
            pass
    return found
def until(what, true):
    end = time.monotonic() + 60
    while not true(states()):
        if time.monotonic() > end:
            sys.exit("# never %s: %s" % (what, states()))
        time.sleep(0.05)
until("stopped", lambda found: found <= {"D", "T", "Z"})
os.write(terminal, b"fg\n")
until("continued", lambda found: not found <= {"D", "T", "Z"})
os.write(terminal, b"\x03")
until("ended", lambda found: not found)
os.write(terminal, b"exit\n")
END
timeout 200 python3 "$dir/stopped" "$DIBS" "$dir/away"
tell $? "Ctrl-Z stops all that the command has started, fg continues all, Ctrl-C ends all"

echo "1..$number"
