#!/bin/sh
# Comments, documents, help and the texts of the page are in plain technical English: none of the patterns of tests/prose.txt is in
# them. The tests and benches in C are looked at, too.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

# Files of the project, in a copy without git, too.
find src include docs examples packaging tests bench README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md SECURITY.md -type f \
    ! -path tests/scenario/\* \( -name '*.[ch]' -o -name '*.md' -o -name '*.conf' -o -name '*.mjs' -o -name '*.html' \) | sort >"$dir/files"
[ "$(wc -l <"$dir/files")" -gt 100 ]
tell $? "there are files to look at"

# shellcheck disable=SC2046 # a list of files
tests/prose $(cat "$dir/files") >"$dir/out"
tell $? "comments and documents name their actors and use the words of the glossary"
rm -f "$dir/out"

mkdir "$dir/help"
for command in $("$DIBS" --help | sed -n 's/^  dibs \([a-z-]*\) .*/\1/p'); do
    "$DIBS" "$command" --help >"$dir/help/$command"
done
"$DIBS" --help >"$dir/help/dibs"
tests/prose "$dir"/help/* >"$dir/out"
tell $? "so does the help of every command"
rm -f "$dir/out"

# The lint itself: what it finds, and what it leaves alone.
cat >"$dir/bad.c" <<'END'
/* Who is excluded was dropped by a
 * majority. Waits for so
 * many milliseconds. */
const char *text = "dibs: nobody "
                   "holds it";
int who = nobody(1); /* a member, who has it; the site that waits */
/* It waits. One that
 * holds a lock does not. */
/* It holds the lock since an earlier view. It has held it since an earlier view. */
END
tests/prose "$dir/bad.c" | cut -d: -f2 >"$dir/out"
[ "$(tr '\n' ' ' <"$dir/out")" = "1 2 4 7 9 " ]
tell $? "the lint finds phrases across lines, in comments and in strings, and not in code"
rm -f "$dir/out"
# shellcheck disable=SC2016 # backquotes of Markdown
printf '# Who may\n\nA member that waits.\n\n```\nnobody\n```\n\n    nobody\n\nNo site has to `nobody` wait. Who waits is served.\n' >"$dir/bad.md"
tests/prose "$dir/bad.md" >"$dir/out"
[ $? = 1 ] && [ "$(wc -l <"$dir/out")" = 1 ] && grep -q ':11: ' "$dir/out"
tell $? "the lint leaves headings and code of documents alone"

echo "1..$number"
