#!/bin/sh
# What commands print as JSON, and the daemon over HTTP, in its log and in its audit trail, is as docs/schemas say, key by key.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

python=
for candidate in python3 /usr/bin/python3; do # the second has what Debian packages
    $candidate -c 'import jsonschema' 2>/dev/null && python=$candidate
done
if [ -z "$python" ] || [ "$MODE" != release ]; then
    echo "ok 1 - schemas # SKIP python3-jsonschema is not installed, or this is not the release"
    echo "1..1"
    exit
fi

checked=
printed=
is_valid() { # SCHEMA FILE [lines]
    $python tests/schemas.py "docs/schemas/$1.json" "$2" ${3:+"$3"} >"$dir/out" 2>&1
    status=$?
    checked="$checked $1"
    tell $status "docs/schemas/$1.json: ${4:-$1}"
    rm -f "$dir/out"
}
prints() { # SCHEMA COMMAND...
    schema=$1
    shift
    printed="$printed $1"
    "$DIBS" "$@" --format json >"$dir/printed" 2>/dev/null
    is_valid "$schema" "$dir/printed" "" "dibs $*"
}

# ---------------------------------------------------------------------------------------------------------- the service

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
serve ant --name ant --members "$members" --http "127.0.0.1:$((base + 3))" --clients "127.0.0.1:$((base + 4))" --log-format json --audit "$dir/trail" --audit-scope locks
serve bee --name bee --members "$members"
until_true is_ready ant && until_true is_ready bee
DIBS_SOCKET=$dir/ant
export DIBS_SOCKET
"$DIBS" watch --format json >"$dir/events" 2>/dev/null &
started="$started $!"
until_true sh -c "'$DIBS' lock a -- true; [ -s '$dir/events' ]"
# shellcheck disable=SC2016
"$DIBS" lock held --slots 2 -- sh -c ': >"$0"; sleep 600' "$dir/held" &
started="$started $!"
until_true test -e "$dir/held"
"$DIBS" lock held --slots 2 --socket "$dir/bee" -- sh -c ': >"$0"; sleep 600' "$dir/held2" &
started="$started $!"
until_true test -e "$dir/held2"
"$DIBS" lock held --slots 2 -- true 2>/dev/null &
started="$started $!"
until_true sh -c "'$DIBS' waiters held | grep -q 'member ant'"

prints status status # one member of three is away
prints holders holders held
prints waiters waiters held
prints leader leader held
prints leader leader nothing
prints locks locks
prints views views
prints members member list
prints config config show
"$DIBS" serve --agent --name farm --socket "$dir/farm" --connect "127.0.0.1:$((base + 4))" 2>"$dir/farm.log" &
started="$started $!"
until_true is_ready farm
prints status status --socket "$dir/farm"
grep -q '"agent": "farm"' "$dir/printed"
tell $? "the state of an agent says that it is one"
prints page-token page-token
for page in status views; do
    $python -c 'import sys, urllib.request as u; sys.stdout.write(u.urlopen(sys.argv[1]).read().decode())' "http://127.0.0.1:$((base + 3))/$page.json" >"$dir/page"
    is_valid $page "$dir/page" "" "/$page.json"
done
prints holders force-unlock held
until_true grep -q '"lost"' "$dir/events"
sed -i '$d' "$dir/events" # which may be half of a line
is_valid event "$dir/events" lines "dibs watch"
printed="$printed watch"
until_true grep -q '"audit":"force_unlock"' "$dir/trail" && until_true grep -q '"audit":"lost"' "$dir/trail" && grep -q '"audit":"granted"' "$dir/trail"
tell $? "the audit trail has grants, an order and a loss"
cp "$dir/trail" "$dir/trail.now" && cp "$dir/ant.log" "$dir/log.now"
is_valid audit "$dir/trail.now" lines "dibs serve --audit"
is_valid log "$dir/log.now" lines "dibs serve --log-format json"

# ------------------------------------------------------------------------------------------------------- the laboratory

prints list list --all
prints check check lamport --sites 2
prints check check lamport --sites 2 --without fifo
prints sim sim central --sites 3 --closed --entries 300
prints sim sim ricart-agrawala-robust --sites 5 --rate 0.01 --entries 300 --crash-rate 0.001
"$DIBS" sim ricart-agrawala-robust --sites 4 --rate 0.01 --entries 100 --crash-rate 0.01 --log "$dir/steps" >/dev/null && grep -q '"event":"crash"' "$dir/steps"
tell $? "a log of a simulation with crashes"
is_valid steps "$dir/steps" lines "dibs sim --log"
prints model model leases --members 2
prints help help
for command in serve lock check sweep quiz; do
    prints help-command help $command
done
prints paper paper banta-theorem-6.1 --quick

missing=0
for command in $("$DIBS" --help | sed -n 's/^  dibs \([a-z-]*\) .*/\1/p'); do
    "$DIBS" "$command" --help | tr -s '\n ' '  ' | grep -Eq -- '--format F .*F is [a-z, ]*json' || continue
    case " $printed " in *" $command "*) ;; *) echo "# no output of dibs $command is compared with a schema" && missing=1 ;; esac
done
tell $missing "every command that prints JSON was compared with a schema"
missing=0
for schema in docs/schemas/*.json; do
    name=$(basename "$schema" .json)
    case " $checked " in *" $name "*) ;; *) echo "# nothing is compared with $schema" && missing=1 ;; esac
done
tell $missing "every schema was compared with something"
printf '[{"name": "a", "algorithm": "central", "slots": "2", "holders": 1, "waiters": 0}]' >"$dir/wrong"
printf '[{"name": "a", "algorithm": "central", "slots": 2, "holders": 1, "waiters": 0, "new": 1}]' >"$dir/new"
! $python tests/schemas.py docs/schemas/locks.json "$dir/wrong" 2>/dev/null && ! $python tests/schemas.py docs/schemas/locks.json "$dir/new" 2>/dev/null
tell $? "a wrong type is found, and a key that the schema does not know"
echo "1..$number"
