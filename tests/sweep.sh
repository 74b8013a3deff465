#!/bin/sh
# A sweep is the same table for any number of workers, and whether it was interrupted or not.
# Invariant: I12.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

sweep() { # ARGUMENT...
    "$DIBS" sweep all raymond,tree=star --sites 4,9 --rate 0.01..1/3 --seeds 2 --entries 400 --delay uniform:0,2 "$@"
}

sweep --workers 1 >"$dir/one"
sweep --workers 4 >"$dir/four"
cmp "$dir/one" "$dir/four" && [ "$(wc -l <"$dir/one")" -gt 100 ]
tell $? "the number of workers does not matter"

head -c 9999 "$dir/one" >"$dir/cut" # in the middle of a row
sweep --out "$dir/cut" && cmp "$dir/one" "$dir/cut"
tell $? "a sweep that was interrupted is completed"

# A figure that nobody would measure shows that rows which are there are not run again.
sed '5s/^\(.*\),[^,]*$/\1,0.12345/' "$dir/one" >"$dir/kept"
cp "$dir/kept" "$dir/again"
sweep --out "$dir/again" && cmp "$dir/kept" "$dir/again"
tell $? "what is there is not run again"

if command -v mpirun >/dev/null; then
    # A crew of two, of which the first knows what is there already. (What the MPI library leaks is not our concern.)
    head -c 9999 "$dir/one" >"$dir/crew"
    sweep() {
        ASAN_OPTIONS=detect_leaks=0 mpirun --allow-run-as-root --oversubscribe -n 2 "$DIBS" sweep all raymond,tree=star --sites 4,9 --rate 0.01..1/3 \
            --seeds 2 --entries 400 --delay uniform:0,2 "$@" 2>"$dir/err"
    }
    sweep >"$dir/two" && cmp "$dir/one" "$dir/two" && sweep --out "$dir/crew" && cmp "$dir/one" "$dir/crew"
    tell $? "under mpirun it is the same table"
else
    number=$((number + 1))
    echo "ok $number - under mpirun it is the same table # SKIP mpirun is not installed"
fi

! "$DIBS" sweep raymond --closed --out "$dir/one" 2>"$dir/err" && grep -q "one:2: this row is of another sweep" "$dir/err"
tell $? "the table of another sweep is not overwritten"

# Everything that determines the result is part of the key: another matrix of the same size, and so on.
printf '0 1 1\n1 0 1\n1 1 0\n' >"$dir/near"
printf '0 9 9\n9 0 9\n9 9 0\n' >"$dir/far"
cp "$dir/near" "$dir/matrix"
of() { "$DIBS" sweep ricart-agrawala --sites 3 --closed --entries 300 --delay "matrix:$dir/matrix" --out "$dir/matrix.csv"; }
of && cp "$dir/far" "$dir/matrix" && ! of 2>"$dir/err" &&
    grep -q 'matrix.csv:2: this row is of another sweep (delay is "matrix:[0-9a-f]*" there and "matrix:[0-9a-f]*" here); name another file' "$dir/err"
tell $? "another matrix is another sweep"
bad=
while read -r before after; do
    rm -f "$dir/key.csv"
    # shellcheck disable=SC2046 # lists of words
    "$DIBS" sweep ricart-agrawala --sites 4 --entries 300 $(echo "$before" | tr , ' ') --out "$dir/key.csv" &&
        ! "$DIBS" sweep ricart-agrawala --sites 4 --entries 300 $(echo "$after" | tr , ' ') --out "$dir/key.csv" 2>"$dir/err" &&
        grep -q 'this row is of another sweep (' "$dir/err" || bad="$bad $after"
done <<'PAIRS'
--closed --closed,--bound,7
--closed --closed,--order,fifo
--closed --closed,--requesters,3
--closed --closed,--think,3
--closed --closed,--hold,0.1000001
--closed --closed,--warmup,3
--closed --closed,--precision,50%
--closed,--rule,shared --closed,--rule,shared,--readers,0.5
--closed,--rule,group:2 --closed,--rule,group:2,--popularity,1
--rate,0.01 --rate,0.01,--zipf,1
--rate,0.01,--zipf,1 --rate,0.01,--zipf,2
PAIRS
[ -z "$bad" ]
tell $? "so is another value of any option${bad:+; not of}$bad"
again() { "$DIBS" sweep all raymond,tree=star --sites 4,9 --rate 0.01..1/3 --seeds 2 --entries 400 --delay uniform:0,2 --out "$dir/older" >"$dir/out" 2>"$dir/err"; }
version=$("$DIBS" --version | sed 1q | grep -oE '[0-9]+\.[0-9]+\.[0-9]+')
sed "s/,$version,/,0.0.9,/" "$dir/one" >"$dir/older"
! again && grep -qF "version is \"0.0.9\" there and \"$version\" here" "$dir/err"
tell $? "a table of another version is refused"
sed '1s/,order,/,/' "$dir/one" >"$dir/older"
! again && grep -q 'older:1: its columns are not those of dibs' "$dir/err"
tell $? "a table with other columns is refused"

# Every option of dibs sim may have several values.
"$DIBS" sweep raymond --closed --entries 300 --hold 0.1,5 --hold exp:1 --delay const:1 --delay uniform:0,2 --sites 3,5 >"$dir/many" && [ "$(wc -l <"$dir/many")" = 13 ] &&
    grep -q '^raymond,,5,.*"uniform:0,2".*,exp:1,' "$dir/many"
tell $? "every option may have several values"

# What "all" leaves out is said.
"$DIBS" sweep all --closed --entries 300 --delay exp:1 2>"$dir/err" >"$dir/out" &&
    grep -q '^dibs: all leaves out 1 runs of ricart-agrawala-implicit: ricart-agrawala-implicit relies on a bound on delays' "$dir/err" &&
    grep -q '^dibs: all leaves out 1 runs of raymond-k: raymond-k does not know the rule "exclusive"; it knows slots$' "$dir/err" &&
    grep -q '^dibs: all leaves out [0-9]* algorithms with mistakes' "$dir/err"
tell $? "what all leaves out is said"

mkfifo "$dir/pipe" && { cat "$dir/pipe" >"$dir/piped" & } && "$DIBS" sweep raymond --closed --entries 300 --out "$dir/pipe" && wait &&
    "$DIBS" sweep raymond --closed --entries 300 --out - | cmp - "$dir/piped" && ln -s target.csv "$dir/link.csv" &&
    "$DIBS" sweep raymond --closed --entries 300 --out "$dir/link.csv" && [ -L "$dir/link.csv" ] && cmp "$dir/target.csv" "$dir/piped" &&
    "$DIBS" sweep raymond --closed --entries 300 --out "$dir/link.csv" && [ -L "$dir/link.csv" ]
tell $? "the table goes through pipes and links"
echo "1..$number"
