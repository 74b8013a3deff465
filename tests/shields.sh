#!/bin/sh
# Every way around a defect of libraft, and every check of what peers say to it, is needed: without it, a test fails. See
# tests/shields.txt, and docs/dependencies.md.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if [ "$MODE" != release ]; then
    echo "ok 1 - every shield is needed # SKIP it is the tests that are tested, not their memory"
    echo "1..1"
    exit 0
fi

# Everything with the address sanitizer: what it sees, nobody has to crash for.
sanitized="-O1 -g -fsanitize=address -Itests"
compile() { # FILE TO
    # shellcheck disable=SC2086 # a list of words
    ${CC:-cc} -std=c11 -D_GNU_SOURCE $includes $sanitized -c -o "$2" "$1"
}

for file in src/member/agree*.c src/member/journal.c src/member/view.c src/member/settings.c src/base/plain.c src/base/bytes.c src/base/memory.c tests/test_agree*.c; do
    compile "$file" "$dir/$(basename "$file" .c).o" || exit 2
done

some_test_fails() { # FILE: with its planted object in the place of the real one
    rest=$(find "$dir" -name '*.o' ! -name "$(basename "$1" .c).o" ! -name 'test_*')
    for test in test_agree_shield test_agree test_agree_library; do
        # shellcheck disable=SC2086 # a list of words
        ${CC:-cc} -fsanitize=address -o "$dir/test" "$dir/$test.o" $rest build/release/libdme.a ${LDLIBS:--lraft} -lcmocka || return 1
        if ! ASAN_OPTIONS=detect_leaks=0 timeout 300 "$dir/test" >"$dir/said" 2>&1; then
            sed -n 's/^not ok [0-9]* - /# /p; s/^==.*ERROR: AddressSanitizer: \([^ ]*\).*/# \1/p' "$dir/said" | head -n 3
            return 0
        fi
    done
    return 1
}

take_away() { # NAME FILE SED
    # shellcheck disable=SC2086 # a list of words
    plant_object "$2" "$3" $sanitized && some_test_fails "$2"
    tell $? "needed: $1"
}

while read -r line; do
    case $line in
    '#'*) name=${line#\# } ;;
    src/*)
        file=$line
        read -r sed
        take_away "$name" "$file" "$sed"
        ;;
    esac
done <tests/shields.txt

echo "1..$number"
