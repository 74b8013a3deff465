#!/bin/sh
# A short simulation becomes a scenario that happens as it is written, whatever the algorithm; and logs can be read.
cd "$(dirname "$0")/.." || exit 2

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
number=0

tell() { # STATUS NAME
    number=$((number + 1))
    [ "$1" = 0 ] && echo "ok $number - $2" || echo "not ok $number - $2"
}

for name in $("$DIBS" list | cut -d ' ' -f 1); do
    "$DIBS" sim "$name" --sites 4 --closed --entries 9 --warmup 0 --delay uniform:0,2 --save "$dir/$name.txt" \
        --svg "$dir/$name.svg" >"$dir/out" && "$DIBS" scenario "$dir/$name.txt" >"$dir/out" && grep -q '<svg' "$dir/$name.svg"
    tell $? "$name as a scenario"
done

! "$DIBS" sim raymond --closed --entries 100k --save "$dir/long.txt" >"$dir/out" 2>"$dir/err" &&
    grep -q 'take fewer --entries' "$dir/err" && [ ! -e "$dir/long.txt" ]
tell $? "a long run is not saved"

"$DIBS" sim raymond --sites 4 --closed --entries 9 --log "$dir/log" >"$dir/out" && grep -q '"enters":true' "$dir/log" &&
    [ "$(grep -c '"event":"release"' "$dir/log")" -ge 8 ]
tell $? "every step is logged"

# With a mistake that the published version has, two go in together, or one waits for ever: the log is left behind.
(cd "$dir" && ! "$DIBS" sim singhal-heuristic-as-published --sites 5 --rate 0.05 --delay lognormal:1,2 >out 2>err) &&
    grep -q 'waits for ever (time .*, step .*, seed 1)' "$dir/err" &&
    tail -n 1 "$dir/dibs-singhal-heuristic-as-published-seed-1.jsonl" | grep -q '"event"'
tell $? "a broken promise leaves a log"
echo "1..$number"
