#!/bin/sh
# Every file in tests/scenario happens as it is written. To accept a change: dibs scenario --rewrite FILE, and read the
# difference.
cd "$(dirname "$0")/.." || exit 2

number=0
for file in tests/scenario/*.txt; do
    number=$((number + 1))
    if said=$("$DIBS" scenario "$file" 2>&1); then
        echo "ok $number - $(basename "$file" .txt)"
    else
        echo "$said"
        echo "not ok $number - $(basename "$file" .txt)"
    fi
done

# Every mistake that dibs list --all names has its story, and a published one has its place.
# Lines "ALGORITHM-MISTAKE KIND: PLACE".
mistakes=$("$DIBS" list --all --format json | python3 -c '
import json, sys
for a in json.load(sys.stdin):
    for m in a["mistakes"]:
        print("%s-%s %s: %s" % (a["name"], m["name"], a["mistaken"], m["where"]))')
missing=$(echo "$mistakes" | while read -r story _; do
    ls tests/scenario/"$story"*.txt >/dev/null 2>&1 || echo "$story"
done)
number=$((number + 1))
[ -z "$missing" ] || echo "# without a scenario: $missing"
[ -z "$missing" ] && echo "ok $number - every mistake has a scenario" || echo "not ok $number - every mistake has a scenario"
number=$((number + 1))
if [ -n "$mistakes" ] && ! echo "$mistakes" | grep ' published mistake: ' | grep -v 'section\|figure'; then
    echo "ok $number - every published mistake has its place"
else
    echo "not ok $number - every published mistake has its place"
fi
echo "1..$number"
