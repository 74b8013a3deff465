#!/bin/sh
# Scripts that shellcheck accepts, and C that is formatted as .clang-format says. Versions of clang-format differ in what
# they make of it, so the check is for that of Debian 12.
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
# shellcheck disable=SC2046 # a list of files
shellcheck $(cat "$dir/scripts") >"$dir/out" 2>&1
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
echo "1..$number"
