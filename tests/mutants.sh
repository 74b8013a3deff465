#!/bin/sh
# Every mutant of tests/mutants.txt is caught by the checker, with the verdict that is written there; also with unlimited
# requests, where canonical forms make that possible.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if [ "$MODE" != release ]; then
    echo "ok 1 - the mutants are caught # SKIP it is the checker that is tested, not its memory"
    echo "1..1"
    exit 0
fi

verdict_of() { # DIBS CHECK-ARGUMENT...
    program=$1
    shift
    "$program" check "$@" --format json 2>/dev/null | sed -n 's/^ *"verdict": "\(.*\)",*/\1/p'
}

# Where states have canonical forms: any number of requests shows the mutant, too. The form hides nothing.
is_found_without_limit() { # CHECK-ARGUMENT...
    case " $* " in *' --requests '* | *modulus=*) return 0 ;; esac
    "$DIBS" check "$@" --requests unlimited --states 10 --format json 2>/dev/null | grep -q '"canonical": true' || return 0
    said=$(verdict_of "$dir/dibs" "$@" --requests unlimited --states 300k)
    [ "$said" = "$verdict" ]
}

# Rows of `dibs prove` that name this mutant: their commands fail with it.
refutes_proofs() { # NAME
    "$DIBS" prove --list --all | awk -F '\t' -v mutant="mutant: $1" '$2 == mutant { print $1 }' >"$dir/commands"
    while read -r command; do
        # shellcheck disable=SC2086 # a list of words
        "$dir/dibs" $command >/dev/null 2>&1 </dev/null
        [ $? = 1 ] || { echo "# with this mutant \"dibs $command\" does not fail" && return 1; }
    done <"$dir/commands"
}

check_mutant() { # NAME FILE SED VERDICT ARGUMENT...
    name=$1 verdict=$4 said=nothing
    plant "$2" "$3" && shift 4 && said=$(verdict_of "$dir/dibs" "$@")
    [ "$said" = "$verdict" ] && is_found_without_limit "$@" && refutes_proofs "$name"
    found=$?
    [ $found = 0 ] || echo "# dibs check $* said $said"
    tell $found "$name: $verdict"
}

each_planted check_mutant <tests/mutants.txt
echo "1..$number"
