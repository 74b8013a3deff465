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

# A dibs with the mutant in the place of the real file: a name that the program finds in it is not looked up in the
# library any more.
build_mutant() { # FILE SED
    sed -e "$2" "$1" >"$dir/mutant.c"
    if cmp -s "$1" "$dir/mutant.c"; then
        echo "# the sed command changes nothing in $1"
        return 1
    fi
    # shellcheck disable=SC2046,SC2086 # lists of words
    ${CC:-cc} -std=c11 -O1 -D_GNU_SOURCE -Isrc -I"$(dirname "$1")" -c -o "$dir/mutant.o" "$dir/mutant.c" &&
        ${CC:-cc} -pthread -o "$dir/dibs" \
            $(program_objects) \
            "$dir/mutant.o" build/release/libdme.a ${LDLIBS:--lm}
}

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
    number=$((number + 1))
    name=$1 file=$2 sed=$3 verdict=$4
    shift 4
    said=nothing
    build_mutant "$file" "$sed" && said=$(verdict_of "$dir/dibs" "$@")
    if [ "$said" = "$verdict" ] && is_found_without_limit "$@" && refutes_proofs "$name"; then
        echo "ok $number - $name: $verdict"
    else
        echo "# dibs check $* said $said"
        echo "not ok $number - $name: $verdict"
    fi
}

# A block ends with an empty line: its comment, its file, its sed lines, its verdict.
name='' file='' sed='' last=''
while IFS= read -r line; do
    case $line in
    '')
        # shellcheck disable=SC2086 # the verdict and the arguments are words
        [ -z "$last" ] || check_mutant "$name" "$file" "$sed" $last
        name='' file='' sed='' last=''
        ;;
    '# '*) name=${line#\# } ;;
    '#') ;;
    src/*) file=$line ;;
    *)
        [ -z "$last" ] || sed="$sed${sed:+
}$last"
        last=$line
        ;;
    esac
done <<END
$(cat tests/mutants.txt)

END
echo "1..$number"
