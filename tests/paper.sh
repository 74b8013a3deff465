#!/bin/sh
# Every published claim is tested, in runs of a twentieth of the length. The verdict on every row is the one in
# tests/golden/papers.txt (NAME | ROW | VERDICT), the list of claims is docs/papers.md, nothing differs, and every command
# that docs/papers.md prints finds what the list says.
#
#     tests/paper.sh --update      writes both files again, to be read before they are committed
#
# With PAPER_LENGTH set to nothing the runs have their full length: the verdicts are the same.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

# shellcheck disable=SC2086 # a list of words
"$DIBS" paper all ${PAPER_LENGTH---quick} --format json --claims "$dir/claims" >"$dir/said" 2>"$dir/err"
status=$?
python3 tests/paper.py verdicts "$dir/said" >"$dir/verdicts"
if [ "${1:-}" = --update ]; then
    cp "$dir/verdicts" tests/golden/papers.txt
    cp "$dir/claims" docs/papers.md
fi
[ $status = 0 ]
tell $? "dibs paper all: nothing differs"
diff tests/golden/papers.txt "$dir/verdicts" >"$dir/out"
tell $? "the verdicts are those of tests/golden/papers.txt"
diff docs/papers.md "$dir/claims" >"$dir/out"
tell $? "docs/papers.md is the list of claims"
python3 tests/paper.py reasons "$dir/said" >"$dir/out" && ! grep -q '| in error |' "$dir/claims"
tell $? "whatever is in error cites the claim and says why"
if [ "$MODE" = release ]; then # other suites run the same commands under sanitizers
    python3 tests/paper.py commands "$dir/said" docs/papers.md "$DIBS" "$([ -n "${PAPER_LENGTH---quick}" ] || echo full)" >"$dir/out"
    tell $? "every command that docs/papers.md prints finds what the list says"
fi
"$DIBS" paper lamport --quick >"$dir/out"
[ "$(grep -c '^  In error: ' "$dir/out")" = 1 ]
tell $? "dibs paper prints each claim that is in error"
echo "1..$number"
