#!/bin/sh
# The command line from outside: what is wrong gets one line on stderr that names the remedy, and status 2.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

# This status, and this text somewhere on stdout.
answers() { # STATUS TEXT ARGUMENT...
    status=$1 text=$2
    shift 2
    "$DIBS" "$@" >"$dir/out" 2>"$dir/err"
    [ $? = "$status" ] && [ ! -s "$dir/err" ] && grep -qF -- "$text" "$dir/out"
    tell $? "answers dibs $*"
}

# A scenario of these lines is rejected at this place, for this reason.
rejects_scenario() { # PLACE:REASON LINES
    printf "%s\n" "$2" >"$dir/lamport.txt"
    rejects "$dir/lamport.txt:$1" scenario "$dir/lamport.txt"
}

answers 0 "dibs list" --help
answers 0 "dibs 0." --version
answers 0 "usage: dibs list" list --help
answers 0 "ricart-agrawala" list
answers 0 '"name": "ricart-agrawala"' list --format json
answers 0 "mutual exclusion in computer networks, CACM 24(1)," list ricart-agrawala

rejects '/dev/zero is not a text: it has zero bytes' serve --config /dev/zero --check-config
rejects 'unknown command "lisst"; did you mean "list"? (dibs --help shows all)' lisst
rejects 'unknown command "unlock": a lock is released when the command of "dibs lock" ends; for a lock of "dibs hold" there is "dibs release", and "dibs force-unlock" takes any lock away' unlock x
rejects 'unknown algorithm "ricart"; did you mean "ricart-agrawala"? (dibs list shows all)' list ricart
rejects 'unknown algorithm "zzzzz" (dibs list shows all)' list zzzzz
rejects 'unknown option "--formt"; did you mean "--format"? (--help shows all)' list --formt json
rejects 'unknown --format "jsn"; did you mean "json"? (one of text json)' list --format jsn
rejects '--format needs a value: --format F' list --format
rejects '--group needs a value: --group G' lock x --group -- true
rejects '--all takes no value' list --all=yes
rejects '"raymond" is one word too many (usage: dibs list [ALGORITHM] [--all] [--format text|json])' list lamport raymond
rejects 'no scenario is named (usage: dibs scenario FILE... [--rewrite | --print])' scenario
rejects "cannot read $dir/none.txt: No such file or directory" scenario "$dir/none.txt"

rejects_scenario '2: how many sites are there? A line such as "sites 3" comes before the first move' '
request 0'
rejects_scenario '3: unknown command "relase"; it is one of algorithm, sites, rule, set, order, request, release, timer, deliver, lose, duplicate, settle, crash, restart, resume, join, leave, suspect, cut, heal, show, flight, recorded, state, before, inflight' 'sites 3
request 0
relase 0'
rejects_scenario '2: "3" is not a site; it is a number from 0 to 2' 'sites 3
request 3'
rejects_scenario '2: release 0 is not possible: the site is not inside' 'sites 3
release 0'
rejects_scenario '3: no such message is in flight from 1 to 0; a line "flight" shows what is' 'sites 2
request 0
deliver 1 0'
rejects_scenario '3: sites comes before the first move' 'sites 2
request 0
sites 3'
rejects_scenario '3: lamport does not know the rule "shared"; it knows exclusive' 'sites 2
rule shared
request 0'
rejects_scenario '2: lamport has no option "colour"; it has omit' 'sites 2
set colour=red'
rejects 'ricart-agrawala: modulus must be 0 (unbounded), or at least 2(n-1)C+1 for n sites and increments up to C' \
    check ricart-agrawala --sites 3 --set modulus=4
rejects 'ricart-agrawala: readers, writers and groups need unbounded numbers; leave modulus at 0' \
    check ricart-agrawala --rule shared --set modulus=9
rejects_scenario '5: an older message must arrive first on this network; deliver that, or say "order any"' 'sites 2
request 0
request 1
deliver 0 1
deliver 1 0 REPLY'

# A difference is shown, and accepted with --rewrite; what was not written by hand is completed.
printf 'sites 2\nrequest 0\n----\n0 enters\n\nflight\n' >"$dir/lamport.txt"
answers 1 "-0 enters" scenario "$dir/lamport.txt"
answers 1 "+0 waits  -> 1 REQUEST[1.0]" scenario "$dir/lamport.txt"
answers 0 "lamport.txt: rewritten" scenario --rewrite "$dir/lamport.txt"
answers 0 "lamport.txt: as expected" scenario "$dir/lamport.txt"
answers 0 "0 -> 1 REQUEST[1.0]" scenario --print "$dir/lamport.txt"
[ "$(ls "$dir")" = "err
lamport.txt
out" ]
tell $? "a rewrite leaves no other file behind"

# A full disk must not look like success.
"$DIBS" list >/dev/full 2>"$dir/err"
[ $? = 2 ] && [ "$(cat "$dir/err")" = "dibs: cannot write the output: No space left on device" ]
tell $? "output that cannot be written is an error"

echo "1..$number"
