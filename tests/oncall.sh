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
tell $? "why, of a lock that nobody wants"
rejects "no lock is named (usage: dibs why NAME [OPTION...])" why
echo "1..$number"
