#!/bin/sh
# dibs demo, the tour that ./run shows: a lock of three daemons that two commands want, algorithms, a plot, the page. However it ends,
# it leaves nothing behind.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

mkdir "$dir/tmp" "$dir/a place"
TMPDIR=$dir/tmp
export TMPDIR
# A daemon of the user's own, if there were one, is not the tour's.
DIBS_SOCKET=$dir/none DIBS_CONNECT=127.0.0.1:1
export DIBS_SOCKET DIBS_CONNECT

# The processes whose command lines name the directory of a tour.
left_over() {
    grep -la "$TMPDIR/[d]ibs-demo" /proc/[0-9]*/cmdline 2>/dev/null | cut -d / -f 3
}
is_clean() {
    [ -z "$(left_over)" ] && [ -z "$(ls -A "$TMPDIR")" ]
}

(cd "$dir/a place" && "$DIBS" demo --plot "$dir/a place/load.svg") >"$dir/out" 2>"$dir/err" </dev/null
[ $? = 0 ] && [ ! -s "$dir/err" ]
tell $? "the tour ends with status 0, in a path with a space, without a terminal"
is_clean
tell $? "and leaves no process and no file"
rm -f "$dir/err"

fences=$(sed -n 's/.*runs on [a-z]*, with the fencing token \([0-9]*\)$/\1/p' "$dir/out")
# shellcheck disable=SC2086 # two words
set -- $fences
[ $# = 2 ] && [ "$1" -lt "$2" ]
tell $? "two commands hold the lock, one after the other, and the second has the larger token"
sed -n '/^    \$ dibs waiters deploy /,/Now the first command ends/p' "$dir/out" | grep -q '^      member bee  .*client '
tell $? "the second is shown waiting before the first ends"
grep -q "^    ricart-agrawala  *exclusive .*holds$" "$dir/out" && grep -q "8 messages for 2 entries" "$dir/out" &&
    grep -q 'On one that does not, the verdict is' "$dir/out"
tell $? "algorithms are drawn, checked and broken"
# Wider may be only what has a path in it, and what a command prints.
grep -v "$dir\|^      member \|PATH=" "$dir/out" | awk 'length($0) > 80 { print "# " length($0) " columns: " $0; bad = 1 } END { exit bad || NR < 80 }'
tell $? "it fits 80 columns"
# What it says last can be typed: the shell finds dibs.
(cd "$dir" && env PATH=/usr/bin:/bin sh -ec "$(sed -n '/^Go on with$/,$ s/^    \(export .*\|dibs list\)$/\1/p' "$dir/out")") >"$dir/typed" 2>&1 && grep -q '^ricart-agrawala' "$dir/typed"
tell $? "what it says last can be typed"
if command -v gnuplot >/dev/null; then
    grep -qF "are drawn in $dir/a place/load.svg" "$dir/out" && grep -q '<svg' "$dir/a place/load.svg" && grep -q 'suzuki-kasami' "$dir/a place/load.svg"
    tell $? "a plot is drawn where it was said"
else
    tell 0 "a plot is drawn where it was said # SKIP there is no gnuplot"
fi
page=$(dirname "$DIBS")/dibs-lab.html
if [ -e "$page" ]; then grep -qF "Open this file: $page" "$dir/out"; else grep -q 'It is not built: "./run page" builds it' "$dir/out"; fi
tell $? "it says where the page is, or how it is built"
rm -f "$dir/out"

# A system with nothing but a shell and cat.
mkdir "$dir/bin"
for command in sh cat; do ln -s "$(command -v $command)" "$dir/bin/$command"; done
PATH="$dir/bin" "$DIBS" demo --plot "$dir/none.svg" >"$dir/out" 2>"$dir/err" && [ ! -s "$dir/err" ] && [ ! -e "$dir/none.svg" ] &&
    [ "$(grep -c 'gnuplot' "$dir/out")" = 1 ]
tell $? "without gnuplot, one line says so"
rm -f "$dir/out" "$dir/err"

rejects "--plot $dir/no/where.svg: No such file or directory" demo --plot "$dir/no/where.svg"

# In the middle of it, when the daemons run.
has_daemons() {
    ls "$TMPDIR"/dibs-demo.*/cat.sock
}
for signal in INT TERM KILL; do
    env --default-signal "$DIBS" demo >"$dir/out" 2>&1 &
    tour=$!
    started="$started $tour"
    until_true has_daemons && kill -$signal "$tour"
    killed=$?
    wait "$tour"
    ended=$?
    [ $killed = 0 ] && [ $ended -gt 128 ] && until_true is_clean
    tell $? "SIG$signal ends it, its daemons, and removes its files"
done
rm -f "$dir/out"

# The end of its output does not wait for anything.
"$DIBS" demo 2>/dev/null | head -n 3 >/dev/null
until_true is_clean
tell $? "so does a reader that has seen enough"
started="$started $(left_over)"
echo "1..$number"
