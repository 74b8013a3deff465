#!/bin/sh
# Every #include of src follows the table of layers in ARCHITECTURE.md, the only place that says which folder may use
# which; no two structs or functions of src have the same name; and every invariant of ARCHITECTURE.md is cited by number
# in src and in the tests that its row names.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

# "folder folder": what may include what. A row is | `src/node` | base, core | .. |; "include" is the public header.
sed -n 's/^| `src\/\([a-z]*\)` | \([^|]*\) |.*/\1 \2/p' ARCHITECTURE.md | tr ',' ' ' |
    awk '{ for (k = 2; k <= NF; k++) print $1, $k; if (NF < 2) print $1, "-" }' >"$dir/allowed"
[ "$(wc -l <"$dir/allowed")" -gt 20 ]
tell $? "ARCHITECTURE.md has a table of layers"

for folder in src/*/; do
    folder=$(basename "$folder")
    grep -q "^$folder " "$dir/allowed" || echo "# $folder has no row"
done >"$dir/out"
[ ! -s "$dir/out" ]
tell $? "every folder of src has a row"
rm -f "$dir/out"

# A README has the model and the terms before the table of files, and names each file of C.
unnamed() { # DIRECTORY
    for path in "$1"/*/; do
        readme=${path}README.md
        [ -f "$readme" ] || { echo "# $path has no README" && continue; }
        for file in "$path"*.[ch]; do
            grep -qwE "$(basename "${file%.[ch]}")(\.[ch])?" "$readme" || echo "# $readme does not name $(basename "$file")"
        done
    done
}
unnamed src >"$dir/out"
[ ! -s "$dir/out" ]
tell $? "every folder of src has a README that names each of its files"
rm -f "$dir/out"

# Are the layers in an order, or does a folder use itself through others?
grep -v ' -$' "$dir/allowed" | tsort >/dev/null 2>"$dir/out"
tell $? "no folder uses itself through others"
rm -f "$dir/out"

# file:line folder of each include that names another folder, or a header that is not beside the file.
includes() { # DIRECTORY
    (cd "$1" && grep -n '^ *# *include *"' -r . --include='*.[ch]') |
        sed -n 's/^\.\/\([a-z]*\)\/\([^:]*\):\([0-9]*\):[^"]*"\([^"]*\)".*/\1 \2 \3 \4/p' |
        while read -r folder file line header; do
            case $header in
            ../* | */../*) echo "$folder/$file:$line $folder $header" ;;
            */*) echo "$folder/$file:$line $folder ${header%%/*}" ;;
            *) [ -e "$1/$folder/$header" ] || echo "$folder/$file:$line $folder include" ;;
            esac
        done
}
forbidden() { # DIRECTORY
    includes "$1" | awk 'NR == FNR { allowed[$1 " " $2] = 1; next }
        $2 != $3 && !(($2 " " $3) in allowed) { print "# " $1 ": " $2 " may not include " $3; bad = 1 } END { exit bad }' \
        "$dir/allowed" -
}
forbidden src >"$dir/out"
tell $? "every include points to a folder that the table allows"
rm -f "$dir/out"

mkdir -p "$dir/src/core" "$dir/src/alg"
printf '#include "alg/list.h"\n' >"$dir/src/core/a.c"
printf '#include "core/dme.h"\n#include "../core/dme.h"\n' >"$dir/src/alg/b.c"
forbidden "$dir/src" >"$dir/found"
[ "$(sed 's/: .*//' "$dir/found" | sort | tr '\n' ' ')" = "# alg/b.c:2 # core/a.c:1 " ]
tell $? "an include that points down is found, and one around the table"
printf '# src/alg\n' >"$dir/src/alg/README.md"
[ "$(unnamed "$dir/src" | tr -d '\n')" = "# $dir/src/alg/README.md does not name b.c# $dir/src/core/ has no README" ]
tell $? "a folder without a README is found, and a file that no README names"

# The pieces of a step are for src/step: every other driver, and every test, goes through it.
around_the_step() { # DIRECTORY...
    grep -rnE '^ *# *include *"([^"]*/)?inside\.h"' "$@" --include='*.[ch]' | grep -vE '^src/(node/[a-z_]*|step/step)\.c:'
}
around_the_step src tests bench >"$dir/out"
printf '#include "node/inside.h"\n' >"$dir/src/alg/c.c"
[ ! -s "$dir/out" ] && around_the_step "$dir/src" | grep -q 'alg/c.c:1:'
tell $? "no driver and no test calls the pieces of a step"
rm -f "$dir/out" "$dir/src/alg/c.c"

# -------------------------------------------------------------------------------------------------------- unique names

# Kind, name and file of each struct, union, enum and function that is defined here, as clang-format lays them out.
definitions() { # DIRECTORY
    find "$1" -name '*.[ch]' | sort | xargs awk '
        FNR == 1 { name = "" }
        /^(struct|union|enum) [a-z0-9_]+ \{/ { print $1, $2, FILENAME; next }
        /^[a-z]/ && /\(/ && !/;/ && !/^typedef/ {
            line = $0
            gsub(/__attribute__\(\([^)]*\)\)\)?/, "", line)
            sub(/\(.*/, "", line)
            words = split(line, word, /[ *]+/)
            name = word[words]
            next
        }
        /^\{/ { if (name != "") print "function", name, FILENAME; name = ""; next }
        /^[^ \t]/ { name = "" }' | sort -u
}
twice() { # DIRECTORY
    definitions "$1" | awk '{ key = $1 " " $2; files[key] = files[key] " " $3; count[key]++ }
        END { for (key in count) if (count[key] > 1) { print "# " key ":" files[key]; bad = 1 } exit bad }' | sort
}
[ "$(definitions src | wc -l)" -gt 1000 ] && [ -z "$(twice src >"$dir/out"; cat "$dir/out")" ]
tell $? "no two structs or functions have the same name"
rm -f "$dir/out"
printf 'struct node {\n};\nstatic int node_a(int a,\n                  int b)\n{\n}\n' >"$dir/src/core/a.c"
printf 'struct node {\n};\nint node_a(void);\nint\nnode_b(void)\n{\n}\nint *node_a(void)\n{\n}\n' >"$dir/src/alg/b.c"
[ "$(twice "$dir/src" | cut -d: -f1)" = "# function node_a
# struct node" ]
tell $? "names that are given twice are found"

# --------------------------------------------------------------------------------------------------------- invariants

# A row is | I7 | what is always true | `test_wire`, `fuzz_wire` |. I11 and I13 are about tests alone.
uncited() { # ARCHITECTURE.md
    sed -n 's/^| \(I[0-9]*\) | .* | \([^|]*\) |$/\1 \2/p' "$1" | tee "$dir/rows" | while read -r id tests; do
        for test in $(echo "$tests" | grep -o '`[^`]*`' | tr -d '`'); do
            file=tests/${test#tests/}
            [ -f "$file" ] || file=$file.c
            case ${test#tests/} in test_* | fuzz_* | *.sh | *.txt) [ -f "$file" ] || echo "# $id: there is no $test" ;; esac
            [ ! -f "$file" ] || grep -qw "$id" "$file" || echo "# $id: $file does not cite it"
        done
        [ "$id" = I11 ] || [ "$id" = I13 ] || grep -rqw --include="*.[ch]" "$id" src || echo "# $id: nothing in src cites it"
    done
    grep -rIohw 'I[0-9][0-9]*' src tests/*.c tests/*.sh tests/soak.txt docs | sort -u | while read -r id; do
        grep -q "^$id " "$dir/rows" || echo "# $id is cited, and is not in the table"
    done
}
uncited ARCHITECTURE.md >"$dir/out"
[ "$(wc -l <"$dir/rows")" -gt 30 ] && [ ! -s "$dir/out" ]
tell $? "every invariant is cited in src and in the tests that its row names"
rm -f "$dir/out"
sed -e '/^| I30 /d' -e 's/^| I7 .*/| I7 | x | `test_step`, `test_nothing` |/' ARCHITECTURE.md >"$dir/rows.md"
uncited "$dir/rows.md" >"$dir/found"
[ "$(cut -d ' ' -f 2-3 "$dir/found" | tr '\n' ' ')" = "I7: tests/test_step.c I7: there I30 is " ]
tell $? "an invariant that is not cited, or does not exist, is found"
echo "1..$number"
