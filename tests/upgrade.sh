#!/bin/sh
# Clients of three daemons change the mode in which they hold a lock: UPGRADE and DOWNGRADE; also when a member is lost meanwhile, and in kept
# sessions, which outlive their member. Invariants: I33, I36, I37.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
for name in ant bee cat; do
    serve $name --name $name --members "$members"
done
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat

DIBS=$DIBS timeout 300 python3 tests/upgrade.py "$(cat "$dir/cat.pid")" "$dir/ant" "$dir/bee" "$dir/cat" >"$dir/said" 2>"$dir/err"
tell $? "the clients have done all that they wanted"
sed 's/^/# /' "$dir/err"
while read -r verdict dash name; do
    [ "$verdict" = ok ]
    tell $? "${name:-$dash}"
done <"$dir/said"

echo "1..$number"
