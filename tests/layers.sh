#!/bin/sh
# Every #include of src follows the table of layers in ARCHITECTURE.md, the only place that says which folder may use
# which; and no two structs or functions of src have the same name.
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
echo "1..$number"
