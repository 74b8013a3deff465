#!/bin/sh
# Every published claim is tested, in runs of a twentieth of the length. The verdict on every row is the one in
# tests/golden/papers.txt (NAME | ROW | VERDICT), the list of claims is docs/papers.md, and nothing differs.
#
#     tests/paper.sh --update      writes both files again, to be read before they are committed
#
# With PAPER_LENGTH set to nothing the runs have their full length: the verdicts are the same.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

verdicts() { # of the text on stdin
    awk '/^[a-z][a-z0-9.-]*: / { name = $1; sub(/:$/, "", name) }
         /^    .*(not tested|shown|ours|agrees|in error|differs)$/ {
             row = substr($0, 5, 56); sub(/ *$/, "", row)
             verdict = $0; sub(/.*  +/, "", verdict)
             print name " | " row " | " verdict
         }
         /^  Verdict: / { sub(/^  /, ""); print name " | " $0 }'
}

# shellcheck disable=SC2086 # a list of words
"$DIBS" paper all ${PAPER_LENGTH---quick} --claims "$dir/claims" >"$dir/said" 2>"$dir/err"
status=$?
verdicts <"$dir/said" >"$dir/verdicts"
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
# shellcheck disable=SC2016 # backquotes of Markdown
missing=$(sed -n 's|.*`dibs scenario \(tests/scenario/[^`]*\)`.*|\1|p' docs/papers.md | while read -r file; do
    [ -e "$file" ] || echo "$file"
done)
[ -z "$missing" ]
tell $? "every scenario that docs/papers.md names is there"
[ "$(grep -c '^  In error: ' "$dir/said")" = "$(grep -c '| in error: ' "$dir/claims")" ] &&
    ! grep -q '| in error |' "$dir/claims"
tell $? "whatever is in error cites the claim and says why"
echo "1..$number"
