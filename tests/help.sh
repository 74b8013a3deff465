#!/bin/sh
# Every --help fits the terminal, describes each parameter with its default, and shows two examples whose options exist.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"
unset COLUMNS

fits() { # WIDTH: no line of standard input is wider
    awk -v width="$1" 'length($0) > width { print "# " length($0) " columns: " $0; bad = 1 } END { exit bad || !NR }'
}

# Each option with a parameter is described by a phrase of at least four words that names its default, or says that it
# has none.
describes_parameters() {
    awk '/^[a-z]+:$/ || /^$/ { check(); name = ""; inside = /^options:/; next }
         !inside { next }
         /^  --/ { check(); name = $1; parameter = $2 ~ /^[A-Z]/ && substr($0, length($1) + 4, 1) != " "; text = "" }
         { text = text " " $0 }
         function check() {
             if (name == "" || !parameter)
                 return
             if (text !~ /default/ || split(text, words, " ") < 6) { print "# " name ":" text; bad = 1 }
             count++
         }
         END { check(); exit bad }' "$1"
}

# At least two commands under "examples:", each of which begins with "dibs COMMAND" and has only options of this help.
shows_examples() { # COMMAND FILE
    awk -v start="    dibs $1" '
        /^  --/ { known[$1] = 1 }
        /^examples:$/ { examples = 1; next }
        !examples { next }
        index($0, start) == 1 { count++; own = 1 }
        /^  [^ ]/ { own = 0 }
        own { for (k = 1; k <= NF && $k != "--"; k++)
                  if ($k ~ /^--[a-z]/ && !known[$k]) { print "# unknown option in an example: " $k; bad = 1 } }
        END { if (count < 2) print "# " count + 0 " examples"; exit bad || count < 2 }' "$2"
}

"$DIBS" --help >"$dir/all"
commands=$(sed -n 's/^  dibs \([a-z-]*\) .*/\1/p' "$dir/all")
fits 80 <"$dir/all" && [ "$(echo "$commands" | wc -l)" -ge 21 ] && grep -q 'docs/glossary.md' "$dir/all"
tell $? "dibs --help: all commands, in 80 columns, and where the terms are defined"
COLUMNS=60 "$DIBS" --help | fits 60
tell $? "dibs --help in 60 columns"

for command in $commands; do
    "$DIBS" "$command" --help >"$dir/help" 2>&1 && fits 80 <"$dir/help"
    tell $? "dibs $command --help: 80 columns if the width is unknown"
    COLUMNS=60 "$DIBS" "$command" --help | fits 60
    tell $? "dibs $command --help: 60 columns if \$COLUMNS says so"
    describes_parameters "$dir/help"
    tell $? "dibs $command --help: each parameter has a phrase with its default"
    shows_examples "$command" "$dir/help"
    tell $? "dibs $command --help: two examples"
done

# A terminal's own width goes before $COLUMNS.
COLUMNS=200 script -qec "stty cols 50 && '$DIBS' lock --help" /dev/null </dev/null | tr -d '\r' >"$dir/terminal"
fits 50 <"$dir/terminal" && awk 'length($0) > 40 { wide = 1 } END { exit !wide }' "$dir/terminal"
tell $? "at a terminal, its width"
echo "1..$number"
