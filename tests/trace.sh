#!/bin/sh
# Counterexamples and scenarios as files, rows and pictures: what the checker saves plays again to the same end, and every
# scenario can be drawn.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

scenarios=$(ls tests/scenario/*.txt)
[ "$MODE" = release ] || scenarios=$(ls tests/scenario/ma*.txt tests/scenario/suzuki*.txt) # every one is drawn once, by all_can_be_drawn

saved_plays_again() { # EXPECTED-LAST-LINE CHECK-ARGUMENT...
    expected=$1
    shift
    rm -f "$dir/saved.txt"
    "$DIBS" check "$@" --save "$dir/saved.txt" && return 1
    "$DIBS" scenario "$dir/saved.txt" && grep "$expected" "$dir/saved.txt"
}

rows_are_moves() { # FILE
    moves=$("$DIBS" check lamport --sites 2 --without fifo --format json | sed -n '/"trace"/,$p' | grep -c '^    "')
    rows=$("$DIBS" trace "$1" | grep -c '^ \{1,4\}[0-9][0-9]* ')
    [ "$rows" = "$moves" ]
}

all_can_be_drawn() {
    for file in tests/scenario/*.txt; do
        "$DIBS" trace "$file" >"$dir/rows" && "$DIBS" trace "$file" --svg "$dir/picture.svg" || return 1
        [ "$(grep -c '<svg' "$dir/picture.svg")" = 1 ] && [ "$(tail -n 1 "$dir/picture.svg")" = '</svg>' ] || return 1
        [ "$(grep -c '<text' "$dir/picture.svg")" = "$(grep -c '</text>' "$dir/picture.svg")" ] || return 1
    done
}

nothing_is_half_written() {
    "$DIBS" trace tests/scenario/lamport.txt --svg "$dir/no/such/folder.svg" && return 1
    [ ! -e "$dir/no" ]
}

# Of the labels of a picture: none leaves it, and no two are in the same place. (A letter is at least 6 wide, and a line 11 high.)
labels_are_apart() { # FILE
    awk '/<svg/ { match($0, /width="[0-9]+"/); width = substr($0, RSTART + 7, RLENGTH - 8) + 0 }
        /class="label"/ {
            split($0, part, "\""); x = part[4] + 0; y = part[6] + 0
            text = $0; sub(/^[^>]*>/, "", text); sub(/<.*/, "", text); gsub(/&#[0-9]+;/, "x", text)
            x2 = x + 6 * length(text)
            if (x < 0 || x2 > width) bad = bad " " text
            for (k = 0; k < n; k++)
                if (x < X2[k] && X[k] < x2 && y < Y[k] + 11 && Y[k] < y + 11) bad = bad " " text "/" T[k]
            X[n] = x; X2[n] = x2; Y[n] = y; T[n++] = text
        }
        END { if (bad) print FILENAME ":" bad; exit bad != "" }' "$1"
}

all_labels_are_apart() {
    for file in $scenarios; do
        "$DIBS" trace "$file" --svg "$dir/picture.svg" && labels_are_apart "$dir/picture.svg" || return 1
        "$DIBS" trace "$file" --svg "$dir/picture.svg" --vertical && labels_are_apart "$dir/picture.svg" || return 1
    done
    for name in ricart-agrawala maekawa suzuki-kasami raymond lamport; do
        "$DIBS" sim "$name" --sites 5 --closed --entries 9 --warmup 0 --delay exp:1 --svg "$dir/picture.svg" && labels_are_apart "$dir/picture.svg" || return 1
    done
}

# No two arrows that begin at one point go the same way.
arrows_are_apart() { # FILE
    awk '/<line class="(message|flies|news)"/ {
            split($0, part, "\""); x = part[4] + 0; y = part[6] + 0; dx = part[8] - x; dy = part[10] - y
            for (k = 0; k < n; k++) {
                across = dx * DY[k] - dy * DX[k]
                if (x == X[k] && y == Y[k] && dx * DX[k] + dy * DY[k] > 0 && across < 1 && across > -1) bad = bad " " x "," y
            }
            X[n] = x; Y[n] = y; DX[n] = dx; DY[n++] = dy
        }
        END { if (bad) print FILENAME ":" bad; exit bad != "" }' "$1"
}

all_arrows_are_apart() {
    for file in tests/scenario/ricart*.txt tests/scenario/suzuki*.txt tests/scenario/lamport*.txt; do
        "$DIBS" trace "$file" --svg "$dir/picture.svg" && arrows_are_apart "$dir/picture.svg" || return 1
        "$DIBS" trace "$file" --svg "$dir/picture.svg" --vertical && arrows_are_apart "$dir/picture.svg" || return 1
    done
}

# Up to eight sites a diagram fits into 80 columns, and no label is cut off.
fits_a_terminal() {
    for file in $scenarios; do
        "$DIBS" trace "$file" | awk 'length($0) > 80 && !/in flight:/ { print; exit 1 }' || return 1
    done
    for name in ricart-agrawala maekawa suzuki-kasami; do
        "$DIBS" sim "$name" --sites 8 --closed --entries 9 --warmup 0 --save "$dir/eight.txt" && "$DIBS" trace "$dir/eight.txt" >"$dir/eight" || return 1
        ! grep -q '.\{81\}' "$dir/eight" && grep -q 'ENTERS$' "$dir/eight" || return 1
    done
    grep -q '^        |.*  Q=\[' "$dir/eight" # the long label of a token goes on in the next row
}

# A run of the simulator has a clock; its picture has an axis. Shapes that occur are explained, and no others.
explains_itself() {
    "$DIBS" sim ricart-agrawala --rule shared --sites 4 --closed --entries 12 --warmup 0 --delay exp:1 --svg "$dir/picture.svg" || return 1
    for text in time waits 'inside, reading' 'ricart-agrawala, 4 sites'; do
        grep -q ">$text</text>" "$dir/picture.svg" || return 1
    done
    ! grep -q '>down</text>' "$dir/picture.svg" || return 1
    "$DIBS" trace tests/scenario/suzuki-kasami-crash.txt --svg "$dir/picture.svg" && grep -q '>down</text>' "$dir/picture.svg" &&
        grep -q 'class="caption".*The token is at 0, which stops' "$dir/picture.svg" && ! grep -q '>time</text>' "$dir/picture.svg"
}

tells_deadlock() {
    "$DIBS" check ricart-agrawala --sites 2 --lose 1 --save "$dir/stuck.txt" >"$dir/checked"
    "$DIBS" trace "$dir/stuck.txt" | grep -q 'DEADLOCK: a site waits' && "$DIBS" trace "$dir/stuck.txt" --format svg | grep -q '>deadlock</text>'
}

# The comments of a scenario tell its story beside the moves.
tells_the_story() {
    "$DIBS" trace tests/scenario/maekawa.txt >"$dir/rows" && sed -n 1p "$dir/rows" | grep -q '^        The run that deadlocks the algorithm as it was published' &&
        grep -A 1 '^        Each site first gets its own grant; that costs no message.$' "$dir/rows" | grep -q '^    1 .* 1 asks$' && "$DIBS" trace tests/scenario/maekawa.txt --format mermaid | grep -q '^    Note over S0,S3: Each site first gets'
}

# The same in pictures: letters mark the places, and the comments are listed below. A cut is drawn, and reports are.
marks_the_story() {
    "$DIBS" trace tests/scenario/maekawa.txt --svg "$dir/picture.svg" && grep -q '<text class="mark".*>a</text>' "$dir/picture.svg" &&
        grep -q '<text class="remark".*>a: Each site first gets its own grant; that costs no message.</text>' "$dir/picture.svg" &&
        "$DIBS" trace tests/scenario/suzuki-kasami-robust-cut.txt --svg "$dir/picture.svg" && grep -q '>1 2 cut off</text>' "$dir/picture.svg" &&
        grep -q '>healed</text>' "$dir/picture.svg" && grep -q '>is reported</text>' "$dir/picture.svg"
}

# TikZ has all that SVG has: as many texts, lines and bands.
tikz_is_complete() {
    for file in tests/scenario/maekawa.txt tests/scenario/suzuki-kasami-robust-cut.txt "$dir/stuck.txt"; do
        for way in '' --vertical; do
            # shellcheck disable=SC2086 # no word or one
            "$DIBS" trace "$file" --svg "$dir/picture.svg" $way && "$DIBS" trace "$file" --format tikz --out "$dir/picture.tex" $way || return 1
            [ "$(grep -c '^<text' "$dir/picture.svg")" = "$(grep -c '^.node' "$dir/picture.tex")" ] || return 1
            [ "$(grep -c '^<line' "$dir/picture.svg")" = "$(grep -c '^.draw' "$dir/picture.tex")" ] || return 1
            [ "$(grep -c '^<rect class' "$dir/picture.svg")" = "$(grep -c '^.path' "$dir/picture.tex")" ] || return 1
        done
    done
}

# What is made of an SVG: by the end of the file's name, or by --format; whole or not at all; without the program, one line.
pdf_and_png() {
    "$DIBS" trace tests/scenario/maekawa.txt --svg "$dir/picture.pdf" && [ "$(head -c 5 "$dir/picture.pdf")" = %PDF- ] &&
        [ "$("$DIBS" trace tests/scenario/maekawa.txt --vertical --format pdf | head -c 5)" = %PDF- ] &&
        "$DIBS" sim raymond --sites 3 --closed --entries 3 --warmup 0 --svg "$dir/picture.png" && [ "$(head -c 4 "$dir/picture.png" | tail -c 3)" = PNG ] &&
        ! "$DIBS" check lamport --sites 2 --without fifo --svg "$dir/check.pdf" && [ "$(head -c 5 "$dir/check.pdf")" = %PDF- ] || return 1
    mkdir "$dir/bare" && ln -s "$(command -v sh)" "$dir/bare/sh"
    ! PATH=$dir/bare "$DIBS" trace tests/scenario/maekawa.txt --svg "$dir/none.pdf" 2>"$dir/err" && [ ! -e "$dir/none.pdf" ] &&
        [ "$(cat "$dir/err")" = "dibs: rsvg-convert, which makes pdf of SVG, is not installed; apt-get install librsvg2-bin, or take svg" ]
}

other_tools() {
    "$DIBS" trace tests/scenario/maekawa.txt --format mermaid --out "$dir/m" && grep -q '^    S2->>S0: REQUEST\[1.2\]$' "$dir/m" && [ "$(head -n 1 "$dir/m")" = sequenceDiagram ] &&
        "$DIBS" trace tests/scenario/maekawa.txt --format shiviz >"$dir/m" && grep -q '^site2 {"site0":1, "site2":2}$' "$dir/m" &&
        "$DIBS" trace tests/scenario/maekawa.txt --format tikz >"$dir/m" && tail -n 1 "$dir/m" | grep -q 'end{tikzpicture}'
}

test_that "a broken rule, saved" saved_plays_again "EXCLUSION BROKEN" lamport --sites 2 --without fifo
test_that "a row for each move" rows_are_moves "$dir/saved.txt"
test_that "a lost message, saved" saved_plays_again "IS LOST" ricart-agrawala-implicit --lose 1
test_that "a message that comes twice, saved" saved_plays_again "IS DUPLICATED" suzuki-kasami --duplicate 1
test_that "every scenario can be drawn" all_can_be_drawn
test_that "a picture is written whole or not at all" nothing_is_half_written
test_that "labels neither collide nor leave the picture" all_labels_are_apart
test_that "no arrow covers another one" all_arrows_are_apart
test_that "a diagram of eight sites fits into 80 columns" fits_a_terminal
test_that "a picture explains its shapes, and has a time axis if there is time" explains_itself
test_that "a deadlock is shown" tells_deadlock
test_that "comments are told before the moves" tells_the_story
test_that "letters mark where comments belong; cuts and reports are drawn" marks_the_story
test_that "TikZ has everything that SVG has" tikz_is_complete
test_that "PDF and PNG" pdf_and_png
test_that "TikZ, Mermaid and ShiViz" other_tools
rejects "--vertical goes with --format svg, pdf, png and tikz; text and Mermaid are vertical anyway" trace tests/scenario/maekawa.txt --vertical
rejects "--svg FILE is --format svg --out FILE; leave out the others" trace tests/scenario/maekawa.txt --svg x --format tikz
echo "1..$number"
