#!/bin/sh
# A daemon that has no memory left: it refuses what it would have to keep, says so, and goes on; and so do its clients.
# Invariant: I19.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if [ "$MODE" != release ]; then
    tell 0 "a daemon without memory # SKIP sanitizers need more address space than a machine has"
    echo "1..$number"
    exit
fi

# One client that takes locks with long names, through as many connections as it needs, until it is refused. It says so, and
# keeps them until its standard input ends.
cat >"$dir/hog.py" <<'END'
import socket, sys

def refusal(s):
    taken = 0
    while True:
        s.sendall(b"".join(b"LOCK %s%d WAIT 0\n" % (b"x" * 200, hog * 100000 + taken + k) for k in range(500)))
        lines = 0
        while lines < 500:
            line = replies.readline()
            if not line:
                return "gone"
            if line[:1] in b"-*":
                lines += 1
            if line[:1] == b"-":
                return line.decode().strip()
        taken += 500
        if taken == 60000:
            return None

kept = []
for hog in range(50):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    replies = s.makefile("rb")
    kept.append((s, replies))
    why = refusal(s)
    if why:
        break
print(why, flush=True)
sys.stdin.read()
END

(
    ulimit -v 150000
    exec "$DIBS" serve --socket "$dir/small" 2>"$dir/small.log"
) &
daemon=$!
started="$started $daemon"
until_true "$DIBS" status --socket "$dir/small"
tell $? "a daemon runs with little memory"
# shellcheck disable=SC2016
"$DIBS" lock --socket "$dir/small" innocent -- sh -c ': >"$0"; while [ -e "$0" ]; do sleep 0.02; done' "$dir/held" &
holder=$!
until_true test -e "$dir/held"

mkfifo "$dir/on"
python3 "$dir/hog.py" "$dir/small" <"$dir/on" >"$dir/said" 2>&1 &
hog=$!
started="$started $hog"
exec 8>"$dir/on"
until_true test -s "$dir/said"
grep -q '^-BUSY .*out of memory' "$dir/said"
tell $? "a client that wants it to keep too much is refused, with the reason"
sed 's/^/# /' "$dir/said" | cut -c 1-160
kill -0 $daemon
tell $? "the daemon lives"
"$DIBS" lock --socket "$dir/small" other -- true 2>"$dir/said"
[ $? = 114 ] && grep -q "out of memory" "$dir/said"
tell $? "other clients are refused, too, and told why"
grep -q "out of memory" "$dir/small.log"
tell $? "the log says it"
rm -f "$dir/held"
wait $holder
tell $? "a client that held a lock has kept it, and releases it"

exec 8>&-
wait $hog
until_true "$DIBS" lock --socket "$dir/small" other -- true
tell $? "when the first client has let go, locks are granted again"
grep -q "memory is available again" "$dir/small.log"
tell $? "the log says that as well"
kill $daemon
wait $daemon
tell $? "and it ends as it should"

# A bound that the operator has set: the same, long before the machine has no memory left.
take_ports
serve bound --memory-max 24M --http 127.0.0.1:$base
until_true "$DIBS" status --socket "$dir/bound"
# shellcheck disable=SC2016
"$DIBS" lock --socket "$dir/bound" innocent -- sh -c ': >"$0"; while [ -e "$0" ]; do sleep 0.02; done' "$dir/held" &
holder=$!
until_true test -e "$dir/held"
rm -f "$dir/said"
python3 "$dir/hog.py" "$dir/bound" <"$dir/on" >"$dir/said" 2>&1 &
hog=$!
started="$started $hog"
exec 8>"$dir/on"
until_true test -s "$dir/said"
grep -q '^-BUSY .*as much memory as it may' "$dir/said"
tell $? "beyond --memory-max a client is refused, with the reason"
until_true grep -q "the bound: clients are refused" "$dir/bound.log"
tell $? "the log says it"
"$DIBS" status --socket "$dir/bound" >"$dir/status"
used=$(sed -n 's/^memory bytes //p' "$dir/status")
max=$(sed -n 's/^memory max bytes //p' "$dir/status")
[ "$max" = $((24 << 20)) ] && [ "$used" -ge $((max - max / 16)) ] && [ "$used" -lt $((max + max / 2)) ]
tell $? "what is used is at the bound ($used of $max bytes), and the daemon tells both"
rm -f "$dir/held"
wait $holder
tell $? "a client that held a lock has kept it, and releases it"
exec 8>&-
wait $hog
until_true "$DIBS" lock --socket "$dir/bound" other -- true
tell $? "when the first client has let go, locks are granted again"
until_true grep -q "below --memory-max again" "$dir/bound.log"
tell $? "the log says that as well"
end_daemon bound
rejects "--memory-max: \"lots\" is not a size; it is a number of bytes, or of K, M, G or T of them, at least 8M" serve --memory-max lots
rejects "--memory-max: \"100K\" is not a size; it is a number of bytes, or of K, M, G or T of them, at least 8M" serve --memory-max 100K

# Single allocations that fail, and all from one on.
"$DIBS" keygen "$dir/key"
${CC:-cc} -O1 -shared -fPIC -o "$dir/famine.so" tests/famine.c &&
    python3 tests/famine.py "$DIBS" "$dir/famine.so" "$dir" $((base + 1)) "${FAMINE_RUNS:-20}"
tell $? "whichever allocation fails, a daemon goes on or ends in its own words"
echo "1..$number"
