#!/bin/sh
# dibs play: steps by hand, without a terminal, by line, and on one, by keys (tests/play.py).
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

play() { # COMMANDS WORD...: the last screen
    commands=$1
    shift
    # shellcheck disable=SC2059 # commands apart by \n
    printf "$commands" | "$DIBS" play "$@" --save "$dir/saved.txt" >"$dir/out" 2>"$dir/err" &&
        awk -v RS= '{ last = $0 } END { print last }' "$dir/out" >"$dir/last"
}

play '' suzuki-kasami && grep -q 'no move yet' "$dir/out" && grep -q '   1  request 0' "$dir/out"
tell $? "the moves that are possible are numbered"
play '2\n1\n2\n' suzuki-kasami && grep -q '^\* 1 inside: ' "$dir/out" && grep -q '3  1 <- 0 TOKEN LN=\[0,0,0\] Q=\[\]  ENTERS' "$dir/out"
tell $? "a number makes a move, and what has changed is marked"
play '2\n1\nb\nb\nf\n' suzuki-kasami && tail -12 "$dir/out" >"$dir/last" && grep -q 'move 1 of 2' "$dir/out"
tell $? "back, back and forward"
play 'b\nf\n77\nx\n' raymond && grep -q 'this is the beginning' "$dir/out" && grep -q 'no move was taken back' "$dir/out" &&
    grep -q 'no such move' "$dir/out" && grep -q 'commands: a number' "$dir/out"
tell $? "what cannot be done is said"

for name in $("$DIBS" list | sed -n 's/^\([a-z][a-z0-9-]*\) .*/\1/p'); do
    rm -f "$dir/saved.txt"
    play 'e\ne\nr\ne\ns\nq\n' "$name" && grep -q ENTERS "$dir/out" && "$DIBS" scenario "$dir/saved.txt" >/dev/null &&
        ! grep -q 'no site has entered' "$dir/out"
    [ $? = 0 ] || echo "$name"
done >"$dir/failed"
cp "$dir/failed" "$dir/out"
[ ! -s "$dir/failed" ]
tell $? "every algorithm can be played until sites enter, and saved as a scenario that plays"

play 'e\ne\ne\ne\ne\ne\ne\ne\ne\ne\ne\ne\ne\ne\ne\ne\n' carvalho-roucairol-as-retold --set mistake=empty-array --sites 2 &&
    grep -q 'mutual exclusion is violated\|CR1' "$dir/out"
tell $? "a violation is shown when it happens"
play 'f\nf\nf\nf\n' tests/scenario/maekawa.txt && grep -q 'maekawa, .* move 4 of ' "$dir/out"
tell $? "a scenario is stepped through"
play 'f\nf\ns\n' tests/scenario/lamport.txt && "$DIBS" scenario "$dir/saved.txt" >/dev/null
tell $? "and its beginning saved"
rejects 'no algorithm or scenario is named (usage: dibs play (ALGORITHM | SCENARIO.txt) [OPTION...])' play
rejects 'unknown algorithm "suzuki"; did you mean "suzuki-kasami"? (dibs list shows all)' play suzuki

python3 tests/play.py "$DIBS" "$dir" >"$dir/terminal"
cp "$dir/terminal" "$dir/out"
[ "$(grep -c '^ok' "$dir/terminal")" = 16 ] && ! grep -q '^not ok' "$dir/terminal"
tell $? "on a terminal: arrow keys, its size, save, quit; signals leave it in order"
"$DIBS" scenario "$dir/mine.txt" >"$dir/out"
tell $? "what was saved there plays"
echo "1..$number"
