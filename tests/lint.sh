#!/bin/sh
# Scripts that shellcheck accepts, C that is formatted as .clang-format says (versions of clang-format differ in what they make of
# it, so the check is for that of Debian 12), files that are short enough for one idea, and a changelog of releases.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if [ "$MODE" != release ]; then
    echo "ok 1 - lint # SKIP the files are the same in every mode"
    echo "1..1"
    exit
fi

find . -path ./build -prune -o -path ./.git -prune -o -type f -print | while read -r file; do
    head -n 1 "$file" | grep -aqE '^#!.*/(env )?(ba)?sh$' && echo "$file"
done | sort >"$dir/scripts"
[ "$(wc -l <"$dir/scripts")" -gt 30 ]
tell $? "there are scripts to check"
# "[ ... ]" and then "tell $?" is how these suites tell the result of a condition: newer versions of shellcheck warn of it (SC2319).
# shellcheck disable=SC2046 # a list of files
shellcheck -e SC2319 $(cat "$dir/scripts") >"$dir/out" 2>&1
tell $? "shellcheck has nothing to say about the scripts"
rm -f "$dir/out"
printf '#!/bin/sh\nrm -rf $1/$2\n' >"$dir/bad"
! shellcheck "$dir/bad" >/dev/null
tell $? "shellcheck finds a missing quotation mark"

if clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
    # shellcheck disable=SC2046 # a list of files
    clang-format --dry-run --Werror $(find src include tests bench examples -name '*.[ch]') >"$dir/out" 2>&1
    status=$?
    sed -i '/error: code should be clang-formatted/!d' "$dir/out"
    tell $status "C is formatted as .clang-format says (make fmt)"
else
    number=$((number + 1))
    echo "ok $number - C is formatted as .clang-format says # SKIP this is not clang-format 14"
fi

# src/lab/explained.c is made by docs/make-explain.
find src include tests bench examples -name '*.[ch]' ! -path src/lab/explained.c -exec wc -l {} + |
    awk '$2 != "total" && $1 > 800 { print "# " $2 " has " $1 " lines: split it by idea" }' >"$dir/out"
[ ! -s "$dir/out" ]
tell $? "no file of C has more than 800 lines"
rm -f "$dir/out"

# Suites by the names that ./run test takes.
suites=$(sed -n '/^suites=/,/"$/p' tests/coverage | tr -d '\\"' | sed 's/^suites=//' | tr '\n' ' ')
for file in tests/test_*.c tests/fuzz_*.c; do
    suite=$(basename "$file" .c)
    grep -qE '^#include "((client|command|link|lock|member|node|protocol|relay|rights|serve|step|wrap)/|[a-z_]*(cluster|agreed|agreement|conversation|three|members)\.h)' "$file" || continue
    case " $suites " in *" $suite "* | *" ${suite#test_} "*) ;; *) echo "# tests/coverage does not run $suite" ;; esac
done >"$dir/out"
[ ! -s "$dir/out" ]
tell $? "tests/coverage runs each test of the service that is written in C"
rm -f "$dir/out"

# "## VERSION (YYYY-MM-DD)", the newest first: the version of the program, which may be "(unreleased)".
version=$("$DIBS" --version | sed 1q | grep -oE '[0-9]+\.[0-9]+\.[0-9]+')
grep '^## ' CHANGELOG.md >"$dir/releases"
sed -n 1p "$dir/releases" | grep -qE "^## $version \((unreleased|[0-9]{4}-[0-9]{2}-[0-9]{2})\)$" &&
    ! sed 1d "$dir/releases" | grep -qvE '^## [0-9]+\.[0-9]+\.[0-9]+ \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$'
tell $? "the changelog begins with the version of the program, and every other release has a date"
echo "1..$number"
