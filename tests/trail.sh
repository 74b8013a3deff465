#!/bin/sh
# The file of the audit trail (--audit) on a disk that takes nothing, on one that is full for a while, and as a pipe that is not read: the
# daemon grants locks all the same, counts the lines that are lost, tells its log once, and the file has whole lines only and says
# how many are missing. No time is asserted.
# Invariant: I31.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

keeps_trail() { # NAME FILE: a daemon with grants and releases in its trail
    serve "$1" --name "$1" --audit "$2" --audit-scope locks
    until_true is_ready "$1"
}

use_locks() { # NAME COUNT: each of COUNT locks is granted and released, and so makes two lines
    python3 - "$dir/$1" "$2" <<'END'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.settimeout(60)
f = s.makefile("rb")
count = int(sys.argv[2])
for k in range(count):
    s.sendall(b"LOCK %s%d\r\nUNLOCK %s%d\r\n" % (b"n" * 200, k, b"n" * 200, k))
    for _ in range(5 * 20 if k % 20 == 19 else 5 * (count % 20) if k == count - 1 else 0):
        assert f.readline()
END
}

# A line that was made now is in the file: the daemon, which waits for its disk only for a moment when it ends, has written all others.
catches_up() { # NAME FILE
    used=$((used + 2))
    "$DIBS" lock --socket "$dir/$1" "last$used" -- sleep 0.05 && grep -q "\"released\".*\"last$used\"" "$2"
}

dropped() {
    "$DIBS" status --socket "$dir/$1" | sed -n 's/^log lines dropped //p'
}

has_lost() { # NAME
    [ "$(dropped "$1")" -gt 0 ]
}

# Are these files lines of JSON, which together tell of so many grants and releases, or that these were dropped? The last line of a file
# may be a part of one, if so many are told of as well.
adds_up() { # COUNT CUT FILE...
    python3 - "$@" <<'END'
import json, re, sys
count, cut, told, lost = int(sys.argv[1]), int(sys.argv[2]), 0, 0
for name in sys.argv[3:]:
    lines = open(name, encoding="utf-8").read().split("\n")
    if lines.pop():
        cut -= 1
    for line in map(json.loads, lines):
        said = re.match(r"(\d+) lines of this log were dropped", line["text"])
        lost += int(said[1]) if said else 0
        told += line.get("audit") in ("granted", "released")
print(f"# {told} lines are there, {lost} are said to be missing")
sys.exit(told + lost != count or lost == 0 or cut < 0)
END
}

# ------------------------------------------------------------------------------------------------ a disk that takes nothing
if [ -w /dev/full ]; then
    keeps_trail full /dev/full
    use_locks full 200
    tell $? "a disk that takes nothing: locks are granted"
    until_true [ "$(dropped full)" = 400 ]
    [ "$(dropped full)" = 400 ]
    tell $? "each line that is lost is counted, and no other"
    until_true grep -q " warning dibs: full: the audit trail /dev/full has lost [0-9]* lines so far: No space left on device\$" "$dir/full.log" &&
        [ "$(grep -c "the audit trail" "$dir/full.log")" = 1 ]
    tell $? "the log says so, once"
    end_daemon full
    tell $? "the daemon ends when it is told to"
else
    tell 0 "a disk that takes nothing # SKIP there is no /dev/full"
fi

# ------------------------------------------------------------------------------------------- a disk that is full for a while
mkdir "$dir/disk"
if mount -t tmpfs -o size=128k tmpfs "$dir/disk" 2>"$dir/mount.log"; then
    dd if=/dev/zero of="$dir/disk/ballast" bs=4096 count=16 2>/dev/null
    keeps_trail small "$dir/disk/trail"
    use_locks small 500
    until_true has_lost small
    tell $? "a disk that is full: lines are dropped"
    rm "$dir/disk/ballast"
    used=1000
    until_true catches_up small "$dir/disk/trail"
    end_daemon small
    adds_up "$used" 0 "$dir/disk/trail"
    tell $? "when there is room again, the file goes on, with whole lines, and tells how many are missing"
    umount "$dir/disk"
else
    tell 0 "a disk that is full # SKIP nothing can be mounted here: $(head -1 "$dir/mount.log")"
fi

# ------------------------------------------------------------------------------------------------- a pipe that is not read
mkfifo "$dir/pipe"
exec 7<>"$dir/pipe"
keeps_trail slow "$dir/pipe"
before=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$(cat "$dir/slow.pid")/status")
use_locks slow 6000
until_true has_lost slow
tell $? "a pipe that is not read: locks are granted, and lines are dropped"
after=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$(cat "$dir/slow.pid")/status")
[ "${MODE:-release}" != release ] || [ $((after - before)) -lt 20000 ] # 5 MB of lines, and the names
tell $? "memory is bounded: from $before KB to $after KB"
until_true grep -q "the audit trail $dir/pipe has lost [0-9]* lines so far: it does not take them in time\$" "$dir/slow.log" &&
    [ "$(grep -c "has lost" "$dir/slow.log")" = 1 ]
tell $? "the log says so, once"
cat <"$dir/pipe" >"$dir/read" 7>&- &
reader=$!
started="$started $reader"
used=12000
until_true catches_up slow "$dir/read"
end_daemon slow
exec 7>&- # the last writer
wait $reader
adds_up "$used" 0 "$dir/read"
tell $? "when it is read again, it has whole lines, and tells how many are missing"

# -------------------------------------------------------------------- a pipe that is not read, and that a file takes the place of
mkfifo "$dir/stuck"
exec 7<>"$dir/stuck"
keeps_trail renamed "$dir/stuck"
use_locks renamed 6000
until_true has_lost renamed
mv "$dir/stuck" "$dir/stuck.1"
kill -HUP "$(cat "$dir/renamed.pid")"
until_true test -s "$dir/stuck"
tell $? "SIGHUP opens the file again, though the old one takes nothing"
used=12000
until_true catches_up renamed "$dir/stuck"
end_daemon renamed
cat <"$dir/stuck.1" >"$dir/read" 7>&- &
reader=$!
started="$started $reader"
exec 7>&-
wait $reader
adds_up "$used" 1 "$dir/read" "$dir/stuck"
tell $? "both together have whole lines, but for one, and tell how many are missing"

echo "1..$number"
