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
missing=$("$DIBS" list --all | awk '/^[a-z]/ { name = $1 }
    /^      [a-z-]+ \(/ { print name "-" $1 }' | while read -r story; do
    ls tests/scenario/"$story"*.txt >/dev/null 2>&1 || echo "$story"
done)
number=$((number + 1))
[ -z "$missing" ] || echo "# without a scenario: $missing"
[ -z "$missing" ] && echo "ok $number - every mistake has a scenario" || echo "not ok $number - every mistake has a scenario"
number=$((number + 1))
if "$DIBS" list --all | awk '/^    published mistake: / { published = 1; next } /^[a-z]/ { published = 0 }
    published && !/section|figure/ { print; bad = 1 } END { exit bad }'; then
    echo "ok $number - every published mistake has its place"
else
    echo "not ok $number - every published mistake has its place"
fi
echo "1..$number"
