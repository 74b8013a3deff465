#!/bin/sh
# dibs prove: every row that is quick is proved with its figure, and its mutant is refuted. Mutants that must be built are in
# tests/mutants.txt: tests/mutants.sh runs the rows' commands with them.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if [ "$MODE" != release ]; then
    tell 0 "the proofs # SKIP it is the algorithms that are proved, not the checker's memory"
    echo "1..$number"
    exit 0
fi

# shellcheck disable=SC2086 # PROVE is empty, or an option: tests/nightly
test_that "dibs prove: every row is proved, with its figure" "$DIBS" prove ${PROVE:-}
# shellcheck disable=SC2086
test_that "dibs prove --mutants: every mutant is refuted" "$DIBS" prove --mutants ${PROVE:-}

"$DIBS" prove --list --all >"$dir/list"
awk -F '\t' 'NF != 2 || $1 == "" || $2 == "" { print "# " $0; bad = 1 } END { exit bad || NR < 3 }' "$dir/list"
tell $? "dibs prove --list: each row has a command and a mutant"

has_mutants() { # every mutant that is to be built is in the list of mutants
    sed -n 's/.*\tmutant: //p' "$dir/list" | sort -u >"$dir/named"
    sed -n 's/^# //p' tests/mutants.txt | sort -u >"$dir/known"
    [ -z "$(comm -23 "$dir/named" "$dir/known" | tee /dev/stderr)" ]
}
test_that "the mutants that a row names are in tests/mutants.txt" has_mutants

rejects 'no row of the table has these words; "dibs prove --list --all" shows all rows' prove nonsense

echo "1..$number"
