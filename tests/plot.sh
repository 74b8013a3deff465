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

# Two seeds are one point: four sites at rate 0.01 are at load 0.04, the mean is that of the table, and the bar comes from their spread.
awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) at[$k] = k } $1 == "naimi-trehel" && $at["sites"] == 4 && $at["rate"] == 0.01 { print $at["messages_per_entry"] }' \
    "$dir/open.csv" >"$dir/seeds"
"$DIBS" plot "$dir/open.csv" --y messages --out x.svg --print-script 2>"$dir/err" | sed -n '/^\$d_0_0_2 /,/^END/p' >"$dir/dots"
awk 'FNR == NR { a = b; b = $1; next } $1 == 0.04 { half = 12.71 * (a > b ? a - b : b - a) / 2
        found = sprintf("%.5g", $2) == sprintf("%.5g", (a + b) / 2) && sprintf("%.4g", $3) == sprintf("%.4g", half) } END { exit !found }' \
    "$dir/seeds" "$dir/dots"
tell $? "seeds of one point are averaged, and their spread is the bar"

# Rows that differ in anything else are lines or panels of their own, or are refused.
"$DIBS" sweep raymond naimi-trehel --sites 4 --closed --hold 0.1,5 --delay const:1 --delay exp:1 --entries 400 >"$dir/hold.csv"
"$DIBS" plot "$dir/hold.csv" --out x.svg --print-script 2>"$dir/err" >"$dir/out" && grep -q "title 'raymond hold 0.1 delay 1'" "$dir/out" &&
    grep -q "title 'naimi-trehel hold 5 delay exp:1'" "$dir/out"
tell $? "rows that differ are lines of their own"
! "$DIBS" plot "$dir/hold.csv" --line algorithm --out "$dir/x.svg" >"$dir/out" 2>"$dir/err" && [ ! -e "$dir/x.svg" ] &&
    grep -q '^dibs: rows of one point differ in "hold", and their mean means nothing; take --line algorithm,hold or --panel hold$' "$dir/err"
tell $? "rows that differ are never averaged"
"$DIBS" plot "$dir/hold.csv" --x hold --y p95,wait_max --line algorithm --panel delay --out x.svg --print-script 2>"$dir/err" >"$dir/out" &&
    grep -q "set title 'delay exp:1'" "$dir/out" && grep -q "set ylabel 'wait_max'" "$dir/out" && grep -q '^set logscale x' "$dir/out" &&
    [ "$(sed -n '/^\$d_0_1_1 /,/^END/p' "$dir/out" | grep -c '^[0-9]')" = 2 ]
tell $? "any column against any column"

# Formats, ranges and sizes; titles with any character; a name at each line; standard output.
title='Bob'"'"'s 100% {_^@&~\<"$#é'
for format in svg png pdf tex; do
    "$DIBS" plot "$dir/hold.csv" --x hold --title "$title" --direct --size 200x150 --xrange 0.05:10 --yrange :100 --logscale xy --out "$dir/x.$format" 2>"$dir/err" &&
        [ -s "$dir/x.$format" ] || break
done && head -c 4 "$dir/x.pdf" | grep -q PDF && grep -q "Bob's 100% {_^@&amp;~\\\\&lt;" "$dir/x.svg" && grep -q 'xmin=0.05, xmax=10' "$dir/x.tex" &&
    grep -q "Bob's 100\\\\% \\\\{\\\\_\\\\^{}@" "$dir/x.tex" && grep -q 'ymode=log' "$dir/x.tex"
tell $? "SVG, PNG, PDF and TikZ, with any title"
"$DIBS" plot "$dir/hold.csv" --x hold --out - 2>"$dir/err" | grep -q '</svg>' && "$DIBS" plot "$dir/hold.csv" --x hold --out - --format tex 2>"$dir/err" | grep -q 'end{tikzpicture}'
tell $? "a picture goes to standard output"
mkdir "$dir/empty" && ln -s "$(command -v sh)" "$dir/empty/sh" && ! PATH="$dir/empty" "$DIBS" plot "$dir/hold.csv" --x hold --out "$dir/y.svg" 2>"$dir/err" &&
    grep -q '^dibs: gnuplot is not installed; apt-get install gnuplot-nox, or take --out FILE.tex$' "$dir/err" && [ ! -e "$dir/y.svg" ]
tell $? "without gnuplot there is one clear line"
rejects "--size 3x4 is not possible; it takes WIDTHxHEIGHT of a panel in pixels, from 50 to 4000, as in 300x230" plot "$dir/hold.csv" --out x.svg --size 3x4
rejects "--yrange 5 is not possible; it takes FROM:TO, as in 0.1:10, and either may be missing" plot "$dir/hold.csv" --out x.svg --yrange 5
rejects "--logscale z is not possible; it takes x, y, xy or none" plot "$dir/open.csv" --out x.svg --logscale z
rejects "--out $dir/no/x.svg: No such file or directory" plot "$dir/hold.csv" --out "$dir/no/x.svg"

# A closed load with few requesters: another row for each number, and an axis of its own.
"$DIBS" sweep banta-efficient --closed --requesters 2,4,6 --sites 6 --entries 400 --out "$dir/few.csv" &&
    [ "$(wc -l <"$dir/few.csv")" = 4 ] &&
    "$DIBS" plot "$dir/few.csv" --x requesters --y messages --out x.svg --print-script | sed -n '/^\$d_0_0_0 /,/^END/p' |
    awk '$1 == 2 { two = $2 } $1 == 6 { six = $2 } END { exit !(two > 5.9 && six > 1.9 && six < 2.1) }'
tell $? "over the number of requesters"

! "$DIBS" plot "$dir/closed.csv" --x load --out "$dir/z.svg" 2>"$dir/err" && grep -q 'take --x sites' "$dir/err"
tell $? "a closed load has no rate"
! "$DIBS" plot tests/golden/s5.script --out "$dir/x.svg" 2>"$dir/err" && grep -q 'dibs sweep' "$dir/err"
tell $? "what is no table is rejected"
! "$DIBS" plot "$dir/open.csv" --y message --out "$dir/x.svg" 2>"$dir/err" && grep -q 'did you mean "messages"' "$dir/err"
tell $? "an unknown figure is rejected"
echo "1..$number"
