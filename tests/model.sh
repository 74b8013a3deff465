#!/bin/sh
# All runs of the model of views and leases (dibs model): the property holds; each part of the protocol that is left out is
# found, and so is each mistake in the daemon's own functions that the model calls (tests/model.txt).
# Invariants: I18, I28.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if [ "$MODE" != release ]; then
    echo "ok 1 - all runs of the model # SKIP it is the protocol that is searched, not its memory"
    exit 0
fi

holds() { # STATES OPTION...
    states=$1
    shift
    "$DIBS" model leases "$@" --format json >"$dir/out" && grep -q "\"states\": $states," "$dir/out"
    tell $? "no two clients believe in a lock: dibs model leases $*, $states states"
}
holds 3216 --members 2
holds 209274 --calm
if [ -n "${MODEL_LONG-}" ]; then
    holds 1246499
    holds 4151654 --founders 1 --roster --calm
fi
rm -f "$dir/out"

"$DIBS" model mistakes >"$dir/said"
tell $? "every part of the protocol that is left out is found"
sed 's/^/# /' "$dir/said"

"$DIBS" model leases --mistake unsettled >"$dir/said"
[ $? = 1 ] && grep -q '^  round 0 .* bee has dropped ant, and reports that it owes it nothing$' "$dir/said" &&
    grep -q '^VIOLATED: two clients believe' "$dir/said"
tell $? "a counterexample is a story"

rejects 'unknown model "lease"; did you mean "leases"? (dibs model --help lists them)' model lease
rejects 'model leases: there are more founders than members' model leases --founders 4

while read -r line; do
    case $line in
    '# I'*) name=${line#\# } ;;
    src/*) file=$line ;;
    s*) sed=$line ;;
    --*)
        # shellcheck disable=SC2086 # a list of words
        plant "$file" "$sed" && { "$dir/dibs" model leases $line >"$dir/said"; [ $? = 1 ]; }
        tell $? "found: $name"
        sed -n 's/^VIOLATED/# found/p' "$dir/said"
        ;;
    esac
done <tests/model.txt
echo "1..$number"
