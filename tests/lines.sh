#!/bin/sh
# The line of the clients that wait for a lock at one member: priorities (LOCK PRIORITY, dibs lock --priority), and locks
# that are held again (LOCK REENTRANT), on three daemons. The
# bounds are in test_node_fair.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
for name in ant bee cat; do
    serve $name --name $name --members "$members" --lease 4000
done
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat
export DIBS_SOCKET="$dir/ant"

waiters() { # COUNT: that many wait for "print"
    [ "$("$DIBS" waiters print | grep -c mode)" = "$1" ]
}
"$DIBS" lock print --socket "$dir/bee" -- sh -c ": >'$dir/held'; until [ -e '$dir/go' ]; do sleep 0.05; done" &
started="$started $!"
until_true test -e "$dir/held"
count=0
jobs=
for priority in 0 3 0 9 5; do
    "$DIBS" lock print --priority $priority -- sh -c "echo $priority$count >>'$dir/order'" &
    jobs="$jobs $!"
    count=$((count + 1))
    until_true waiters $count
done
started="$started $jobs"
"$DIBS" waiters print >"$dir/out"
[ "$(sed -n 's/.*priority \([0-9]\) .*/\1/p' "$dir/out" | tr -d '\n')" = 95300 ]
tell $? "the clients of a member wait in the order of their priorities, and of their arrival"
"$DIBS" waiters print --format json | python3 -c 'import json, sys; assert [r["priority"] for r in json.load(sys.stdin)] == [9, 5, 3, 0, 0]'
tell $? "waiters says so to programs"
: >"$dir/go"
# shellcheck disable=SC2086 # a list of numbers
wait $jobs
cp "$dir/order" "$dir/out"
[ "$(tr '\n' ' ' <"$dir/order")" = "93 54 31 00 02 " ]
tell $? "and are served in that order"
rejects '--priority 10 is not possible; it takes a whole number from 0 to 9' lock x --priority 10 -- true

# Over RESP, for several locks at once, and beside those who take no part in it.
python3 - "$dir/cat" <<'END' >"$dir/out" 2>&1
import socket, sys
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(sys.argv[1])
    return s.makefile("rwb")
def say(f, line):
    f.write(line.encode() + b"\r\n")
    f.flush()
def hear(f):
    line = f.readline().decode().rstrip()
    if line[0] == "*":
        return [hear(f) for k in range(int(line[1:]))]
    if line[0] == "$":
        return f.read(int(line[1:]) + 2).decode()[:-2]
    return int(line[1:]) if line[0] == ":" else line
def ask(f, line):
    say(f, line)
    return hear(f)
def names(reply):
    return reply[::2]
def priorities(name): # of those who wait
    return [row[row.index("priority") + 1] for row in ask(holder, "WAITERS " + name)]
holder, low, high = connect(), connect(), connect()
assert names(ask(holder, "LOCK b")) == ["b"]
say(low, "LOCK b AND a")
assert ask(high, "LOCK a PRIORITY x") == "-ERR PRIORITY takes a number from 0 to 9"
assert ask(high, "LOCK t TOKEN u TTL 1000 PRIORITY 1").startswith("-ERR usage: ")
while priorities("b") != [0]:
    pass
say(high, "LOCK b AND c PRIORITY 4")
while priorities("b") != [4, 0]:
    pass
assert ask(holder, "UNLOCK b") == "+OK"
assert names(hear(high)) == ["b", "c"]
assert ask(high, "UNLOCK b") == "+OK"
assert names(hear(low)) == ["b", "a"]
END
tell $? "over RESP, and for several locks at once"

# Re-entrance, for those who ask for it: the count of a connection, its loss and its end; not in a kept session.
python3 - "$dir/cat" "$dir/ant" <<'END' >"$dir/out" 2>&1
import socket, sys
def connect(path):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(path)
    return s.makefile("rwb")
def hear(f):
    line = f.readline().decode().rstrip()
    if line[0] == "*":
        return [hear(f) for k in range(int(line[1:]))] if line != "*-1" else None
    if line[0] == "$":
        return f.read(int(line[1:]) + 2).decode()[:-2] if line != "$-1" else None
    return int(line[1:]) if line[0] == ":" else line
def ask(f, line):
    f.write(line.encode() + b"\r\n")
    f.flush()
    return hear(f)
one, two, kept = connect(sys.argv[1]), connect(sys.argv[2]), connect(sys.argv[2])
name, fence = ask(one, "LOCK nested REENTRANT")
assert ask(one, "LOCK nested REENTRANT") == ["nested", fence, 2]
assert ask(one, "LOCK nested REENTRANT TTL 600000") == ["nested", fence, 3]
assert ask(one, "LOCK nested").startswith("-ERR this connection holds")
for left in range(2):
    assert ask(one, "UNLOCK nested") == "+OK"
    assert ask(two, "LOCK nested WAIT 0") is None
    assert ask(one, "CONFIRM nested %d" % fence) > 0
assert ask(one, "UNLOCK nested") == "+OK"
assert ask(two, "LOCK nested REENTRANT")[1] > fence
assert ask(two, "LOCK nested REENTRANT")[2] == 2
ask(one, "FORCE-UNLOCK nested")
assert ask(two, "UNLOCK nested").startswith("-LOST ")
assert ask(one, "LOCK nested")[0] == "nested" # neither is left
assert ask(two, "UNLOCK nested").startswith("-NOTHELD ")
assert ask(one, "LOCK nested REENTRANT")[2] == 2
assert ask(one, "QUIT") == "+OK"
assert ask(two, "LOCK nested")[0] == "nested"
assert len(ask(kept, "SESSION KEEP 5000")) == 32
assert ask(kept, "LOCK other REENTRANT")[0] == "other"
assert ask(kept, "LOCK other REENTRANT").startswith("-ERR ")
assert ask(kept, "UNLOCK other") == "+OK" and ask(two, "LOCK other WAIT 0")
END
tell $? "a lock that is held again is released by the last of as many UNLOCKs; a loss and the end of the connection end all of it"
echo "1..$number"
