#!/bin/sh
# Every broken checker of tests/checker.txt is noticed: by tests/test_checker.c or test_canon.c, or because it reports something else than the
# right one, whose report is written there.
cd "$(dirname "$0")/.." || exit 2

if [ "$MODE" != release ]; then
    echo "ok 1 - broken checkers are noticed # SKIP it is the checker that is tested, not its memory"
    echo "1..1"
    exit 0
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
number=0
tests=build/release/tests
for test in test_checker test_canon; do
    [ -e $tests/$test.o ] || make -s $tests/$test
done

# The right objects but for this one, and the broken one: as a test, and as dibs.
compile() { # FILE SED
    sed -e "$2" "$1" >"$dir/mutant.c"
    if cmp -s "$1" "$dir/mutant.c"; then
        echo "# the sed command changes nothing in $1"
        return 1
    fi
    ${CC:-cc} -std=c11 -O1 -D_GNU_SOURCE -Isrc -I"$(dirname "$1")" -c -o "$dir/mutant.o" "$dir/mutant.c"
}

objects() { # FILE FOLDER...: all but that of the file
    right=build/release/${1%.c}.o
    shift
    find "$@" -name '*.o' ! -path "$right" ! -path '*/core/*' ! -path '*/alg/*'
}

test_fails() { # FILE TEST
    # shellcheck disable=SC2046 # a list of words
    ${CC:-cc} -pthread -o "$dir/test" "$tests/$2.o" $(objects "$1" build/release/src/check build/release/src/lab build/release/src/base) \
        "$dir/mutant.o" build/release/libdme.a -lcmocka -lm || return 1
    ! timeout 60 "$dir/test" >"$dir/said" 2>&1
}

report() { # DIBS CHECK-ARGUMENT...
    program=$1
    shift
    timeout 60 "$program" check "$@" --format json |
        grep -E '"(verdict|states|transitions|depth|fault|overtaken|messages_max|victim|omission)"'
}

differs() { # FILE VERDICT STATES CHECK-ARGUMENT...
    file=$1 verdict=$2 states=$3
    shift 3
    # shellcheck disable=SC2046,SC2086 # lists of words
    ${CC:-cc} -pthread -o "$dir/dibs" $(objects "$file" build/release/src) "$dir/mutant.o" build/release/libdme.a \
        ${LDLIBS:--lm} || return 1
    right=$(report "$DIBS" "$@")
    echo "$right" | tr -d ' ",\n' | grep -q "verdict:${verdict}states:${states}transitions" ||
        { echo "# dibs check $* says $(echo "$right" | tr -d '\n')" && return 1; }
    [ "$(report "$dir/dibs" "$@")" != "$right" ]
}

try_one() { # NAME FILE SED CATCHER...
    number=$((number + 1))
    name=$1 file=$2 sed=$3
    shift 3
    if compile "$file" "$sed" && case $1 in test_*) test_fails "$file" "$1" ;; *) differs "$file" "$@" ;; esac; then
        echo "ok $number - $name: noticed"
    else
        echo "not ok $number - $name: noticed"
    fi
}

# A block ends with an empty line: its comment, its file, its sed lines, what notices it.
name='' file='' sed='' last=''
while IFS= read -r line; do
    case $line in
    '')
        # shellcheck disable=SC2086 # what notices it is words
        [ -z "$last" ] || try_one "$name" "$file" "$sed" $last
        name='' file='' sed='' last=''
        ;;
    '# '* | '#') name=${line#\# } ;;
    src/*) file=$line ;;
    *)
        [ -z "$last" ] || sed="$sed${sed:+
}$last"
        last=$line
        ;;
    esac
done <tests/checker.txt
echo "1..$number"
