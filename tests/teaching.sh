#!/bin/sh
# docs/scenarios.md describes every command of the language, and its example plays; every command of docs/teaching.md does what is
# said there: status 0, or 1 where a comment says "status 1".
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

sed -n '/^```scenario$/,/^```$/p' docs/scenarios.md | sed '/^```/d' >"$dir/example.txt"
[ -s "$dir/example.txt" ] && "$DIBS" scenario "$dir/example.txt" >"$dir/out"
tell $? "the example of docs/scenarios.md plays as it is printed"
sed -n 's/^    {"[a-z]*", "\([^"]*\)", [0-9].*play_.*/\1/p' src/lab/scenario.c | while read -r command rest; do
    grep -q "\`${command}[ \`]" docs/scenarios.md || echo "$command $rest"
done >"$dir/out"
[ ! -s "$dir/out" ] && [ "$(grep -c 'play_[a-z]*},$' src/lab/scenario.c)" -ge 22 ]
tell $? "every command of the language is described"

PATH=$(dirname "$DIBS"):$PATH
sed -n 's/^      *\(\(printf .*| \)\{0,1\}dibs .*\)/\1/p' docs/teaching.md >"$dir/commands"
while read -r command; do
    expected=0
    case $command in *'# status 1'*) expected=1 ;; esac
    (eval "$command") >"$dir/said" 2>&1 </dev/null
    status=$?
    [ $status = $expected ] || echo "$command: status $status: $(tail -1 "$dir/said")"
done <"$dir/commands" >"$dir/out"
[ ! -s "$dir/out" ] && [ "$(wc -l <"$dir/commands")" -ge 20 ]
tell $? "every command of docs/teaching.md does what is said there"
echo "1..$number"
