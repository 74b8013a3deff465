#!/bin/sh
# Tables become pictures.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

"$DIBS" sweep raymond raymond,tree=star naimi-trehel --sites 4,16 --rate 0.01..1/3 --seeds 2 --entries 400 >"$dir/open.csv"
"$DIBS" sweep raymond naimi-trehel --sites 4,8,16 --closed --entries 400 >"$dir/closed.csv"

"$DIBS" plot "$dir/open.csv" --y messages,wait,fairness --out "$dir/open.svg" && grep -q '<svg' "$dir/open.svg" &&
    grep -q 'raymond tree=star' "$dir/open.svg" && grep -q '16 sites' "$dir/open.svg"
tell $? "over load, as SVG"

"$DIBS" plot "$dir/closed.csv" --x sites --y throughput,sync --out "$dir/closed.png" --title "Full load" &&
    head -c 4 "$dir/closed.png" | grep -q PNG
tell $? "over the number of sites, as PNG"

# Two seeds are one point: four sites at rate 0.01 are at load 0.04, and the mean is that of the table.
mean=$(awk -F, '$1 == "naimi-trehel" && $3 == 4 && $6 == 0.01 { sum += $13 } END { printf "%.6g", sum / 2 }' "$dir/open.csv")
"$DIBS" plot "$dir/open.csv" --y messages --out x.svg --script | sed -n '/^\$d_0_0_2 /,/^END/p' | awk -v mean="$mean" \
    '$1 == 0.04 { found = sprintf("%.6g", $2) == mean && $3 > 0 } END { exit !found }'
tell $? "seeds of one point are averaged"

# A closed load with few requesters: another row for each number, and an axis of its own.
"$DIBS" sweep banta-efficient --closed --requesters 2,4,6 --sites 6 --entries 400 --out "$dir/few.csv" &&
    [ "$(grep -c 'requesters:' "$dir/few.csv")" = 3 ] &&
    "$DIBS" plot "$dir/few.csv" --x requesters --y messages --out x.svg --script | sed -n '/^\$d_0_0_0 /,/^END/p' |
    awk '$1 == 2 { two = $2 } $1 == 6 { six = $2 } END { exit !(two > 5.9 && six > 1.9 && six < 2.1) }'
tell $? "over the number of requesters"

! "$DIBS" plot "$dir/closed.csv" --out "$dir/x.svg" 2>"$dir/err" && grep -q 'take --x sites' "$dir/err"
tell $? "a closed load has no rate"
! "$DIBS" plot tests/golden/s5.script --out "$dir/x.svg" 2>"$dir/err" && grep -q 'dibs sweep' "$dir/err"
tell $? "what is no table is rejected"
! "$DIBS" plot "$dir/open.csv" --y message --out "$dir/x.svg" 2>"$dir/err" && grep -q 'did you mean "messages"' "$dir/err"
tell $? "an unknown figure is rejected"
echo "1..$number"
