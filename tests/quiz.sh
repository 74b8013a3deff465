#!/bin/sh
# dibs quiz: every exercise has a solution among the scenarios, and the exit status is the mark.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

sed -n 's/^ *{"\([a-z0-9-]*\)", "\([a-z0-9-]*\)",.*/\1 \2/p; s/^ *{"\([a-z0-9-]*\)", "\([a-z0-9-]*\)",$/\1 \2/p' src/cli/cmd_quiz.c |
    uniq >"$dir/table"
[ "$(wc -l <"$dir/table")" -ge 20 ] && [ "$("$DIBS" quiz | grep -c '^ *[0-9]')" = "$(wc -l <"$dir/table")" ]
tell $? "the exercises are listed"

k=0
while read -r algorithm mistake; do
    k=$((k + 1))
    "$DIBS" quiz $k >"$dir/task" && awk 'length($0) > 80 { exit 1 }' "$dir/task" && ! grep -q "$mistake" "$dir/task" ||
        echo "exercise $k: its text"
    "$DIBS" quiz $k --answer "tests/scenario/$algorithm-$mistake.txt" | grep -q '^solved' || echo "exercise $k: $algorithm $mistake is not solved"
    "$DIBS" quiz $k --guess "$mistake" >/dev/null || echo "exercise $k: its name"
    "$DIBS" quiz $k --guess nothing >/dev/null && echo "exercise $k: any name"
    printf 'sites 3\nrequest 0\nsettle\n' >"$dir/mine.txt"
    "$DIBS" quiz $k --try "$dir/mine.txt" | grep -q '^ *1  request 0' || echo "exercise $k: --try"
done <"$dir/table" >"$dir/out"
[ ! -s "$dir/out" ]
tell $? "every exercise is solved by its scenario and by its name, and does not tell the name"

printf '# Nothing happens here that could go wrong.\nsites 3\nrequest 1\nsettle\nrelease 1\n' >"$dir/mine.txt"
"$DIBS" quiz 8 --answer "$dir/mine.txt" >"$dir/out"
[ $? = 1 ] && grep -q '^not solved' "$dir/out"
tell $? "a run without a failure is status 1"
printf 'sites 2\nrequest 1\nlose 1 0\n' >"$dir/mine.txt"
rejects "$dir/mine.txt: the algorithm relies on a network that neither loses nor duplicates messages" quiz 8 --answer "$dir/mine.txt"
printf 'sites 2\nask 1\n' >"$dir/mine.txt"
"$DIBS" quiz 8 --answer "$dir/mine.txt" >"$dir/out" 2>&1
[ $? = 2 ] && grep -q "mine.txt:2: " "$dir/out"
tell $? "a mistake in the file is told with its line"
rejects 'there is no exercise "99"; they are 1 to 21 (dibs quiz lists them)' quiz 99
rejects 'one of --try, --answer and --guess at a time' quiz 1 --guess a --try b
echo "1..$number"
