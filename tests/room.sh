#!/bin/sh
# The operations room of the daemon's page, over HTTP: logins, what is refused, what is told, and what it costs others. See
# room.py, which asks three real daemons.
# Invariants: I19, I22, I31.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if ! python3 -c 'import http.client'; then
    tell 0 "room # SKIP there is no python3"
    echo "1..1"
    exit 0
fi

take_ports
three="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
for member in ant bee cat; do
    # shellcheck disable=SC2046 # options
    serve $member --name $member --members "$three" $([ $member != ant ] || echo --http 127.0.0.1:$((base + 3)) --clients 127.0.0.1:$((base + 4)))
done
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat
tell $? "three members"

"$DIBS" page-token --socket "$dir/bee" >"$dir/said" 2>"$dir/why"
[ $? = 1 ] && [ ! -s "$dir/said" ] && grep -q 'this daemon has no page: start it with --http' "$dir/why"
tell $? "a daemon without a page gives no token, and says how to have one"
"$DIBS" page-token --socket "$dir/ant" >"$dir/said"
grep -qxE "http://127\.0\.0\.1:$((base + 3))/#login=[0-9a-f]{32}" "$dir/said"
tell $? "dibs page-token prints an address"
"$DIBS" page-token --socket "$dir/ant" --format json | python3 -c 'import json, sys; r = json.load(sys.stdin); assert r["operator"] is True and "#login=" in r["url"]'
tell $? "and as JSON"

timeout 200 python3 tests/room.py "$DIBS" "$dir" $((base + 3)) $((base + 4)) >"$dir/facts" 2>"$dir/err"
tell $? "all of it was asked"
while read -r status name; do
    tell "$status" "$name"
done <"$dir/facts"
rm -f "$dir/err"
wait "$(cat "$dir/ant.pid")" # room.py has asked it to end, and a second signal would end it at once
tell $? "and ends in order"

# A network of its own: the machine's is not opened.
if unshare -rn true 2>/dev/null; then
    "$DIBS" keygen "$dir/key"
    unshare -rn "$DIBS" serve --socket "$dir/wide" --data "$dir/wide.data" --key "$dir/key" --http 0.0.0.0:7480 2>"$dir/wide.log" &
    started="$started $!"
    until_true test -S "$dir/wide"
    "$DIBS" page-token --socket "$dir/wide" 2>"$dir/why"
    [ $? = 1 ] && grep -q 'not on loopback.*ssh -L' "$dir/why"
    tell $? "a page that is not on loopback gets no token, as HTTP is not encrypted"
fi
! grep "Sanitizer\|runtime error\|Assertion" "$dir"/*.log
tell $? "no daemon has complained of itself"
echo "1..$number"
