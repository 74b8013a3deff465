#!/bin/sh
# However the checker searches, it finds the same. Every line of tests/golden/states.txt that is quick is checked exactly by one
# thread, and again
#
#     by fingerprints    all must be the same: verdict, states, transitions, depth, fault, and the way to a violation
#     by two threads     the same; but which of several violations of equal depth is found may differ
#     reduced            the same verdict as without invariants, and no more states if it holds; where --reduce is possible
#
# Runs without end are left out: for these the checker needs the states, and one thread.
cd "$(dirname "$0")/.." || exit 2

few=40000
[ "$MODE" = release ] || few=2000

# All of a report that must not depend on how it was found; and the part of it that may not even if it is a violation.
facts() { # CHECK-ARGUMENT...
    "$DIBS" check "$@" --format json | grep -vE '"(mode|omission|seconds|memory)"'
}

figure() { # KEY: its value in the JSON on stdin
    sed -n "s/^ *\"$1\": \"*\([^\",]*\)\"*,*\$/\1/p"
}

figures() { # reads facts
    facts=$(cat)
    echo "$facts" | grep '"depth"'
    case $facts in
    *'"holds"'*) echo "$facts" | grep -E '"(verdict|states|transitions|overtaken)"' ;;
    *) echo "a violation" ;;
    esac
}

reduced_agrees() { # CHECK-ARGUMENT...
    reduced=$("$DIBS" check "$@" --reduce --format json 2>&1)
    case $reduced in *"--reduce keeps exclusion"*) return 0 ;; esac
    plain=$("$DIBS" check "$@" --plain --format json)
    [ "$(echo "$plain" | figure verdict)" = "$(echo "$reduced" | figure verdict)" ] || return 1
    [ "$(echo "$plain" | figure verdict)" != holds ] ||
        [ "$(echo "$reduced" | figure states)" -le "$(echo "$plain" | figure states)" ]
}

differs() { # NUMBER NAME WHAT
    printf 'not ok %s - %s\n# %s\n' "$1" "$2" "$3"
}

check_line() { # NUMBER CHECK-ARGUMENT...
    number=$1
    shift
    exact=$(facts "$@")
    if [ -z "$exact" ]; then
        differs "$number" "$*" "the checker says nothing"
    elif [ "$exact" != "$(facts "$@" --fingerprints)" ]; then
        differs "$number" "$*" "by fingerprints it finds something else"
    elif [ "$(echo "$exact" | figures)" != "$(facts "$@" --threads 2 | figures)" ]; then
        differs "$number" "$*" "with two threads it finds something else"
    elif ! reduced_agrees "$@"; then
        differs "$number" "$*" "reduced, it finds something else"
    else
        echo "ok $number - $*"
    fi
}

# Golden lines as arguments of dibs check.
arguments() {
    awk -v few=$few '/^[a-z]/ && $4 !~ /unlimited/ && $6 <= few {
        line = $1 " --rule " $2 " --sites " substr($3, 3) " --requests " substr($4, 10) " --order " $5
        for (k = 8; k <= NF; k++) {
            if ($k ~ /^(set|without|lose|duplicate|crash|restart|resume|cut|join|leave|in-flight)$/)
                line = line " --" $k " " $(k + 1)
            if ($k == "overtaken")
                line = line " --overtakes 200"
        }
        print ++lines, line
    }' tests/golden/states.txt
}

if [ $# -gt 0 ]; then
    check_line "$@"
else
    echo "1..$(arguments | wc -l)"
    arguments | xargs -P "$(nproc)" -L 1 "$0"
fi
