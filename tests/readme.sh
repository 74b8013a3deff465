#!/bin/sh
# What the README shows is what happens: in a block that begins with "$ dibs ...", every line is in the output of that
# command, in this order. "..." stands for lines that are left out. And what is to be typed into a shell is typed, but for
# the ports, which may be in use.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

# Are the lines of the first file in the second, in the same order?
follows() {
    awk 'NR == FNR { if ($0 != "...") want[++n] = $0; next }
         $0 == want[k + 1] { k++ }
         END { if (k < n) print "# not in the output, or not in this place: " want[k + 1]; exit k < n }' "$1" "$2"
}

file=README.md
awk -v dir="$dir" '/^```/ { shown = 0 } shown { print > (dir "/shown." blocks) }
    /^\$ dibs / { shown = 1; print substr($0, 8) > (dir "/command." ++blocks) }' "$file"
for command in "$dir"/command.*; do
    # shellcheck disable=SC2046 # words of a command
    "$DIBS" $(cat "$command") >"$dir/output" 2>&1
    follows "$dir/shown.${command##*.}" "$dir/output"
    tell $? "$file: dibs $(cat "$command")"
done

tens=$((900 + $$ % 99)) # of ports below those that other suites use
echo 'set -eu; daemons=' >"$dir/typed"
awk '/^```sh/ { typed = 1; next } /^```/ { typed = 0 } typed' "$file" |
    sed "s/127\.0\.0\.1:740\([123]\)/127.0.0.1:$tens\1/g" >>"$dir/typed"
TMPDIR=$dir PATH=$(dirname "$DIBS"):$PATH timeout 120 sh "$dir/typed" >"$dir/out" 2>"$dir/err" &&
    grep -q '^lock backup, fencing token [0-9]*$' "$dir/out" && grep -q '^at most four at once' "$dir/out" &&
    [ "$(grep -cE '^(ant|bee) [0-9]+$' "$dir/out")" = 6 ]
tell $? "$file: a daemon and a cluster, as they are typed"
[ "$(sed -n 's/^\(ant\|bee\) //p' "$dir/out")" = "$(sed -n 's/^\(ant\|bee\) //p' "$dir/out" | sort -nu)" ]
tell $? "$file: whoever was later has the larger number"
echo "1..$number"
