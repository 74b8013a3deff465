#!/bin/sh
# Counterexamples and scenarios as files, rows and pictures: what the checker saves plays again to the same end, and every
# scenario can be drawn.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

saved_plays_again() { # EXPECTED-LAST-LINE CHECK-ARGUMENT...
    expected=$1
    shift
    rm -f "$dir/saved.txt"
    "$DIBS" check "$@" --save "$dir/saved.txt" && return 1
    "$DIBS" scenario "$dir/saved.txt" && grep "$expected" "$dir/saved.txt"
}

rows_are_moves() { # FILE
    moves=$("$DIBS" check lamport --sites 2 --without fifo --format json | sed -n '/"trace"/,$p' | grep -c '^    "')
    rows=$("$DIBS" trace "$1" | grep -c '^ *[0-9][0-9]* ')
    [ "$rows" = "$((moves + 1))" ] # and the row of site numbers
}

all_can_be_drawn() {
    for file in tests/scenario/*.txt; do
        "$DIBS" trace "$file" >"$dir/rows" && "$DIBS" trace "$file" --svg "$dir/picture.svg" || return 1
        [ "$(grep -c '<svg' "$dir/picture.svg")" = 1 ] && [ "$(tail -n 1 "$dir/picture.svg")" = '</svg>' ] || return 1
        [ "$(grep -c '<text' "$dir/picture.svg")" = "$(grep -c '</text>' "$dir/picture.svg")" ] || return 1
    done
}

nothing_is_half_written() {
    "$DIBS" trace tests/scenario/lamport.txt --svg "$dir/no/such/folder.svg" && return 1
    [ ! -e "$dir/no" ]
}

test_that "a broken rule, saved" saved_plays_again "EXCLUSION BROKEN" lamport --sites 2 --without fifo
test_that "a row for each move" rows_are_moves "$dir/saved.txt"
test_that "a lost message, saved" saved_plays_again "IS LOST" ricart-agrawala-implicit --lose 1
test_that "a message that comes twice, saved" saved_plays_again "IS DUPLICATED" suzuki-kasami --duplicate 1
test_that "every scenario can be drawn" all_can_be_drawn
test_that "a picture is written whole or not at all" nothing_is_half_written
echo "1..$number"
