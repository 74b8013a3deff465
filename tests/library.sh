#!/bin/sh
# The client library as others use it: installed, found by pkg-config, compiled into the examples, against real daemons.
# Invariant: I20.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

serve() { # SOCKET [OPTION...]
    socket=$1
    shift
    "$DIBS" serve --socket "$dir/$socket" --data "$dir/data" "$@" 2>>"$dir/$socket.log" &
    started="$started $!"
    echo $! >"$dir/$socket.pid"
    until_true "$DIBS" status --socket "$dir/$socket"
}

serve solo

# ------------------------------------------------------------------------------------------------- installed, compiled

make -s install MODE="$MODE" PREFIX="$dir/prefix" >"$dir/said" 2>&1
tell $? "it can be installed"
PKG_CONFIG_PATH=$dir/prefix/lib/pkgconfig
LD_LIBRARY_PATH=$dir/prefix/lib
export PKG_CONFIG_PATH LD_LIBRARY_PATH

sanitizers=
[ "$MODE" != asan ] || sanitizers=-fsanitize=address,undefined
[ "$MODE" != cover ] || sanitizers=--coverage
built=0
for example in counter loop fenced; do
    # shellcheck disable=SC2046,SC2086 # words
    ${CC:-cc} -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Werror $sanitizers -o "$dir/$example" examples/$example.c \
        $(pkg-config --cflags --libs dibs) || built=1
done
tell $built "the examples compile by pkg-config, without a warning"
[ $built = 0 ] || exit 1

# shellcheck disable=SC2046,SC2086
${CC:-cc} -std=c11 -D_DEFAULT_SOURCE $sanitizers -o "$dir/static" examples/counter.c $(pkg-config --cflags dibs) \
    "$dir/prefix/lib/libdibs.a" && ! ldd "$dir/static" | grep -q libdibs && ldd "$dir/counter" | grep -q "$dir/prefix/lib/libdibs.so.0"
tell $? "and with either library"

echo '#include <dibs.h>' >"$dir/plus.cc"
if command -v c++ >/dev/null; then
    # shellcheck disable=SC2046
    c++ -Wall -Wextra -Werror -c -o "$dir/plus.o" "$dir/plus.cc" $(pkg-config --cflags dibs)
    tell $? "the header is C++, too"
else
    tell 0 "the header is C++, too # SKIP there is no compiler for it"
fi

nm -D --defined-only "$dir/prefix/lib/libdibs.so.0" | awk '{ print $3 }' | grep -v '^__\|^_init\|^_fini' | sort >"$dir/exported"
sed -n 's/^DIBS_API .*[ *]\(dibs_[a-z_]*\)(.*/\1/p' include/dibs.h | sort >"$dir/declared"
[ "$MODE" != release ] || cmp "$dir/exported" "$dir/declared"
tell $? "the library exports what the header declares, and nothing else"

# --------------------------------------------------------------------------------------------------------- the examples

DIBS_SOCKET=$dir/solo
export DIBS_SOCKET

counters=
for _ in 1 2 3 4; do
    "$dir/counter" "$dir/count" 25 &
    counters="$counters $!"
done
failed=0
for pid in $counters; do
    wait "$pid" || failed=1
done
[ $failed = 0 ] && [ "$(cat "$dir/count")" = 100 ]
tell $? "counter: four processes lose no step"

DIBS_SOCKET=$dir/nowhere "$dir/counter" "$dir/count" 1 2>"$dir/said"
[ $? = 1 ] && grep -q "no daemon at $dir/nowhere" "$dir/said"
tell $? "without a daemon it says so"

# A program of another user, who has given it rights of his own.
if [ "$MODE" = release ] && [ "$(id -u)" = 0 ] && cp "$dir/static" "$dir/elevated" && chown 65534 "$dir/elevated" && chmod 4755 "$dir/elevated"; then
    DIBS_SOCKET=$dir/nowhere XDG_RUNTIME_DIR=$dir "$dir/elevated" "$dir/count" 1 2>"$dir/said"
    [ $? = 1 ] && grep -q "no daemon at /run/dibs/dibs.sock" "$dir/said"
    tell $? "a set-user-ID program does not let its caller choose the daemon"
else
    tell 0 "a set-user-ID program # SKIP only root can make one of another user, and sanitizers refuse to run in it"
fi

# shellcheck disable=SC2046,SC2086 # words
${CC:-cc} -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Werror $sanitizers -o "$dir/calls" tests/library_calls.c \
    $(pkg-config --cflags --libs dibs) && "$dir/calls" "$dir/nowhere,$dir/solo" >"$dir/out"
tell $? "a lock is tried, confirmed, renewed; a place without a daemon is passed over"
rm -f "$dir/out"

# shellcheck disable=SC2046,SC2086 # words
${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror $sanitizers -o "$dir/forks" tests/library_fork.c \
    $(pkg-config --cflags --libs dibs) && "$dir/forks" "$dir/solo" >"$dir/out"
tell $? "a connection belongs to the process that opened it: a child cannot use it, and does no harm"
rm -f "$dir/out"
"$DIBS" keygen "$dir/key" >/dev/null && take_ports && serve keyed --key "$dir/key" --clients "127.0.0.1:$base" &&
    DIBS_KEY=$dir/key "$dir/forks" "127.0.0.1:$base" >"$dir/out"
tell $? "the same over TLS"
rm -f "$dir/out"

# shellcheck disable=SC2046,SC2086 # words
${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror $sanitizers -o "$dir/short" tests/library_short.c \
    $(pkg-config --cflags --libs dibs) && "$dir/short" "$dir/solo" >"$dir/out"
tell $? "what the system has no memory to send is sent later, and no lock is lost"
rm -f "$dir/out"
DIBS_KEY=$dir/key "$dir/short" "127.0.0.1:$base" >"$dir/out"
tell $? "the same over TLS"
rm -f "$dir/out"

# It takes a few seconds to give up a host that does not answer; the system takes minutes.
# shellcheck disable=SC2046,SC2086 # words
${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror $sanitizers -o "$dir/signals" tests/library_signals.c \
    $(pkg-config --cflags --libs dibs) && timeout 60 "$dir/signals" "$dir/solo" >"$dir/out"
tell $? "a program whose timer interrupts its calls locks and unlocks, and gives up a host that does not answer"
rm -f "$dir/out"

# The program has allocation functions of its own, and so do sanitizers. OpenSSL has test_tls.
for keep in 0 60000; do
    # shellcheck disable=SC2046 # words
    [ "$MODE" != release ] || { ${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -o "$dir/famine" tests/library_famine.c \
        $(pkg-config --cflags --libs dibs) && "$dir/famine" "$dir/solo" $keep >"$dir/out"; }
    tell $? "a program without memory is told so: it waits for nothing, and the daemon hears no part of a request (keep_ms $keep)"
    rm -f "$dir/out"
done

begin_loop() { # NAME: an example with its input in our hands
    mkfifo "$dir/$1.in"
    "$dir/loop" "$1" <"$dir/$1.in" >"$dir/$1.out" &
    looping=$!
    eval "exec $2>'$dir/$1.in'"
}

begin_loop held 8
until_true grep -q '^held held, token [0-9]' "$dir/held.out"
tell $? "loop: it is granted without being blocked"
"$DIBS" holders held | grep -q "who $(hostname):$looping"
tell $? "and the daemon can tell who it is"
echo hello >&8
until_true grep -q '^released held' "$dir/held.out" && "$DIBS" lock held --wait 10 -- true
tell $? "loop: it goes on to hear its input, and releases"
exec 8>&-
wait $looping
tell $? "loop: it ends well"

begin_loop evicted 8
until_true grep -q '^held evicted' "$dir/evicted.out"
"$DIBS" force-unlock evicted >/dev/null
until_true grep -q '^lost evicted, whose token was [0-9]*: it was taken away' "$dir/evicted.out"
tell $? "loop: a lock that is taken away is told"
exec 8>&-
wait $looping
[ $? = 1 ]
tell $? "and the program knows it"

begin_loop waits 8
until_true grep -q '^held waits' "$dir/waits.out"
mkfifo "$dir/second.in"
"$dir/loop" waits <"$dir/second.in" >"$dir/second.out" 8>&- &
second=$!
exec 9>"$dir/second.in"
until_true sh -c "'$DIBS' waiters waits | grep -q exclusive"
echo hello >&9
until_true grep -q 'you say: hello' "$dir/second.out" && ! grep -q '^held' "$dir/second.out"
tell $? "loop: while it waits it hears its input"
exec 8>&-
wait $looping
until_true grep -q '^held waits' "$dir/second.out"
tell $? "loop: and is granted when the other has ended"
exec 9>&-
wait $second

# A writer that sleeps, loses its lock, and comes back too late.
"$dir/fenced" "$dir/store" shelf late 3 >"$dir/late.out" &
late=$!
until_true sh -c "'$DIBS' holders shelf | grep -q exclusive"
"$DIBS" force-unlock shelf >/dev/null
"$dir/fenced" "$dir/store" shelf early >/dev/null
wait $late
[ $? = 1 ] && grep -q '^refused' "$dir/late.out" && [ "$(sed -n 2p "$dir/store")" = early ]
tell $? "fenced: a program that comes late with an old token is refused"

# ------------------------------------------------------------------------------------------ a daemon that has stopped

# This one takes as long as an answer may: what has become of it is told below.
"build/$MODE/tests/shorten_validity" "$dir/stopped" "$dir/solo" 300 &
stopped=$!
started="$started $stopped"
until_true "$DIBS" status --socket "$dir/stopped"
mkfifo "$dir/idle.in"
"build/$MODE/tests/idle_client" "$dir/stopped" <"$dir/idle.in" >"$dir/idle.out" &
started="$started $!"
exec 7>"$dir/idle.in"
until_true grep -q '^held' "$dir/idle.out"
kill -STOP $stopped
sleep 1
echo now >&7

"build/$MODE/tests/shorten_validity" "$dir/shortened" "$dir/solo" 3000 &
glass=$!
started="$started $glass"
until_true "$DIBS" status --socket "$dir/shortened" # it is there before it answers
DIBS_SOCKET=$dir/shortened

begin_loop vouched 8
until_true grep -q '^held vouched' "$dir/vouched.out"
sleep 4
grep -q '^lost' "$dir/vouched.out"
[ $? = 1 ]
tell $? "a lock is held on as long as the daemon vouches for it, again and again"

# shellcheck disable=SC2016
"$DIBS" lock wrapped --keep 0 --grace 5 -- sh -c 'trap "echo ended >\"$0\"; exit" TERM; : >"$0"; while :; do sleep 0.02; done' \
    "$dir/wrapped" 2>"$dir/wrapped.log" &
wrapper=$!
until_true test -e "$dir/wrapped"
kill -STOP $glass
until_true grep -q '^lost vouched.*vouch' "$dir/vouched.out"
tell $? "when it has stopped, its word runs out, and the lock is lost"
wait $wrapper
[ $? = 113 ] && grep -q "vouch" "$dir/wrapped.log" && grep -q ended "$dir/wrapped"
tell $? "dibs lock: its command is ended with 113"
kill -CONT $glass
exec 8>&-
wait $looping
DIBS_SOCKET=$dir/solo
until_true "$DIBS" lock vouched --wait 1 -- true
tell $? "and when the daemon goes on, it finds the connection closed and the lock free"

# ------------------------------------------------------------------------------------------------------ Redis' clients

run_python() { # NAME COMMAND...: a script that tells of several tests
    name_of_all=$1
    shift
    timeout 120 "$@" >"$dir/python" 2>"$dir/python.err"
    status=$?
    while read -r verdict dash name; do
        case $verdict in
        ok) tell 0 "$name" ;;
        *) tell 1 "$dash $name" ;;
        esac
    done <"$dir/python"
    [ $status = 0 ] || sed 's/^/# /' "$dir/python.err"
    tell $status "$name_of_all"
}

python=
for candidate in python3 /usr/bin/python3; do # the second has what Debian packages
    $candidate -c 'import redis' 2>/dev/null && python=$candidate
done
if [ -n "$python" ]; then
    run_python "redis-py: all of it was run" "$python" tests/redis_client.py "$dir/solo"
else
    tell 0 "redis-py # SKIP it is not installed"
fi

if command -v redis-cli >/dev/null; then
    redis-cli -s "$dir/solo" PSUBSCRIBE 'cli-*' >"$dir/cli.out" &
    listener=$!
    started="$started $listener"
    until_true grep -q psubscribe "$dir/cli.out"
    "$DIBS" lock cli-1 -- true
    until_true grep -q "^granted alone [0-9]* [0-9]* exclusive $(hostname):[0-9]* true" "$dir/cli.out" &&
        until_true grep -q "^released alone" "$dir/cli.out"
    tell $? "redis-cli: what happens is told, and who it was"
    kill $listener
else
    tell 0 "redis-cli # SKIP it is not installed"
fi

# ------------------------------------------------------------------------------------------------------ dibs watch

"$DIBS" watch 'w-*' --format json >"$dir/watch.json" 2>/dev/null &
watcher=$!
started="$started $watcher"
"$DIBS" watch >"$dir/watch.text" 2>"$dir/watch.log" &
watcher=$!
until_true sh -c "'$DIBS' lock w-1 -- true; grep -q . '$dir/watch.json' && grep -q . '$dir/watch.text'"
"$DIBS" lock w-2 -- true && "$DIBS" lock v-2 -- true
until_true grep -q '"event": "released", "lock": "w-2", "member": "alone"' "$dir/watch.json"
tell $? "dibs watch: an object on a line"
python3 - "$dir/watch.json" <<'END'
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
assert all(set(e) == {"time", "event", "lock", "member", "who", "mode", "value", "client", "fence"} for e in events)
assert all(e["lock"].startswith("w-") for e in events)
END
tell $? "dibs watch: all of it is JSON, and matches the pattern"
until_true grep -Eq '^20[0-9-]*T[0-9:.]*Z  released  v-2  member alone  client [0-9]+  who .* true  mode exclusive  fence [0-9]+$' "$dir/watch.text"
tell $? "dibs watch: a line for people"

evil=$(printf 'evil\033[2J')
"$DIBS" lock "$evil" -- true 2>"$dir/said"
[ $? = 114 ] && grep -q '^dibs: .*a name is UTF-8, without control characters' "$dir/said" && ! grep -qF "$evil" "$dir/said"
tell $? "a name that a terminal would obey is refused"
cp /bin/true "$dir/$(printf 'caf\351\302\233')"
"$DIBS" lock plain -- "$dir/$(printf 'caf\351\302\233')"
tell $? "a command may have any name; it is shown without what a terminal would obey"

# ------------------------------------------------------------------------------------------------ three members together

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
serve ant --name ant --members "$members" --lease 3000 --clients "127.0.0.1:$((base + 3))"
for member in bee cat; do
    serve $member --name $member --members "$members" --lease 3000
done
is_ready() { # SOCKET
    [ "$("$DIBS" status --socket "$dir/$1" | sed -n 's/^ready //p')" = yes ]
}
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat
tell $? "three members are ready"
run_python "connections that break: all of it was run" python3 tests/broken.py "$dir/ant" $((base + 3))

# shellcheck disable=SC2016
"$DIBS" lock far --socket "$dir/bee" -- sh -c ': >"$0"; while :; do sleep 0.02; done' "$dir/far" 2>"$dir/far.log" &
holder=$!
until_true test -e "$dir/far"
"$DIBS" lock far --socket "$dir/cat" --wait 30 -- true &
waiter=$!
until_true sh -c "'$DIBS' waiters far --socket '$dir/ant' | grep -q 'member cat'"
tell $? "dibs waiters: those of other members, too"
"$DIBS" holders far --socket "$dir/ant" | grep -q "member bee .* who $(hostname):$holder sh  from user $(id -u)  mode exclusive"
tell $? "dibs holders: who it is, and on which member"
"$DIBS" locks --socket "$dir/ant" | grep -q 'name far  algorithm swaroop-singh  slots 0  holders 1  waiters 1'
tell $? "dibs locks: what all members know, together"
"$DIBS" watch far --socket "$dir/ant" >"$dir/far.watch" 2>/dev/null &
watcher=$!
started="$started $watcher"
# Until the other members know that somebody watches.
until_true sh -c "'$DIBS' lock far --shared --wait 0.1 --socket '$dir/bee' -- true 2>/dev/null; grep -q waiting '$dir/far.watch'"
"$DIBS" force-unlock far --socket "$dir/ant" | grep -q "member bee .* who $(hostname):$holder sh"
tell $? "dibs force-unlock: evicts a holder of another member, and says whom"
wait $holder
[ $? = 113 ] && wait $waiter
tell $? "and a client that waited on a third one is next"
until_true grep -q 'lost .* member bee' "$dir/far.watch" && until_true grep -q 'granted .* member cat' "$dir/far.watch"
tell $? "dibs watch: events of other members are told"

kill -STOP "$(cat "$dir/cat.pid")"
"$DIBS" holders far --socket "$dir/ant" >"$dir/said"
kill -CONT "$(cat "$dir/cat.pid")"
grep -q 'member cat  error not heard' "$dir/said"
tell $? "a member that does not answer is named"

# --------------------------------------------------------------------------------- a daemon that is stopped, among others

# Its clients have no word from it that others may give their locks away: they find out by themselves.
# shellcheck disable=SC2016
"$DIBS" lock leased --keep 0 --socket "$dir/bee" -- \
    sh -c 'trap "echo ended >>\"$0\"; exit" TERM; echo begun >"$0"; while :; do sleep 0.02; done' "$dir/leased" 2>"$dir/leased.log" &
wrapper=$!
until_true grep -q begun "$dir/leased"
DIBS_SOCKET=$dir/bee
begin_loop kept 8
until_true grep -q '^held kept' "$dir/kept.out"
# shellcheck disable=SC2016
"$DIBS" lock leased --socket "$dir/cat" --wait 60 -- sh -c 'echo next >>"$0"' "$dir/leased" &
waiter=$!
until_true sh -c "'$DIBS' waiters leased --socket '$dir/ant' | grep -q 'member cat'"
kill -STOP "$(cat "$dir/bee.pid")"
wait $wrapper
[ $? = 113 ] && grep -q 'does not vouch' "$dir/leased.log"
tell $? "dibs lock: when the daemon is stopped, its word runs out, and the command is ended"
until_true grep -q '^lost kept.*does not vouch' "$dir/kept.out"
tell $? "loop: so is a program that uses the library"
wait $waiter
[ "$(tr '\n' ' ' <"$dir/leased")" = "begun ended next " ]
tell $? "and the others give the lock to the next one, afterwards"
kill -CONT "$(cat "$dir/bee.pid")"
until_true "$DIBS" lock kept --socket "$dir/bee" --wait 1 -- true
tell $? "when it goes on, it takes part again"
exec 8>&-
wait $looping

# A member that is left alone grants nothing, and says why.
# shellcheck disable=SC2016
"$DIBS" lock alone --keep 1 --socket "$dir/bee" -- sh -c ': >"$0"; sleep 60' "$dir/alone" 2>"$dir/alone.log" &
wrapper=$!
until_true test -e "$dir/alone"
# shellcheck disable=SC2016
"$DIBS" lock away --socket "$dir/ant" -- sh -c ': >"$0"; sleep 60' "$dir/away" 2>/dev/null &
until_true test -e "$dir/away"
"$DIBS" lock away --socket "$dir/bee" --wait 14 -- true 2>/dev/null &
waiter=$!
until_true sh -c "'$DIBS' waiters away --socket '$dir/bee' | grep -q 'member bee'"
kill -KILL "$(cat "$dir/ant.pid")" "$(cat "$dir/cat.pid")"
wait $wrapper
[ $? = 113 ]
tell $? "dibs lock: a member without the others has lost its clients' locks, and 113 says so"
no_quorum() {
    "$DIBS" lock other --socket "$dir/bee" --wait 1 -- true 2>"$dir/said"
    [ $? = 116 ]
}
until_true no_quorum && grep -q majority "$dir/said"
tell $? "dibs lock: and it grants none; 116 says so, and why"
wait $waiter
[ $? = 116 ]
tell $? "dibs lock: so it is for a command that has waited all the while"

until_true grep -q '^gone' "$dir/idle.out" && grep -q '^lost quiet: .*vouch' "$dir/idle.out"
tell $? "who waits without a limit for another lock is told, too, that the first one is lost"
echo "1..$number"
