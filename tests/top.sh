#!/bin/sh
# dibs top: three members, jobs that hold and wait, the table as text, and the screen on a terminal, by keys (tests/top.py).
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
for name in ant bee cat; do
    serve $name --name $name --members "$members" --lease 4000
done
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat
export DIBS_SOCKET="$dir/ant"

hold() { # MEMBER LOCK COMMAND...
    socket=$dir/$1
    shift
    "$DIBS" lock --socket "$socket" "$@" 2>>"$dir/jobs.err" &
    started="$started $!"
}
is_held() { "$DIBS" holders "$1" | grep -q "mode"; }
is_waited() { "$DIBS" waiters "$1" | grep -q "mode"; }

"$DIBS" top --once >"$dir/out" 2>"$dir/err" && [ "$(wc -l <"$dir/out")" = 1 ] && grep -q '^    WAIT WAITERS   HELD HOLDERS MODE      NAME HELD BY$' "$dir/out"
tell $? "without locks there is the head alone"

# As in docs/oncall.md: a sleep holds "archive", the backup holds "db" and wants "archive", the report wants "db".
ln -s /bin/true "$dir/report"
hold cat archive -- sleep 1000
until_true is_held archive
hold bee db -- "$DIBS" lock archive --socket "$dir/bee" -- sh -c true
until_true is_waited archive
sleep 0.2 # so that the waits differ
hold ant db -- "$dir/report"
until_true is_waited db
hold ant aaa --slots 3 -- sleep 1000
hold bee aaa --slots 3 -- sleep 1000
until_true is_held aaa
hold ant shared --shared -- sleep 1000
until_true is_held shared
until_true sh -c "'$DIBS' holders aaa | grep -c . | grep -qx 2"
hold ant young -- sleep 1000
until_true is_held young

"$DIBS" top --once >"$dir/out" 2>"$dir/err"
sed -n 2p "$dir/out" | grep -q '^  *[0-9ms.]* *1 *[0-9ms.]* *1 exclusive archive cat [^ ]*:[0-9]* sleep, user ' &&
    sed -n 3p "$dir/out" | grep -q '^  *[0-9ms.]* *1 *[0-9ms.]* *1 exclusive db      bee ' &&
    grep -q '^       -       0 *[0-9ms.]* *2 slots:3   aaa     .* and 1 more$' "$dir/out" &&
    grep -q '^       -       0 *[0-9ms.]* *1 shared    shared  ant ' "$dir/out" && [ "$(wc -l <"$dir/out")" = 6 ] && [ ! -s "$dir/err" ]
tell $? "one frame as text, the longest wait first, from all members"
"$DIBS" top --once --sort name --rows 2 >"$dir/out" && sed 1d "$dir/out" | cut -c43-49 | tr -d '\n' | grep -q '^aaa *archive' &&
    tail -n 1 "$dir/out" | grep -qx 'and 3 more'
tell $? "sorted by name, and no more rows than were asked for"
"$DIBS" top --once 'a*' >"$dir/out" && [ "$(wc -l <"$dir/out")" = 3 ] && "$DIBS" top rchi --once >"$dir/out" && [ "$(wc -l <"$dir/out")" = 2 ]
tell $? "only the locks of a pattern, or with a part of the name"
"$DIBS" top --once --socket "$dir/cat" | cut -c43- | awk '{print $1}' | sort >"$dir/a" && "$DIBS" top --once | cut -c43- | awk '{print $1}' | sort | cmp - "$dir/a"
tell $? "every member shows the same"
"$DIBS" top --once --socket "$dir/nobody" >"$dir/out" 2>"$dir/err"
[ $? = 1 ] && [ ! -s "$dir/out" ] && grep -q "no daemon at $dir/nobody" "$dir/err"
tell $? "without a daemon the status is 1"
rejects 'top needs a terminal; "dibs top --once" prints the table once' top
rejects '--interval 1ms is not possible; it takes seconds, from 0.2 to 3600, or a time with a unit: 250ms, 10s, 5m, 2h' top --interval 1ms

python3 tests/top.py "$DIBS" "$dir" >"$dir/terminal"
cp "$dir/terminal" "$dir/out"
[ "$(grep -c '^ok' "$dir/terminal")" = "$(sed -n 's/^1\.\.//p' "$dir/terminal")" ] && [ "$(grep -c '^ok' "$dir/terminal")" -ge 30 ]
tell $? "on a terminal: keys, sizes, filter, why, force-unlock; signals and job control leave it in order"
rm -f "$dir/out"

# Very many locks: the list is read in pages, and only the rows that are shown are asked for in detail.
serve solo
until_true is_ready solo
python3 - "$dir/solo" >"$dir/many" <<'END' &
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
file = s.makefile("rb")
for part in range(20):
    s.sendall(b"".join(b"LOCK many-%05d\r\n" % k for k in range(1000 * part, 1000 * (part + 1))))
    for k in range(1000):
        for line in range(4):
            file.readline()
print("ready", flush=True)
time.sleep(1000)
END
started="$started $!"
for _ in 1 2 3; do
    until_true grep -q ready "$dir/many" && break
done
"$DIBS" top --once --rows 3 --socket "$dir/solo" >"$dir/out" 2>"$dir/err" && [ "$(wc -l <"$dir/out")" = 5 ] && tail -n 1 "$dir/out" | grep -q '^and [0-9]* more$' &&
    [ "$(sed -n 's/^and \([0-9]*\) more$/\1/p' "$dir/out")" = 19997 ]
tell $? "twenty thousand locks are counted, and three are shown"
echo "1..$number"
