#!/bin/sh
# docs/protocol.md has every command, error word, message and limit of the program, and no others; its conversations and examples do
# what it says.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

page=docs/protocol.md
serve alone --name alone
until_true is_ready alone
DIBS_SOCKET=$dir/alone
export DIBS_SOCKET

# ------------------------------------------------------------------------------------------------ what the page lists

# The first cell of each row of the tables under "## Commands", and what the daemon itself answers to COMMAND.
section() { # TITLE: the lines of a section
    awk -v title="## $1" '$0 == title { inside = 1; next } /^## / { inside = 0 } inside' "$page"
}
# shellcheck disable=SC2016 # backquotes of Markdown
section Commands | sed -n 's/^| `\(\([^`]\)*\)` |.*/\1/p' | sed 's/\\|/|/g' | sort >"$dir/documented"
printf 'COMMAND\r\nQUIT\r\n' | python3 -c '
import socket, sys
with socket.socket(socket.AF_UNIX) as s:
    s.connect(sys.argv[1]); s.sendall(sys.stdin.buffer.read())
    text = s.makefile("rb").read().decode()
for line in text.split("\r\n"):
    if line and line[0] not in "*$+": print(line)' "$DIBS_SOCKET" | sort >"$dir/known"
[ "$(wc -l <"$dir/known")" -gt 40 ] && diff "$dir/known" "$dir/documented" >"$dir/out"
tell $? "every command, with its usage as the daemon tells it"
rm -f "$dir/out"

# Words that the sources give to resp_error, or return as the code of an error.
cat src/command/*.c src/node/*.c src/lock/*.c src/step/*.c |
    grep -E 'resp_error\(|code = |return "|later \?' | grep -oE '"[A-Z]{3,}"' | tr -d '"' | sort -u | grep -vxE 'OK|ADD|LIST' >"$dir/known"
# shellcheck disable=SC2016
section "Error words" | sed -n 's/^| `\([A-Z]*\)` |.*/\1/p' | sort >"$dir/documented"
[ "$(wc -l <"$dir/known")" -ge 12 ] && diff "$dir/known" "$dir/documented" >"$dir/out"
tell $? "every error word"
rm -f "$dir/out"

# Messages: what follows resp_push, or command_news, and the kinds of subscriptions.
sed -n '/resp_push(\|command_news(/,/resp_text(/s/.*resp_text(&c->out, \(.*\));/\1/p' src/command/*.c | grep -oE '"[a-z]+"' | tr -d '"' >"$dir/known.all"
grep -ohE '"p?(un)?subscribe"' src/command/command_watch.c | tr -d '"' >>"$dir/known.all"
sort -u "$dir/known.all" >"$dir/known"
# shellcheck disable=SC2016
section Messages | grep '^| `' | cut -d '|' -f 2 | grep -oE '`[a-z]+`' | tr -d '`' | sort >"$dir/documented"
diff "$dir/known" "$dir/documented" >"$dir/out"
tell $? "every message"
rm -f "$dir/out"

# Each limit has the value of its constant.
{
    printf '#include "command/command.h"\n#include "node/watch.h"\n#include "node/keep.h"\n#include "node/token.h"\n#include "relay/mux.h"\n#include <stdio.h>\nint main(void)\n{\n'
    # shellcheck disable=SC2016
    section Limits | sed -n 's/^| .* | \([0-9]*\) | `\([A-Z_]*\)` |$/    if (\2 != \1) printf("\2 is %lld, not \1\\n", (long long)\2);/p'
    echo '    return 0; }'
} >"$dir/limits.c"
# shellcheck disable=SC2086 # a list of words
[ "$(grep -c printf "$dir/limits.c")" -ge 16 ] && ${CC:-cc} -std=c11 -D_GNU_SOURCE $includes -o "$dir/limits" "$dir/limits.c" 2>"$dir/err" &&
    "$dir/limits" >"$dir/out" && [ ! -s "$dir/out" ]
tell $? "every limit has the value of its constant"
rm -f "$dir/out" "$dir/err"

# ----------------------------------------------------------------------------------------------------------- examples

python3 tests/protocol.py "$page" "$DIBS_SOCKET" $number >"$dir/spoken" 2>&1
status=$?
cat "$dir/spoken"
number=$((number + $(grep -cE '^(not )?ok ' "$dir/spoken")))
[ $status = 0 ] && [ "$(grep -c '^ok' "$dir/spoken")" -ge 8 ]
tell $? "all of the conversation was spoken"

example() { # LANGUAGE FILE
    section Examples | awk -v start="\`\`\`$1" '$0 == start { inside = 1; next } /^```/ { inside = 0 } inside' >"$2"
}
runs() { # NAME PROGRAM COMMAND...: the example prints "held"
    name=$1
    if ! command -v "$2" >/dev/null; then
        tell 0 "the example with $name # SKIP it is not installed"
        return
    fi
    shift 2
    timeout 60 "$@" >"$dir/out" 2>"$dir/err" && [ "$(cat "$dir/out")" = held ]
    tell $? "the example with $name"
    rm -f "$dir/out" "$dir/err"
}
for language in sh python php js ruby go c; do
    example $language "$dir/example.$language"
done
python=python3
$python -c 'import redis' 2>/dev/null || python=/usr/bin/python3 # which has what Debian packages
runs redis-cli redis-cli sh "$dir/example.sh"
$python -c 'import redis' 2>/dev/null || python=none
runs redis-py $python $python "$dir/example.python"
runs PHP php php "$dir/example.php"
runs Node.js node node "$dir/example.js"
ruby=ruby
ruby -e 'require "redis"' 2>/dev/null || ruby=none
runs Ruby $ruby ruby "$dir/example.ruby"
# Debian's packages of Go are sources below GOPATH. ./run nightly installs them.
gopath=${GOPATH:-/usr/share/gocode}
go=go
[ -d "$gopath/src/github.com/gomodule/redigo" ] || go=none
runs Go $go env GO111MODULE=off GOPATH="$gopath" GOCACHE="$dir/go" go run "$dir/example.go"
sanitizers=
[ "$MODE" != asan ] || sanitizers=-fsanitize=address,undefined
[ "$MODE" != cover ] || sanitizers=--coverage
# shellcheck disable=SC2086 # words
${CC:-cc} -std=c11 $sanitizers -Iinclude -o "$dir/example" "$dir/example.c" "build/$MODE/libdibs.a" 2>"$dir/err"
runs libdibs "$dir/example" "$dir/example"
"$DIBS" holders report | grep -q . && status=1 || status=0
tell $status "no example has left its lock behind"
echo "1..$number"
