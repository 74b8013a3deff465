#!/bin/sh
# docs/oncall.md: every command of the page is typed, on a cluster with the trouble that the page tells of, and answers as the page
# has it. "..." stands for anything.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
for name in ant bee cat; do # the deadlock below lasts until it has been looked at
    serve $name --name $name --members "$members" --deadlock-after 0
done
until_true is_ready ant && until_true is_ready bee
export DIBS_SOCKET="$dir/ant"
PATH=$(cd "$(dirname "$DIBS")" && pwd):$PATH
export PATH

job() { # MEMBER LOCK COMMAND...
    socket=$dir/$1
    shift
    dibs lock "$1" --socket "$socket" -- sh -c ": >'$dir/in.$1'; shift; exec \"\$@\"" sh "$@" 2>>"$dir/jobs.err" &
    started="$started $!"
    until_true test -e "$dir/in.$1"
}
waits_for() { dibs waiters "$1" | grep -q .; }

# The forgotten sleep holds "archive", the backup holds "db" and wants "archive", the report wants "db".
ln -s /bin/true "$dir/report"
dibs lock archive --socket "$dir/cat" -- sleep 1000 2>>"$dir/jobs.err" &
started="$started $!"
until_true sh -c 'dibs holders archive | grep -q .'
dibs lock db --socket "$dir/bee" -- dibs lock archive --socket "$dir/bee" -- sh -c true 2>>"$dir/jobs.err" &
started="$started $!"
until_true waits_for archive
dibs lock db -- "$dir/report" 2>>"$dir/jobs.err" &
report=$!
until_true waits_for db

LOG="$dir/ant.log $dir/cat.log" timeout 100 python3 - docs/oncall.md "$dir" <<'END'
import os, re, subprocess, sys, time
page, scratch = open(sys.argv[1]).read(), sys.argv[2]
number = 0
for block in re.findall(r"```console\n(.*?)```", page, re.S):
    for part in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
        command, want = part[0].replace('"$LOG"', "$LOG"), part[1].splitlines()
        pattern = "".join("(?:.*\n)*" if line == "..." else re.escape(line).replace(re.escape("..."), ".*") + "\n" for line in want)
        for attempt in range(100): # what was ordered may take a moment
            said = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
            if re.fullmatch(pattern, said) or command.startswith("dibs force-unlock"):
                break
            time.sleep(0.1)
        number += 1
        if not re.fullmatch(pattern, said):
            print("".join(f"# {line}\n" for line in said.splitlines()), end="")
            print(f"not ok {number} - the page: {command}")
        else:
            print(f"ok {number} - the page: {command}")
open(scratch + "/count", "w").write(str(number))
END
number=$(cat "$dir/count" 2>/dev/null || echo 0)
[ "$number" -ge 7 ]
tell $? "the page has its commands"
wait $report
tell $? "the report went on"

# Two jobs, each of which wants what the other one holds.
job ant left sh -c "until dibs holders right | grep -q .; do sleep 0.05; done; dibs lock right -- true"
job bee right sh -c "until dibs holders left | grep -q .; do sleep 0.05; done; dibs lock left -- true"
deadlocked() {
    dibs why left >"$dir/why"
    [ $? = 1 ] && grep -q 'which waits for "left" in turn: a deadlock' "$dir/why"
}
until_true deadlocked
tell $? "a deadlock is told as one, with status 1"
dibs locks --held --format json | python3 -c 'import json, sys; assert {r["name"] for r in json.load(sys.stdin)} >= {"left", "right"}' &&
    dibs holders --format json | python3 -c 'import json, sys; assert {r["lock"] for r in json.load(sys.stdin)} >= {"left", "right"}' &&
    dibs waiters | grep -q '^lock left  member ' && ! dibs locks --waited | grep -q archive
tell $? "all holders and all waiters"
dibs why nothing | tr '\n' ' ' | grep -q '^No client waits for "nothing". No client holds "nothing". It is free. $'
tell $? "why, of a lock that no client wants"
dibs hold deploy --ttl 10m >"$dir/held" && dibs why deploy >"$dir/out" && grep -qE 'A token owns it: .*free in 9 min 5[0-9] s if it is not renewed' "$dir/out" &&
    ! grep -q 'connection is gone' "$dir/out"
tell $? "why, of a lock that a token owns"
dibs lock deploy -- true 2>>"$dir/jobs.err" &
waiter=$!
until_true waits_for deploy
# The process of "dibs hold" has ended: its number may be another program's by now.
dibs why deploy >"$dir/out" && grep -q "dibs force-unlock 'deploy'" "$dir/out" && ! grep -q 'kill' "$dir/out"
tell $? "nor is the operator told to end its process"
dibs release deploy --token "$(sed -n 's/.*DIBS_TOKEN=\([0-9a-f]*\).*/\1/p' "$dir/held")" && wait $waiter
tell $? "when the token releases it, the waiter goes on"
rm -f "$dir/out"
rejects "no lock is named (usage: dibs why NAME [OPTION...])" why

# What becomes free by itself: the number of a process that has ended may be that of another one by now.
why_has() { # NAME TEXT
    dibs why "$1" >"$dir/why" && grep -q -- "$2" "$dir/why"
}
wants() { # NAME [OPTION...]: another client waits for it
    dibs lock "$@" -- true 2>>"$dir/jobs.err" &
    started="$started $!"
    until_true waits_for "$1"
}
eval "$(dibs hold token --ttl 10m)"
wants token
why_has token 'A token owns it: .* It is free in 9 min .* s if it is not renewed, and as soon as it is released.' &&
    grep -q '^To let the others go on, wait, or take the lock away:$' "$dir/why"
tell $? "why, of a lock that a token owns: no process is named that could be killed"
printf 'SESSION KEEP 600000\r\nLOCK orphan WAIT 0\r\nSESSION DETACH\r\n' | redis-cli -s "$dir/bee" >"$dir/out"
wants orphan
why_has orphan 'Its connection is gone, and the lock is kept for it: it is free in 1[01] min .* s if the client does not come back.' &&
    ! grep -q 'kill' "$dir/why"
tell $? "why, of a lock of a kept session without a client"
for _ in 1 2; do
    dibs lock readers --shared -- sleep 1000 2>>"$dir/jobs.err" &
    started="$started $!"
done
until_true sh -c 'dibs holders readers | grep -c . | grep -qx 2'
wants readers
why_has readers 'wait for these clients, or end them, or take the lock away:$'
tell $? "why, of a lock with several holders: all have to go"

# One holder of a slot waits for a client that waits for a slot: another slot may become free.
dibs lock slots --slots 2 -- sh -c 'until dibs holders single | grep -q .; do sleep 0.05; done; dibs lock single -- true' 2>>"$dir/jobs.err" &
started="$started $!"
dibs lock slots --slots 2 -- sleep 1000 2>>"$dir/jobs.err" &
started="$started $!"
until_true sh -c 'dibs holders slots | grep -c . | grep -qx 2'
job bee single dibs lock slots --slots 2 --socket "$dir/bee" -- true
until_true waits_for slots && until_true waits_for single
why_has slots 'which waits for "slots" in turn: a circle. It ends when another client of these releases its slot.$'
tell $? "a circle through a lock with a slot that may become free is no deadlock"

# Members that do not answer. While there is no majority, the view stays as it is.
kill -STOP "$(cat "$dir/bee.pid")" "$(cat "$dir/cat.pid")"
dibs why nothing >"$dir/out" 2>"$dir/err"
grep -qx 'No client is known that waits for "nothing".' "$dir/out" && grep -qx 'Not heard: bee, cat. Clients there may hold it.' "$dir/out" &&
    ! grep -q 'It is free\|a client without a name\|force-unlock' "$dir/out"
tell $? "why does not take a member that does not answer for a client, nor its silence for a free lock"
dibs force-unlock nothing >"$dir/out" 2>"$dir/err"
[ $? = 1 ] && grep -qx 'dibs: bee was not heard: a client there may still hold "nothing"; give the order again later' "$dir/err" &&
    ! grep -q 'no client holds' "$dir/err"
tell $? "force-unlock fails if a member was not heard that may have granted the lock"
kill -CONT "$(cat "$dir/cat.pid")"
until_true sh -c 'dibs status | grep -q "name bee .* takes part no" && dibs status | grep -q "^ready yes"'
dibs why nothing >"$dir/out" 2>"$dir/err"
grep -qx 'It is free.' "$dir/out" && ! grep -q 'Not heard' "$dir/out" && dibs force-unlock nothing >"$dir/out" 2>"$dir/err" && grep -q 'no client holds "nothing"' "$dir/err"
tell $? "a member that does not take part grants nothing, and its silence is no trouble"
kill -CONT "$(cat "$dir/bee.pid")"
rm -f "$dir/out" "$dir/err"
echo "1..$number"
