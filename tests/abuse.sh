#!/bin/sh
# What strangers and clients can do to a daemon, beside an innocent client that must lose nothing: see abuse.py. A lone daemon,
# and a member of three; ABUSE=long attacks for longer, and with ABUSE_TABLE=FILE also writes the table of the member into FILE
# (docs/security.md), in place of the one that is there.
# Invariant: I31.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if ! python3 -c 'import select'; then
    tell 0 "abuse # SKIP there is no python3"
    echo "1..1"
    exit 0
fi

base=$((27600 + $$ % 2400)) # below the ports that the system gives away by itself
span=0.5
HELD=20000 SUBSCRIBERS=40 CLIENTS=400
[ "${ABUSE:-short}" = short ] || span=5 HELD=262144 SUBSCRIBERS=400 CLIENTS=4000
export HELD SUBSCRIBERS CLIENTS

# The daemons have a page for browsers: it is beside the program.
mkdir "$dir/bin"
cp "$DIBS" "$dir/bin/dibs"
head -c 4000000 /dev/zero | tr '\0' ' ' >"$dir/bin/dibs-lab.html"
DIBS=$dir/bin/dibs

abuse() { # SOCKET PORT [ATTACK...]: with the doors at this port and those behind it
    socket=$1 port=$2
    shift 2
    python3 tests/abuse.py $span "$dir/$socket" "$(cat "$dir/$socket.pid")" "$port" $((port + 1)) "$@"
}

serve solo --http 127.0.0.1:$base --clients 127.0.0.1:$((base + 1))
until_true is_ready solo
abuse solo $base 0 >"$dir/table"
tell $? "a lone daemon: attacks cost an innocent client nothing"
sed 's/^/# /' "$dir/table"
end_daemon solo

"$DIBS" keygen "$dir/key"
three="ant=127.0.0.1:$((base + 2)),bee=127.0.0.1:$((base + 3)),cat=127.0.0.1:$((base + 4))"
for member in ant bee cat; do
    # shellcheck disable=SC2046 # options
    serve $member --name $member --members "$three" --key "$dir/key" $([ $member != bee ] || echo --http 127.0.0.1:$base --clients 127.0.0.1:$((base + 1)))
done
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat
tell $? "three members"
OTHER=$dir/ant SLOW=$(cat "$dir/cat.pid") abuse bee $base $((base + 3)) >"$dir/table"
tell $? "a member: attacks cost an innocent client nothing"
sed 's/^/# /' "$dir/table"
if [ -n "${ABUSE_TABLE:-}" ]; then
    grep '^|' "$dir/table" >"$dir/rows"
    sed -i -e "/^| attack |/,/^\$/{/^| attack |/n;/^|---/{r $dir/rows
n};/^|/d}" "$ABUSE_TABLE"
fi
[ "$("$DIBS" status --socket "$dir/ant" | sed -n 's/^losses //p')" = 0 ] && is_ready ant
tell $? "nor the others"
for socket in ant bee cat solo; do
    ! grep -l "Sanitizer\|runtime error\|Assertion" "$dir/$socket.log" || exit 1
done
tell $? "no daemon has complained of itself"

echo "1..$number"
