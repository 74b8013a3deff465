#!/bin/sh
# Jobs that outlive their daemon: dibs lock keeps its lock, and its command, while its daemon is restarted, is killed, or
# while the machine that it talks to is gone; a request that waits goes on waiting. Real daemons on loopback; no time is
# asserted.
#
#   DIBS_BEFORE=PROGRAM   a program of an earlier state of the source, from which daemons are upgraded (tests/nightly builds one)
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
lease=2000

port() { # NAME: of its clients
    case $1 in ant) echo $((base + 10)) ;; bee) echo $((base + 11)) ;; cat) echo $((base + 12)) ;; esac
}

start() { # NAME [PROGRAM]
    "${2:-$DIBS}" serve --name "$1" --members "$members" --lease $lease --socket "$dir/$1" --data "$dir/$1.data" \
        --clients "127.0.0.1:$(port "$1")" 2>>"$dir/$1.log" &
    started="$started $!"
    echo $! >"$dir/$1.pid"
}

end() { # SIGNAL NAME
    kill -"$1" "$(cat "$dir/$2.pid")"
    wait "$(cat "$dir/$2.pid")" 2>/dev/null
}

are_ready() { # NAME...
    for name in "$@"; do is_ready "$name" || return 1; done
}

# A job that holds a lock until the file $dir/NAME.end is there, and tells when it begins and ends.
job() { # NAME WHERE... : the lock has the job's name
    name=$1
    shift
    # shellcheck disable=SC2016 # expanded by the inner shell
    "$DIBS" lock "$name" --verbose "$@" -- sh -c 'echo "begins $DIBS_FENCE" >>$0.said; until [ -e $0.end ]; do sleep 0.05; done
        echo ends >>$0.said' "$dir/$name" >>"$dir/$name.out" 2>&1 &
    started="$started $!"
    echo $! >"$dir/$name.job"
}

has_begun() { grep -q begins "$dir/$1.said"; }
is_held_again() { # NAME TIMES
    [ "$(grep -c 'is held again' "$dir/$1.out")" -ge "$2" ] || ! grep -q 'is in doubt' "$dir/$1.out"
}
is_held() { # NAME MEMBER: as another member sees it
    "$DIBS" holders "$1" --socket "$dir/$2" 2>/dev/null | grep -q .
}
# The job is told to end; it does so with status 0, and has run once.
ends_well() { # NAME
    touch "$dir/$1.end"
    wait "$(cat "$dir/$1.job")" && [ "$(grep -c begins "$dir/$1.said")" = 1 ] && grep -q ends "$dir/$1.said"
}

for name in ant bee cat; do start $name; done
until_true are_ready ant bee cat
tell $? "three daemons meet"

# ---- The daemon of the job is restarted in order.
job order --socket "$dir/ant"
until_true has_begun order
end TERM ant
start ant
until_true are_ready ant bee cat
tell $? "a daemon is told to end while a job of its machine holds a lock, and is started again"
until_true is_held order bee
tell $? "the lock is held all the same"
"$DIBS" try order --socket "$dir/bee" --quiet -- true
[ $? = 112 ]
tell $? "so that no other client is granted it"
until_true is_held_again order 1
ends_well order
tell $? "and the job goes on to its end"
until_true "$DIBS" try order --socket "$dir/bee" --quiet -- true
tell $? "then it is free"

# ---- The daemon of the job is killed.
job crash --socket "$dir/bee"
until_true has_begun crash
end KILL bee
until_true are_ready ant cat
"$DIBS" try crash --socket "$dir/cat" --quiet -- true
[ $? = 112 ]
tell $? "a daemon is killed, and the lock of its job is granted to no other client"
start bee
until_true are_ready ant bee cat
until_true is_held_again crash 1
ends_well crash
tell $? "the job goes on when the daemon is there again"
until_true "$DIBS" try crash --socket "$dir/cat" --quiet -- true
tell $? "and its lock is free at the end"

# ---- The machine that a remote job talks to is gone.
job far --connect "127.0.0.1:$(port cat),127.0.0.1:$(port ant),127.0.0.1:$(port bee)"
until_true has_begun far
end KILL cat
until_true are_ready ant bee
until_true is_held_again far 1
"$DIBS" try far --socket "$dir/bee" --quiet -- true
[ $? = 112 ]
tell $? "a remote job keeps its lock when the machine that it talks to is gone"
ends_well far
tell $? "and goes on to its end, through another member"
until_true "$DIBS" try far --socket "$dir/bee" --quiet -- true
tell $? "then the lock is free"
start cat
until_true are_ready ant bee cat

# ---- A local socket first, then others: one by its path, the other by a name, which may have several addresses.
job mixed --connect "$dir/ant,localhost:$(port bee)"
until_true has_begun mixed
"$DIBS" holders mixed --socket "$dir/cat" | grep -q ant
tell $? "a job with a path and a name in --connect begins at the local socket"
end KILL ant
until_true are_ready bee cat
until_true sh -c "'$DIBS' holders mixed --socket '$dir/cat' | grep -q bee"
tell $? "and goes on at the other member when its own is killed"
ends_well mixed
tell $? "to its end"
start ant
until_true are_ready ant bee cat

# ---- A request that waits.
job long --socket "$dir/ant"
until_true has_begun long
# shellcheck disable=SC2016 # expanded by the inner shell
"$DIBS" lock long --keep 60 --connect "127.0.0.1:$(port bee),127.0.0.1:$(port ant)" -- sh -c 'echo $DIBS_FENCE >$0' "$dir/next" 2>"$dir/next.err" &
waiter=$!
started="$started $waiter"
until_true sh -c "'$DIBS' waiters long --socket '$dir/ant' | grep -q ."
end KILL bee
start bee
until_true are_ready ant bee
until_true sh -c "'$DIBS' waiters long --socket '$dir/ant' | grep -q ."
ends_well long
wait $waiter && [ -s "$dir/next" ]
tell $? "a request that waits goes on waiting when its daemon is killed, and is granted"
[ "$(cat "$dir/next")" -gt "$(sed -n 's/begins //p' "$dir/long.said")" ]
tell $? "with a larger fence"

# ---- Without --keep.
job brief --socket "$dir/ant" --keep 0
until_true has_begun brief
end KILL ant
wait "$(cat "$dir/brief.job")"
[ $? = 113 ] && grep -q "is lost" "$dir/brief.out"
tell $? "with --keep 0 the lock is lost with the connection, and the job is ended"
start ant
until_true are_ready ant bee cat


# ---- A job that dies takes its lock with it, kept or not.
job dies --socket "$dir/ant"
until_true has_begun dies
kill -KILL "$(cat "$dir/dies.job")"
until_true "$DIBS" try dies --socket "$dir/bee" --quiet -- true
tell $? "a job that is killed on its daemon's machine holds its lock no longer, although it would be kept"

# ---- All time is used up.
job late --socket "$dir/ant" --keep 3
until_true has_begun late
end KILL ant
wait "$(cat "$dir/late.job")"
[ $? = 113 ]
tell $? "a job whose daemon does not come back is ended when its time is over"
until_true "$DIBS" try late --socket "$dir/bee" --quiet -- true
tell $? "and its lock is free"

# ---- The process that holds the lock is stopped (SIGSTOP), and its command is not.
start ant
until_true are_ready ant bee cat
apart= # a program that starts the job in a process group of its own
ticks() { # NAME WHERE...: a job that does something all the time
    name=$1
    shift
    # shellcheck disable=SC2016 # expanded by the inner shell
    $apart "$DIBS" lock "$name" "$@" -- sh -c '(until [ -e $0.end ]; do echo >>$0.ticks; sleep 0.05; done); :' "$dir/$name" 2>"$dir/$name.out" &
    started="$started $!"
    echo $! >"$dir/$name.job"
    until_true test -s "$dir/$name.ticks"
}
count() { wc -c <"$dir/$1.ticks"; }
goes_on() { [ "$(count "$1")" -gt "$2" ]; }
ticks halted --socket "$dir/ant" --keep 3
kill -STOP "$(cat "$dir/halted.job")"
end KILL ant
# shellcheck disable=SC2016 # expanded by the inner shell
"$DIBS" lock halted --socket "$dir/bee" --wait 60 -- sh -c 'before=$(wc -c <$0); sleep 1; [ $before = $(wc -c <$0) ]' "$dir/halted.ticks"
tell $? "dibs is stopped, its daemon is killed: when another client is granted the lock, the command does not run"
kill -CONT "$(cat "$dir/halted.job")"
wait "$(cat "$dir/halted.job")"
[ $? = 113 ]
tell $? "and when dibs goes on, the lock is lost, and the command is ended"

ticks halts --socket "$dir/bee" --keep 1
kill -STOP "$(cat "$dir/halts.job")"
until_true grep -q "is stopped; so is its command" "$dir/halts.out"
tell $? "dibs is stopped for longer than half of the keep time: so is its command"
before=$(count halts)
kill -CONT "$(cat "$dir/halts.job")"
until_true goes_on halts "$before"
tell $? "and goes on with it, as the lock was held all the while"
touch "$dir/halts.end"
wait "$(cat "$dir/halts.job")"
tell $? "to its end"

# ---- dibs is stopped by a terminal, and goes on when the lock is in doubt.
start ant
until_true are_ready ant bee cat
is_stopped() { grep -q '^State:[[:space:]]*T' "/proc/$(cat "$dir/$1.job")/status"; }
cat >"$dir/apart" <<'END'
import os, sys
os.setpgid(0, 0)
os.execvp(sys.argv[1], sys.argv[1:])
END
apart="python3 $dir/apart" # dibs stops all of its process group
ticks rested --socket "$dir/ant" --keep 8
apart=
kill -TSTP "$(cat "$dir/rested.job")"
until_true is_stopped rested
end KILL ant
sleep 2.5 # longer than the lease: the lock is in doubt
before=$(count rested)
kill -CONT "$(cat "$dir/rested.job")"
until_true goes_on rested "$before"
kill -STOP "$(cat "$dir/rested.job")"
# shellcheck disable=SC2016 # expanded by the inner shell
"$DIBS" lock rested --socket "$dir/bee" --wait 60 -- sh -c 'before=$(wc -c <$0); sleep 1; [ $before = $(wc -c <$0) ]' "$dir/rested.ticks"
tell $? "dibs was stopped, went on in doubt and is stopped again: when another client is granted the lock, the command does not run"
kill -CONT "$(cat "$dir/rested.job")"
wait "$(cat "$dir/rested.job")"
[ $? = 113 ]
tell $? "and when dibs goes on, the lock is lost, and the command is ended"

# ---- dibs is stopped by a terminal and loses its lock. Another process continues what the command has started, in a session of its own.
cat >"$dir/woken.py" <<'END'
import os, sys, time
if os.getpid() != os.getsid(0):
    os.setsid()
with open(sys.argv[1] + ".ticks", "ab", 0) as ticks, open(sys.argv[1] + ".pid", "w") as pid:
    print(os.getpid(), file=pid, flush=True)
    while True:
        ticks.write(b"\n")
        time.sleep(0.05)
END
start ant
until_true are_ready ant bee cat
# shellcheck disable=SC2016 # expanded by the inner shell
python3 "$dir/apart" "$DIBS" lock woken --socket "$dir/ant" --keep 3 -- sh -c 'python3 "$0.py" "$0" & wait' "$dir/woken" 2>"$dir/woken.out" &
started="$started $!"
echo $! >"$dir/woken.job"
until_true test -s "$dir/woken.ticks"
kill -TSTP "$(cat "$dir/woken.job")"
until_true is_stopped woken
end KILL ant
# shellcheck disable=SC2016 # expanded by the inner shell
"$DIBS" lock woken --socket "$dir/bee" --wait 60 -- sh -c 'kill -CONT $(cat "$0.pid"); sleep 1; before=$(wc -c <"$0.ticks"); sleep 1; [ $before = $(wc -c <"$0.ticks") ]' "$dir/woken"
tell $? "dibs was stopped with Ctrl-Z, and its lock is lost: what another process continues is stopped again"
kill -CONT "$(cat "$dir/woken.job")"
wait "$(cat "$dir/woken.job")"
[ $? = 113 ]
tell $? "and when dibs goes on, all is ended"

# ---- The process that holds the lock waits for a name server, and cannot end the command.
start ant
until_true are_ready ant bee cat
if [ "${MODE:-release}" = release ]; then
    ${CC:-cc} -O1 -D_GNU_SOURCE -shared -fPIC -o "$dir/no_names.so" tests/no_names.c
    export LD_PRELOAD="$dir/no_names.so" NO_NAMES="$dir/no-names"
    ticks lookup --connect "localhost:$(port ant)" --keep 3
    unset LD_PRELOAD NO_NAMES
    touch "$dir/no-names"
    end KILL ant
    # shellcheck disable=SC2016 # expanded by the inner shell
    "$DIBS" lock lookup --socket "$dir/bee" --wait 60 -- sh -c 'before=$(wc -c <$0); sleep 1; [ $before = $(wc -c <$0) ]' "$dir/lookup.ticks"
    tell $? "no name server answers, its daemon is killed: when another client is granted the lock, the command does not run"
    command=$(pgrep -P "$(pgrep -P "$(cat "$dir/lookup.job")")")
    stands_still() { # no process of the command runs; D: one that was stopped while it waits for a child that was stopped, in vfork
        for process in $(pgrep -g "$command"); do
            grep -qs '^State:[[:space:]]*[TZD]' "/proc/$process/status" || return 1
        done
    }
    pgrep -g "$command" | grep -vx "$command" >"$dir/below"
    for continued in "-$command" "$(head -n 1 "$dir/below")"; do
        kill -CONT "$continued" && until_true stands_still && before=$(count lookup) && sleep 1 && [ "$(count lookup)" = "$before" ]
        tell $? "another process continues $([ "$continued" = "-$command" ] && echo "the command and what is below it" || echo "what is below the command"): that is stopped again"
    done
    rm "$dir/no-names"
    wait "$(cat "$dir/lookup.job")"
    [ $? = 113 ]
    tell $? "and when dibs goes on, the lock is lost, and the command is ended"
    start ant
    until_true are_ready ant bee cat
else
    tell 0 "no name server answers # SKIP sanitizers come first"
fi

# ---- The command cannot begin, as its file is on a network that does not answer: the guard reads nothing meanwhile.
if [ "${MODE:-release}" = release ]; then
    ${CC:-cc} -O1 -D_GNU_SOURCE -shared -fPIC -o "$dir/slow_exec.so" tests/slow_exec.c
    : >"$dir/slow-exec"
    LD_PRELOAD="$dir/slow_exec.so" SLOW_EXEC="$dir/slow-exec" "$DIBS" lock slow --verbose --socket "$dir/ant" --keep 8 -- true 2>"$dir/slow.out" &
    echo $! >"$dir/slow.job"
    started="$started $!"
    until_true is_held slow bee
    sleep 6 # the guard is told something every half second, or when something happens, and there is room for a few words
    end TERM ant
    start ant
    until_true grep -q "is held again" "$dir/slow.out"
    kill -TERM "$(cat "$dir/slow.job")"
    until_true sh -c "! grep -qs '^State:.[RSDT]' /proc/$(cat "$dir/slow.job")/status" || kill -KILL "$(cat "$dir/slow.job")"
    wait "$(cat "$dir/slow.job")"
    [ $? = 143 ] && "$DIBS" lock slow --wait 20 --socket "$dir/bee" -- true
    tell $? "a command cannot begin, and its daemon is restarted: dibs goes on with the new connection, and a signal ends it"
    rm "$dir/slow-exec"
    until_true are_ready ant bee cat
else
    tell 0 "a command that cannot begin # SKIP sanitizers come first"
fi

# ---- The daemon of a lock with a TTL is killed, and nobody renews the lock.
ticks renewed --socket "$dir/ant" --ttl 8s
end KILL ant
# shellcheck disable=SC2016 # expanded by the inner shell
"$DIBS" lock renewed --socket "$dir/bee" --wait 60 -- sh -c 'before=$(wc -c <$0); sleep 1; [ $before = $(wc -c <$0) ]' "$dir/renewed.ticks"
tell $? "a lock with a TTL, its daemon is killed: when another client is granted the lock, the command does not run"
wait "$(cat "$dir/renewed.job")"
[ $? = 113 ]
tell $? "it was ended before"

# ---- A daemon that accepts connections and resumes no session: the job goes on at another place.
start ant
until_true are_ready ant bee cat
job hung --connect "127.0.0.1:$(port cat),127.0.0.1:$(port bee)"
until_true has_begun hung
kill -STOP "$(cat "$dir/cat.pid")"
until_true grep -q "is held again" "$dir/hung.out"
tell $? "a daemon is stopped: its job goes on at another member"
kill -CONT "$(cat "$dir/cat.pid")"
ends_well hung
tell $? "to its end"
until_true are_ready ant bee cat

# ---- A daemon alone: what its sessions hold goes from one process to the next, in a file beside its socket.
now_ms() { date +%s%3N; }
alone() { # [PROGRAM]
    "${1:-$DIBS}" serve --name dog --socket "$dir/dog" --data "$dir/dog.data" --clients "127.0.0.1:$((base + 13))" 2>>"$dir/dog.log" &
    started="$started $!"
    echo $! >"$dir/dog.pid"
}
# The time without service for the job, as far as a shell can see it. It is printed, not judged.
restart_alone() { # NAME TIMES [PROGRAM]
    began=$(now_ms)
    end TERM dog
    alone "${3:-$DIBS}"
    until_true is_held_again "$1" "$2"
    again=$?
    echo "# the lock of the job was held again $(($(now_ms) - began)) ms after its daemon was told to end"
    return $again
}
waiter() { # NAME: a request that waits for the lock of the job of this name
    # shellcheck disable=SC2016 # expanded by the inner shell
    "$DIBS" lock "$1" --keep 60 --socket "$dir/dog" -- sh -c 'echo $DIBS_FENCE >$0' "$dir/$1.next" 2>"$dir/$1.next.err" &
    waiter=$!
    started="$started $waiter"
    until_true sh -c "'$DIBS' waiters $1 --socket '$dir/dog' | grep -q ."
}

alone
until_true is_ready dog
# The daemon vouches for ten seconds, and dibs asks again after some three. A shell notices when it is continued.
"$DIBS" lock short --socket "$dir/dog" --keep 1 -- sh -c 'trap "echo continued" CONT; for k in 1 2 3 4; do sleep 1; done' >"$dir/short.out" 2>&1
[ $? = 0 ] && [ ! -s "$dir/short.out" ]
tell $? "the keep time is shorter than the validity: the command is never stopped"

job lone --socket "$dir/dog"
until_true has_begun lone
waiter lone
restart_alone lone 1
tell $? "a daemon alone is ended in order and started again: the job holds its lock again"
until_true sh -c "'$DIBS' waiters lone --socket '$dir/dog' | grep -q ."
tell $? "and the request that waits goes on waiting"
[ ! -e "$dir/dog.sessions" ] && [ ! -e "$dir/dog.sessions.new" ]
tell $? "what the first process has left is gone"

# Another version of the program: its number is changed in a copy. Its files and letters are the same, unlike those of DIBS_BEFORE.
LC_ALL=C sed "s/$("$DIBS" --version | sed -n '1s/^dibs \([^ ]*\).*/\1/; s/\./\\./gp; q')/9.9.9/g" "$DIBS" >"$dir/newer" && chmod +x "$dir/newer"
"$dir/newer" --version | grep -q 9.9.9
tell $? "there is a newer program"
restart_alone lone 2 "$dir/newer" && [ "$(readlink "/proc/$(cat "$dir/dog.pid")/exe")" = "$dir/newer" ]
tell $? "a daemon alone is upgraded to it under the job"
ends_well lone
tell $? "and the job goes on to its end"
wait $waiter && [ "$(cat "$dir/lone.next")" -gt "$(sed -n 's/begins //p' "$dir/lone.said")" ]
tell $? "then the request that waited is granted, with a larger fence"

job far2 --connect "127.0.0.1:$((base + 13))"
until_true has_begun far2
restart_alone far2 1
tell $? "a remote job of a daemon alone goes on, too"
ends_well far2
tell $? "to its end"

job killed --socket "$dir/dog"
until_true has_begun killed
end KILL dog
alone
wait "$(cat "$dir/killed.job")"
[ $? = 113 ] && grep -q "is lost" "$dir/killed.out"
tell $? "a daemon alone that is killed has left nothing: the lock is lost, and the job is ended"

job stale --socket "$dir/dog"
until_true has_begun stale
end TERM dog
cp "$dir/dog.sessions" "$dir/copy"
[ "$(stat -c %a "$dir/dog.sessions")" = 600 ]
tell $? "what a process leaves is its owner's alone"
printf x >>"$dir/dog.sessions"
alone
wait "$(cat "$dir/stale.job")"
[ $? = 113 ] && grep -q "kept sessions in .* are lost: it is damaged" "$dir/dog.log"
tell $? "a file that is damaged is not used, and the log says so"
end TERM dog
ln -s "$dir/copy" "$dir/dog.sessions"
alone
until_true is_ready dog
[ -e "$dir/copy" ] && [ ! -e "$dir/dog.sessions" ] && ! "$DIBS" holders stale --socket "$dir/dog" | grep -q .
tell $? "nor is a symbolic link"
end TERM dog
cp "$dir/copy" "$dir/dog.sessions"
chmod 644 "$dir/dog.sessions"
alone
until_true is_ready dog
! "$DIBS" holders stale --socket "$dir/dog" | grep -q .
tell $? "nor is a file that others can read"
end TERM dog
cp "$dir/copy" "$dir/dog.sessions"
chmod 600 "$dir/dog.sessions"
"$DIBS" serve --name dog --members "dog=127.0.0.1:$((base + 14)),elk=127.0.0.1:$((base + 15))" --socket "$dir/dog" --data "$dir/dog.data" 2>>"$dir/dog.log" &
started="$started $!"
echo $! >"$dir/dog.pid"
until_true grep -q "kept sessions in .* are lost: this daemon is a member of a cluster now" "$dir/dog.log" && [ ! -e "$dir/dog.sessions" ]
tell $? "what it leaves is for the next process only: a member of a cluster, whose clients are granted the locks, removes it"

# ---- A cluster is upgraded, one daemon after the other, under a job, a request that waits, a lock of a token and one of a Redis client.
python=$(for p in /usr/bin/python3 python3; do "$p" -c 'import redis.lock' 2>/dev/null && echo "$p" && break; done)
redis_lock() { # acquire|extend|release NAME MEMBER: redis-py's Lock, unmodified, with the same token in each call
    [ -n "$python" ] || return 0
    "$python" -c '
import sys, redis
word, name, path = sys.argv[1:]
lock = redis.Redis(unix_socket_path=path).lock(name, timeout=600, thread_local=False)
lock.local.token = b"upgrade"
if word == "acquire":
    sys.exit(0 if lock.acquire(blocking=False, token="upgrade") else 1)
lock.extend(600, replace_ttl=True) if word == "extend" else lock.release()
' "$1" "$2" "$dir/$3" 2>>"$dir/redis.err"
}

run_program() { # PROGRAM NAME...: do the daemons run it?
    program=$1
    shift
    for name in "$@"; do [ "$(readlink "/proc/$(cat "$dir/$name.pid")/exe")" = "$program" ] || return 1; done
}

upgrade() { # NAME PROGRAM
    job "$1" --socket "$dir/ant"
    until_true has_begun "$1"
    # shellcheck disable=SC2016 # expanded by the inner shell
    "$DIBS" lock "$1" --keep 60 --socket "$dir/bee" -- sh -c 'echo $DIBS_FENCE >$0' "$dir/$1.next" 2>"$dir/$1.next.err" &
    waiter=$!
    started="$started $waiter"
    until_true sh -c "'$DIBS' waiters $1 --socket '$dir/cat' | grep -q ."
    "$DIBS" hold "$1.token" --socket "$dir/ant" --ttl 10m >"$dir/$1.token" && redis_lock acquire "$1.redis" ant
    tell $? "a token and a Redis client own locks"
    for name in ant bee cat; do
        began=$(now_ms)
        end TERM $name
        start $name "$2"
        if [ $name = ant ]; then
            until_true grep -q 'is held again' "$dir/$1.out"
            echo "# the lock of the job was held again $(($(now_ms) - began)) ms after its daemon was told to end"
        fi
        until_true are_ready ant bee cat
    done
    until_true is_held_again "$1" 1
    "$DIBS" try "$1" --socket "$dir/cat" --quiet -- true
    [ $? = 112 ] && run_program "$2" ant bee cat
    tell $? "three daemons are upgraded one after the other, and the lock of the job is held all the time"
    "$DIBS" try "$1.token" --socket "$dir/cat" --quiet -- true
    [ $? = 112 ] && (
        eval "$(cat "$dir/$1.token")"
        "$DIBS" renew "$1.token" --socket "$dir/bee" --ttl 10m && "$DIBS" release "$1.token" --socket "$dir/cat"
    ) >/dev/null
    tell $? "the token owns its lock all the time, renews it and releases it"
    "$DIBS" try "$1.redis" --socket "$dir/ant" --quiet -- true
    { [ $? = 112 ] || [ -z "$python" ]; } && redis_lock extend "$1.redis" bee && redis_lock release "$1.redis" cat
    tell $? "so does the Redis client"
    ends_well "$1"
    tell $? "and the job goes on to its end"
    wait $waiter && [ "$(cat "$dir/$1.next")" -gt "$(sed -n 's/begins //p' "$dir/$1.said")" ]
    tell $? "then the request that waited is granted, with a larger fence"
}

until_true are_ready ant bee cat
upgrade upgrade "$dir/newer"

# ---- From a program that was built of an earlier state of the source: what it leaves in its file, and what it says to other members.
if [ -n "${DIBS_BEFORE:-}" ]; then
    for name in ant bee cat; do end TERM $name; done
    for name in ant bee cat; do start $name "$DIBS_BEFORE"; done
    until_true are_ready ant bee cat
    upgrade before "$(realpath "$DIBS")"
    end TERM dog
    alone "$DIBS_BEFORE"
    until_true is_ready dog
    job lone2 --socket "$dir/dog"
    until_true has_begun lone2
    waiter lone2
    restart_alone lone2 1 "$DIBS" && [ "$(readlink "/proc/$(cat "$dir/dog.pid")/exe")" = "$(realpath "$DIBS")" ]
    tell $? "a daemon alone is upgraded from the earlier program under the job"
    ends_well lone2
    tell $? "and the job goes on to its end"
    wait $waiter && [ -s "$dir/lone2.next" ]
    tell $? "then the request that waited is granted"
fi
# ---- At last a member is removed, and its daemon still runs.
until_true are_ready ant bee cat
job gone --connect "127.0.0.1:$(port cat),127.0.0.1:$(port bee)"
until_true has_begun gone
until_true "$DIBS" member remove cat --socket "$dir/bee"
until_true grep -q "is held again" "$dir/gone.out"
tell $? "a member is removed, and its daemon still runs: its job goes on at another member"
ends_well gone
tell $? "to its end"

echo "1..$number"
