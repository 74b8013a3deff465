#!/bin/sh
# A sweep is the same table for any number of workers, and whether it was interrupted or not.
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
echo "1..$number"
