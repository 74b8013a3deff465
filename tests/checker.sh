#!/bin/sh
# Every broken checker of tests/checker.txt is noticed: by a test program that is named there, or because it reports something else than the
# right one, whose report is written there.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if [ "$MODE" != release ]; then
    echo "ok 1 - broken checkers are noticed # SKIP it is the checker that is tested, not its memory"
    echo "1..1"
    exit 0
fi

tests=build/release/tests
grep '^test_' tests/checker.txt | sort -u | while read -r test; do
    [ -e "$tests/$test.o" ] || make -s "$tests/$test" </dev/null
done

test_fails() { # FILE SED TEST
    plant_object "$1" "$2" -O1 && link_planted "$dir/test" "$tests/$3.o" -lcmocka || return 1
    ! timeout 60 "$dir/test" >"$dir/said" 2>&1
}

report() { # DIBS CHECK-ARGUMENT...
    program=$1
    shift
    timeout 60 "$program" check "$@" --format json |
        grep -vE '"(seconds|memory|steps)"'
}

differs() { # FILE SED VERDICT STATES CHECK-ARGUMENT...
    verdict=$3 states=$4
    plant "$1" "$2" || return 1
    shift 4
    right=$(report "$DIBS" "$@")
    echo "$right" | tr -d ' ",\n' | grep -qE "verdict:${verdict}states:$states(runs:[0-9]+)?transitions" ||
        { echo "# dibs check $* says $(echo "$right" | tr -d '\n')" && return 1; }
    [ "$(report "$dir/dibs" "$@")" != "$right" ]
}

try_one() { # NAME FILE SED CATCHER...
    name=$1
    shift
    case $3 in test_*) test_fails "$@" ;; *) differs "$@" ;; esac
    tell $? "$name: noticed"
}

each_planted try_one <tests/checker.txt
test_that "tests/mutate.txt explains only mutants that there are" tests/mutate.py --list
echo "1..$number"
