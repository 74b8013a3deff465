#!/bin/sh
# Manual pages: one for dibs, each command, dibs.conf and libdibs, from the tables that --help prints. They say all that the help
# says, and mandoc has nothing to say about them. Here are also "dibs help" and "dibs --version".
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

commands=$("$DIBS" --help | sed -n 's/^  dibs \([a-z-]*\) .*/\1/p')
docs/make-man "$DIBS" "$dir/man"
tell $? "docs/make-man writes all pages"

if command -v mandoc >/dev/null; then
    (cd "$dir/man" && mandoc -T lint -W style ./*) >"$dir/out" 2>&1
    [ ! -s "$dir/out" ] && [ "$(find "$dir/man" -type f | wc -l)" = $(($(echo "$commands" | wc -l) + 4)) ]
    tell $? "mandoc has no advice, not even about style"
    rm -f "$dir/out"
    printf '.Dd November 1, 2026\n.Dt X 1\n.Os\n.Sh NAME\n.Nm x\n.Nd a page\n.Sh OPTIONS\n.It lost\n' | mandoc -T lint >/dev/null 2>&1
    [ $? != 0 ]
    tell $? "mandoc finds an item without a list"
else
    tell 0 "mandoc has no advice # SKIP it is not installed"
fi

# The words of a page without its macros, for comparison with the help.
plain() {
    sed 's/\\&//g; s/\\-/-/g; s/\\e/\\/g; s/^\.It \(Fl\|Cm\) -\?/--/; s/^--\(.*\) Ar /--\1 /; s/^\.[A-Z][A-Za-z]* \?//' "$1" | tr -s ' \n' '  '
}
words() {
    tr -s ' \n' '  '
}

missing=0
for command in $commands; do
    "$DIBS" "$command" --help >"$dir/help"
    "$DIBS" help "$command" | cmp -s - "$dir/help" || { echo "# dibs help $command differs" && missing=1; }
    page=$(plain "$dir/man/dibs-$command.1")
    # Every option with its parameter, and every paragraph behind the usage, sentence by sentence.
    sed -n 's/^  \(--[a-z-]*\( [^ ]\+\)\?\)\(  .*\)\?$/\1/p' "$dir/help" >"$dir/lines"
    sed -n '/^usage/,/^$/d; /^options:/,$d; /^  /d; p' "$dir/help" | words |
        sed 's/Exit status: /\n/; s/\([.?]\) \([A-Z]\)/\1\n\2/g' | sed 's/ $//' >>"$dir/lines"
    while read -r line; do
        case $page in
        *"$line"*) ;;
        *) echo "# dibs-$command(1) lacks: $line" && missing=1 ;;
        esac
    done <"$dir/lines"
done
tell $missing "dibs help COMMAND is the help, and the pages have every option and every sentence of it"

page=$(plain "$dir/man/dibs.1")
missing=0
for command in $commands; do
    case $page in *"dibs-$command 1"*) ;; *) echo "# dibs(1) lacks $command" && missing=1 ;; esac
done
for status in 0 1 2 3 112 113 114 115 116 117 126 127 128; do
    grep -qx "\.It $status" "$dir/man/dibs.1" || { echo "# dibs(1) lacks status $status" && missing=1; }
done
tell $missing "dibs(1) has every command and every exit status"

# Each key that the reader of the file knows, and each line that may be repeated.
missing=0
for key in $(sed -n 's/^    \[CONF_[A-Z_]*\] = {"\([a-z-]*\)".*/\1/p' src/serve/conf.c) member policy allow limit login; do
    grep -Eq "^\.It (Cm |\\\\&)$key( |\$)" "$dir/man/dibs.conf.5" || { echo "# dibs.conf(5) lacks $key" && missing=1; }
done
tell $missing "dibs.conf(5) has every setting that the daemon reads"

missing=0
functions=$(sed -n 's/^DIBS_API .*[ *]\(dibs_[a-z_]*\)(.*/\1/p' include/dibs.h)
for name in $functions; do
    grep -Eq "[ *]$name\(" "$dir/man/libdibs.3" || { echo "# libdibs(3) lacks $name" && missing=1; }
done
tell $missing "libdibs(3) has every function of dibs.h"

# Every usage of a command of clients; the table of the daemon is the one of docs/protocol.md (tests/protocol.sh).
[ "$(grep -c '^| `[A-Z-]*[ `]' docs/protocol.md)" -gt 50 ] && grep -q '^\.It.*LOCK.*SHARED' "$dir/man/dibs-protocol.7" &&
    [ "$(grep -c '^\.It' "$dir/man/dibs-protocol.7")" = "$(grep -c '^| ' docs/protocol.md | awk '{ print $1 - 8 }')" ]
tell $? "dibs-protocol(7) has every row of docs/protocol.md"

# -------------------------------------------------------------------------------------------------- help and --version

"$DIBS" --help >"$dir/all" && "$DIBS" help | cmp -s - "$dir/all"
tell $? "dibs help is dibs --help"
rejects 'unknown command "lokc"; did you mean "lock"? (dibs --help shows all)' help lokc
"$DIBS" --version >"$dir/version"
for line in "dibs $(sed -n 's/^VERSION := //p' Makefile)" "  libuv [0-9]" "  libraft" "  OpenSSL [3-9]" "  libmicrohttpd"; do
    grep -q "^$line" "$dir/version" || echo "no $line"
done >"$dir/out"
[ ! -s "$dir/out" ]
tell $? "dibs --version names the version and the libraries"
rm -f "$dir/out"
if [ -e .git ]; then
    grep -q "^dibs .* (commit $(git rev-parse --short=12 HEAD))\$" "$dir/version"
    tell $? "and the commit"
fi
echo "1..$number"
