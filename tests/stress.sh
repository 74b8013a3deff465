#!/bin/sh
# Every algorithm of the catalogue, under every rule that it knows: 25 sites, 100,000 demands at random times, delays that
# vary by a factor of 40 and let messages overtake each other. Every demand is served, the rule is never broken, no site
# meets what the protocol rules out, and messages per entry stay within the papers' bounds (tests/golden/stress.txt).
cd "$(dirname "$0")/.." || exit 2

demands=100000
[ "$MODE" = release ] || demands=2000
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Lines TIME SITE MODE, of bursts and quiet times. Modes 0 and 1 will do for readers and writers, 1 to 3 for groups.
script() { # FIRST-MODE LAST-MODE
    awk -v demands="$demands" -v first="$1" -v last="$2" 'BEGIN {
        srand(25)
        for (k = 0; k < demands; k++) {
            time += rand() * (k % 2000 < 500 ? 0.2 : 4)
            printf "%.4f %d %d\n", time, int(rand() * 25), first + int(rand() * (last - first + 1))
        }
    }'
}
script 0 0 >"$dir/exclusive"
script 0 0 >"$dir/slots"
script 0 1 >"$dir/shared"
script 1 3 >"$dir/group"

figure() { # KEY: its value in the JSON on stdin
    sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*\$/\1/p"
}

run_line() { # NUMBER ALGORITHM RULE BOUND
    json=$("$DIBS" sim "$2" --sites 25 --rule "$3" --script "$dir/${3%:*}" --delay uniform:0.05,2 --hold exp:0.3 --warmup 0 \
        --seed 7 --format json 2>&1)
    status=$?
    entries=$(echo "$json" | figure measured)
    messages=$(echo "$json" | figure messages_per_entry)
    if [ $status = 0 ] && [ "$entries" = "$demands" ] &&
        awk -v m="$messages" -v bound="$4" 'BEGIN { exit !(m != "" && m <= bound) }'; then
        echo "ok $1 - $2 $3: $messages messages per entry, at most $4"
    else
        echo "# status $status, $entries entries, $messages messages per entry"
        echo "$json" | head -n 5 | sed 's/^/# /'
        echo "not ok $1 - $2 $3"
    fi
}

number=0
while read -r algorithm rule bound; do
    case $algorithm in '' | '#') continue ;; esac
    number=$((number + 1))
    run_line $number "$algorithm" "$rule" "$bound"
done <tests/golden/stress.txt

# Nobody is left out.
number=$((number + 1))
"$DIBS" list | sed -n 's/^\([a-z][a-z0-9-]*\) .*/\1/p' | sort >"$dir/listed"
grep -v '^#' tests/golden/stress.txt | cut -d' ' -f1 | sort -u >"$dir/run"
if cmp -s "$dir/listed" "$dir/run"; then
    echo "ok $number - every algorithm has a line"
else
    diff "$dir/listed" "$dir/run" | sed 's/^/# /'
    echo "not ok $number - every algorithm has a line"
fi
echo "1..$number"
