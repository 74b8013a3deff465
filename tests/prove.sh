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

rows_are_proved() {
    # shellcheck disable=SC2086 # PROVE is empty, or an option: tests/nightly
    "$DIBS" prove ${PROVE:-} >"$dir/proved"
}
test_that "dibs prove: every row is proved, with its figure" rows_are_proved

page_agrees() { # docs/proofs.md has these rows, but for the time, and the text of docs/make-proofs
    for page in "$dir/proved" docs/proofs.md; do
        sed -n 's/^\(| .*\) | [0-9.]* s | proved | /\1 | proved | /p' "$page" | sort >"$dir/rows.$(basename "$page" .md)"
    done
    sed -n "/^cat <<'TEXT'\$/,/^TEXT\$/p" docs/make-proofs | grep -vx -e "cat <<'TEXT'" -e TEXT | grep . >"$dir/text"
    grep -v '^|' docs/proofs.md | grep -vxF -f "$dir/proved" | grep . >"$dir/text.proofs" # without what dibs prove prints
    [ -s "$dir/rows.proved" ] && [ -z "$(comm -23 "$dir/rows.proved" "$dir/rows.proofs" | tee /dev/stderr)" ] &&
        grep -v '^|' "$dir/text" | cmp -s - "$dir/text.proofs"
}
test_that "docs/proofs.md has the rows that dibs prove prints, and the text of docs/make-proofs" page_agrees

# shellcheck disable=SC2086
test_that "dibs prove --mutants: every mutant is refuted" "$DIBS" prove --mutants ${PROVE:-}

"$DIBS" prove --list --all >"$dir/list"
awk -F '\t' 'NF != 2 || $1 == "" || $2 == "" { print "# " $0; bad = 1 } END { exit bad || NR < 3 }' "$dir/list"
tell $? "dibs prove --list: each row has a command and a mutant"

same_bounds() { # of a model: its mutant is the row's command, with a mistake; a bound that has another default then is said
    grep '^model ' "$dir/list" | awk -F '\t' '
        function lacks(word) { return index($2 " ", " " word " ") == 0 }
        index($2, $1 " --") != 1 || $2 !~ / --mistake [a-z-]+$/ { print "# " $0; bad = 1 }
        /^model leases/ && lacks("--lease 1") && lacks("--clocks") { print "# " $0; bad = 1 }
        /^model sessions/ && ($2 !~ / --members / || $2 !~ / --(views|lost) /) { print "# " $0; bad = 1 }
        END { exit bad || NR < 5 }'
}
test_that "a mutant of a model is searched within the bounds of its row" same_bounds

interrupted() { # OPTION... of timeout. Ctrl-C at a terminal goes to the commands of the rows, too; with --foreground, to dibs prove alone
    for seconds in 1 5; do
        timeout "$@" --preserve-status -s INT $seconds "$DIBS" prove any >"$dir/some"
        [ $? = 3 ] && grep -q '| interrupted | `dibs ' "$dir/some" && ! grep -q 'NOT PROVED' "$dir/some" && return 0
    done
    return 1
}
test_that "Ctrl-C ends it with the rows that were proved" interrupted
test_that "so does a signal to it alone" interrupted --foreground

has_mutants() { # every mutant that is to be built is in the list of mutants
    sed -n 's/.*\tmutant: //p' "$dir/list" | sort -u >"$dir/named"
    sed -n 's/^# //p' tests/mutants.txt | sort -u >"$dir/known"
    [ -z "$(comm -23 "$dir/named" "$dir/known" | tee /dev/stderr)" ]
}
test_that "the mutants that a row names are in tests/mutants.txt" has_mutants

page_has_all() { # docs/proofs.md has a line for each row, with its command, and no other
    cut -f 1 "$dir/list" | sed 's/^/dibs /' | sort >"$dir/rows"
    sed -n 's/^    X(\(.*\)).*/\1/p' src/alg/list.h | grep -vxF -f tests/prove/open.txt | tr _ - | sed 's/^/.\/run prove /' >>"$dir/rows"
    printf './run prove %s\n' wire resp rights conf >>"$dir/rows"
    sed -n 's/.*| proved | `\(.*\)` |$/\1/p' docs/proofs.md | sort >"$dir/lines"
    sort "$dir/rows" | diff - "$dir/lines" | sed 's/^/# /'
    sort "$dir/rows" | cmp -s - "$dir/lines"
}
test_that "docs/proofs.md has a line for each row and for each proof of memory safety, and no other" page_has_all

test_that "tests/prove/run: every row has a mutant that Frama-C is to find, and every mutant changes its file" tests/prove/run --list

rejects 'no row of the table has these words; "dibs prove --list --all" shows all rows' prove nonsense

echo "1..$number"
