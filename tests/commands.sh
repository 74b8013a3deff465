#!/bin/sh
# Every command in the documents is executed, or tests/commands.txt says by which other test, or why not: see commands.py. With
# COMMANDS=all (tests/nightly) also those that take minutes.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if [ "$MODE" != release ]; then
    echo "ok 1 - commands of the documents # SKIP each has a test of its own that runs in every mode"
    echo "1..1"
    exit
fi

take_ports
find . -name '*.md' -not -path './build/*' -not -path './.git/*' -not -path '*/node_modules/*' -not -name CHANGELOG.md | sed 's|^\./||' | sort >"$dir/documents"
# shellcheck disable=SC2046 # a list of files
python3 tests/commands.py "$DIBS" "$dir" "$base" $(cat "$dir/documents") >"$dir/tap" 2>"$dir/count" &
started=$!
wait $started
status=$?
started=
cat "$dir/tap"
number=$(grep -cE '^(not )?ok ' "$dir/tap")
[ $status = 0 ] && [ "$number" -gt 100 ]
tell $? "all documents were read: $(cat "$dir/count")"

# What the README's own blocks print.
grep -Eq '^lock backup, fencing token [0-9]+$' "$dir/said.README.md" && grep -q '^at most four at once' "$dir/said.README.md"
tell $? "README.md: the commands run under their locks"
grep -E '^(ant|bee) [0-9]+$' "$dir/said.README.md" >"$dir/notes"
[ "$(wc -l <"$dir/notes")" = 6 ] && sort -n -k 2 "$dir/notes" | cmp -s - "$dir/notes"
tell $? "README.md: a later holder has a larger fencing token"

# The test can fail: a document with a command in neither list, one that fails, a wrong output, a wrong option, a wrong figure.
cat >"$dir/bad.md" <<'END'
`bench/service` and `dibs lock NAME --no-such-option` are wrong.

```console
$ dibs list central
no such line
$ dibs scenario no-such-file
```

| command | states |
|---|---|
| `dibs check central --sites 2` | 12345 |
END
mkdir "$dir/bad"
COMMANDS_SOME=1 python3 tests/commands.py "$DIBS" "$dir/bad" "$base" "$dir/bad.md" >"$dir/tap" 2>&1
[ "$(grep -c '^not ok' "$dir/tap")" = 4 ]
tell $? "a wrong option, output, command or figure is found"
echo "1..$number"
