#!/bin/sh
# dibs explain and dibs list fit 80 columns, say what the heads of src/alg say, and the commands that they print are true.
# (That the rules are in step with the code is tests/test_explain.c.)
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"
unset COLUMNS

fits() { # no line of standard input is wider than 80 columns
    awk 'length($0) > 80 { print; bad = 1 } END { exit bad || !NR }'
}

docs/make-explain >"$dir/explained.c" && diff src/lab/explained.c "$dir/explained.c" >"$dir/out"
tell $? "src/lab/explained.c is what docs/make-explain makes of the heads"
rm -f "$dir/out"
mkdir -p "$dir/tree/docs" "$dir/tree/src" && cp docs/make-explain "$dir/tree/docs/" && cp -r src/alg "$dir/tree/src/" &&
    sed -i 's/make one of these mistakes:$/make one of these mistakes: wraps      numbers wrap/' "$dir/tree/src/alg/suzuki_kasami.c" &&
    ! (cd "$dir/tree" && docs/make-explain) >"$dir/out" 2>"$dir/err" && grep -q 'begin a new line for the item' "$dir/err"
tell $? "an item of a list that is within a line, as a formatter of comments may put it, is refused"
rm -f "$dir/out" "$dir/err"
"$DIBS" list --all | fits
tell $? "dibs list --all fits 80 columns"

"$DIBS" list --all | sed -n 's/^\([a-z][a-z0-9-]*\) .*/\1/p' >"$dir/names"
while read -r name; do
    "$DIBS" list "$name" >"$dir/page" && fits <"$dir/page" >"$dir/wide" || echo "list $name: $(cat "$dir/wide")"
    "$DIBS" explain "$name" >"$dir/page" && fits <"$dir/page" >"$dir/wide" || echo "explain $name: $(cat "$dir/wide")"
    for part in Idea Messages 'What it assumes' 'What it costs' 'To watch'; do
        grep -qx "$part" "$dir/page" || echo "explain $name: no \"$part\""
    done
    [ "$(grep -c 'messages per entry; waiting time' "$dir/page")" = 2 ] || echo "explain $name: costs at two loads"
    # shellcheck disable=SC2046 # the command has a pattern
    "$DIBS" scenario $(sed -n 's/^dibs scenario --print //p' "$dir/page") >/dev/null || echo "explain $name: no story"
done <"$dir/names" >"$dir/out"
[ -s "$dir/names" ] && [ ! -s "$dir/out" ]
tell $? "every page fits 80 columns, has all its parts, and names a story that plays"

# What is assumed is needed: without it the checker finds a violation.
for command in 'lamport --without fifo' 'ricart-agrawala-implicit --without bounded-delay' \
    'banta-efficient --without bounded-delay' 'singhal-heuristic-robust --without detection --crash 1'; do
    name=${command%% *}
    # shellcheck disable=SC2086 # a list of words
    "$DIBS" explain "$name" | tr -s ' \n' ' ' | grep -q "dibs check $command" &&
        ! "$DIBS" check $command >"$dir/out"
    tell $? "without what it assumes: dibs check $command"
done

"$DIBS" explain maekawa | grep -q 'GRANT is LOCKED, YIELD is RELINQUISH'
tell $? "textbook names are there"
"$DIBS" explain suzuki-kasami-tempting | grep -q 'The rest of this page is about the sound'
tell $? "a version with a mistake is told apart"
rejects 'unknown algorithm "suzuki"; did you mean "suzuki-kasami"? (dibs list shows all)' explain suzuki
rejects 'no algorithm is named (usage: dibs explain ALGORITHM; dibs list shows all)' explain
echo "1..$number"
