#!/bin/sh
# Every figure of the table in src/alg/README.md is measured again: the column "n=25", messages per entry at light and at full
# load, to three digits.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

messages() { # ALGORITHM OPTION...: to three digits
    "$DIBS" sim "$@" --sites 25 --entries 20k 2>"$dir/err" |
        awk '/^ *messages per entry/ { printf "%.3g", $4 }'
}

if [ "$MODE" != release ]; then
    echo "ok 1 - the costs of all algorithms # SKIP slow"
    echo "1..1"
    exit 0
fi
sed -n 's/^| \[\([a-z0-9-]*\)\].*/&/p' src/alg/README.md | awk -F ' *[|] *' '{ gsub(/[[]|[]].*/, "", $2); print $2, $7 }' >"$dir/rows"
while read -r name light slash full; do
    [ "$slash" = / ] && [ "$(messages "$name" --rate 0.0001)" = "$light" ] && [ "$(messages "$name" --closed)" = "$full" ]
    tell $? "$name: $light at light load, $full at full load"
done <"$dir/rows"
[ "$(wc -l <"$dir/rows")" = "$("$DIBS" list | grep -c '^[a-z]')" ]
tell $? "every algorithm has a row"
echo "1..$number"
