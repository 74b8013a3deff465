#!/bin/sh
# Completion in the real shells, by typing into them: commands, options, their values, algorithms, files, other commands, and the
# locks and members of a running daemon. bash is always there; zsh and fish are where ./run extra has installed them.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

unset COLUMNS
serve alone --name alone
until_true is_ready alone
DIBS_SOCKET=$dir/alone
export DIBS_SOCKET
for name in nightly-backup db:orders; do
    "$DIBS" lock "$name" -- sh -c ': >"$0"; sleep 600' "$dir/held.$name" &
    started="$started $!"
    until_true test -e "$dir/held.$name"
done

# --------------------------------------------------------------------------------------------- what the shells are told

offers() { # NAME EXPECTED WORD...: the words, without their descriptions
    name=$1 expected=$2
    shift 2
    "$DIBS" completion words -- "$@" >"$dir/out" 2>&1
    [ "$(cut -f 1 "$dir/out" | tr '\n' ' ' | sed 's/ $//')" = "$expected" ]
    tell $? "$name"
    rm -f "$dir/out"
}
[ "$("$DIBS" completion words -- '' | sed '1d; s/\t.*//' | grep -vc '^--')" = "$("$DIBS" --help | grep -c '^  dibs ')" ]
tell $? "every command is offered"
offers "commands" "words lock locks" lo
offers "options" "words --format" status --f
offers "choices of an option" "words text json" status --format ""
offers "algorithms: those without mistakes first" "words lamport" check lampo
offers "algorithms: more than one" "words central" sweep lamport centr
offers "words of a usage" "words mistakes" check mist
offers "locks of the daemon" "words db:orders nightly-backup" holders ""
offers "locks of the daemon that --socket names" "words" holders --socket "$dir/none" n
offers "members of the daemon" "words alone" member remove ""
offers "a first word decides about the second" "words" member add al
offers "files" "words files" trace ""
offers "files or algorithms" "words raymond-k raymond files" play raymond
offers "another command behind --" "command 4" lock x -- l
offers "nothing for a command that is not there" "" lokc ""
kill -STOP "$(cat "$dir/alone.pid")"
offers "a daemon that is stopped does not stop the shell" "words" holders ""
kill -CONT "$(cat "$dir/alone.pid")"

# -------------------------------------------------------------------------------------------------------- in the shells

mkdir "$dir/bin"
: >"$dir/story-1.txt"
# shellcheck disable=SC2016
printf '#!/bin/sh\n[ "$1" != completion ] || exec "%s" "$@"\nfor word; do printf "<%%s>" "$word"; done\necho "<end>"\n' "$DIBS" >"$dir/bin/dibs"
printf '#!/bin/sh\n' >"$dir/bin/uname-of-test"
chmod +x "$dir"/bin/*

for shell in bash zsh fish; do
    if ! command -v $shell >/dev/null; then
        tell 0 "$shell # SKIP it is not installed"
        continue
    fi
    "$DIBS" completion $shell >"$dir/script"
    timeout 300 python3 tests/completion.py $shell $number "$dir" >"$dir/typed" 2>&1
    status=$?
    cat "$dir/typed"
    number=$((number + $(grep -cE '^(not )?ok ' "$dir/typed")))
    tell $status "$shell: all of it was typed"
done
echo "1..$number"
