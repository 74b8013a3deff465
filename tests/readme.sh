#!/bin/sh
# What the README shows is what happens: in a block that begins with "$ dibs ...", every line is in the output of that
# command, in this order. "..." stands for lines that are left out.
cd "$(dirname "$0")/.." || exit 2

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
number=0

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
    number=$((number + 1))
    # shellcheck disable=SC2046 # words of a command
    "$DIBS" $(cat "$command") >"$dir/output" 2>&1
    if follows "$dir/shown.${command##*.}" "$dir/output"; then
        echo "ok $number - $file: dibs $(cat "$command")"
    else
        echo "not ok $number - $file: dibs $(cat "$command")"
    fi
done
echo "1..$number"
