#!/bin/sh
# What strangers and clients can do to a daemon, beside an innocent client that must lose nothing: see abuse.py and abuse_attacks.py. A lone daemon,
# one with as many rules for clients as there may be, and a member of three; ABUSE=long attacks for longer, and with ABUSE_TABLE=FILE also writes the table of the member into FILE
# (docs/security.md), in place of the one that is there.
# Invariant: I31.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if ! python3 -c 'import select'; then
    tell 0 "abuse # SKIP there is no python3"
    echo "1..1"
    exit 0
fi

take_ports
span=0.5
HELD=20000 SUBSCRIBERS=40 CLIENTS=400 LINE=2000
[ "${ABUSE:-short}" = short ] || span=5 HELD=262144 SUBSCRIBERS=400 CLIENTS=4000 LINE=100000
LEASE=1000
[ "$MODE" = release ] || LEASE=4000 # with sanitizers, a turn takes up to half a second
export HELD SUBSCRIBERS CLIENTS LINE LEASE

# The daemons have a page for browsers: it is beside the program.
mkdir "$dir/bin"
cp "$DIBS" "$dir/bin/dibs"
head -c 4000000 /dev/zero | tr '\0' ' ' >"$dir/bin/dibs-lab.html"
DIBS=$dir/bin/dibs

abuse() { # SOCKET PORT [ATTACK...]: with the doors at this port and those behind it
    socket=$1 port=$2
    shift 2
    PYTHONDONTWRITEBYTECODE=1 python3 tests/abuse.py $span "$dir/$socket" "$(cat "$dir/$socket.pid")" "$port" $((port + 1)) "$@"
}

echo secret | "$DIBS" passwd web >"$dir/login"
serve solo --config "$dir/login" --http 127.0.0.1:$base --clients 127.0.0.1:$((base + 1))
until_true is_ready solo
python3 tests/pieces.py "$dir/solo" $base
tell $? "what is done in pieces takes as many turns"
abuse solo $base 0 >"$dir/table"
tell $? "a lone daemon: attacks cost an innocent client nothing"
sed 's/^/# /' "$dir/table"
end_daemon solo

# Rules that are as many, and as costly for a long name, as they may be.
{
    for k in $(seq 255); do
        printf 'allow any none *%0200d%d*\n' 0 "$k" | tr 0 a
    done
    echo "allow any lock,watch *"
    echo secret | "$DIBS" passwd web
} >"$dir/rules"
serve ruled --config "$dir/rules" --http 127.0.0.1:$base --clients 127.0.0.1:$((base + 1))
until_true is_ready ruled
RULED=1 abuse ruled $base 0 >"$dir/ruled.table"
tell $? "a daemon with rules: nor do these"
sed 's/^/# /' "$dir/ruled.table"
end_daemon ruled

"$DIBS" keygen "$dir/key"
three="ant=127.0.0.1:$((base + 2)),bee=127.0.0.1:$((base + 3)),cat=127.0.0.1:$((base + 4))"
for member in ant bee cat; do
    # shellcheck disable=SC2046 # options
    serve $member --name $member --members "$three" --lease $LEASE --key "$dir/key" --config "$dir/login" $([ $member != bee ] || echo --http 127.0.0.1:$base --clients 127.0.0.1:$((base + 1)))
done
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat
tell $? "three members"
OTHER=$dir/ant SLOW=$(cat "$dir/cat.pid") abuse bee $base $((base + 3)) >"$dir/table"
tell $? "a member: attacks cost innocent clients of it and of another member nothing"
sed 's/^/# /' "$dir/table"
if [ -n "${ABUSE_TABLE:-}" ]; then
    grep -h '^|' "$dir/table" "$dir/ruled.table" >"$dir/rows"
    sed -i -e "/^| attack |/,/^\$/{/^| attack |/n;/^|---/{r $dir/rows
n};/^|/d}" "$ABUSE_TABLE"
fi
! grep "Sanitizer\|runtime error\|Assertion" "$dir"/*.log
tell $? "no daemon has complained of itself"

echo "1..$number"
