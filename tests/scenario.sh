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
echo "1..$number"
