#!/bin/sh
# Locks that a token owns: dibs hold, renew and release, with three real daemons on loopback, of which one is killed (I33). No
# time is asserted.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"

start() { # NAME...
    for name; do serve "$name" --name "$name" --members "$members" --lease 1000; done
}

all_ready() {
    is_ready ant && is_ready bee && is_ready cat
}

at() { # MEMBER WORD...: dibs, and its exit status
    member=$1 command=$2
    shift 2
    "$DIBS" "$command" --socket "$dir/$member" "$@" >"$dir/out" 2>"$dir/err"
}

start ant bee cat
until_true all_ready
tell $? "three members come together"

at ant hold deploy --ttl 5m && grep -Eqx 'export DIBS_TOKEN=[0-9a-f]{32} DIBS_FENCE=[0-9]+' "$dir/out"
tell $? "dibs hold prints a token and a fence"
eval "$(cat "$dir/out")"
# shellcheck disable=SC2153 # dibs hold has set it
fence=$DIBS_FENCE
at bee hold deploy --ttl 5m --wait 0
[ $? = 112 ]
tell $? "no other token gets the lock"
at bee lock deploy --wait 0 -- true
[ $? = 112 ]
tell $? "nor does dibs lock"
at cat holders deploy && grep -q 'state token' "$dir/out"
tell $? "dibs holders shows it"
at cat renew deploy --ttl 10m
tell $? "the token renews it at another member"
at cat release deploy --token foreign
[ $? = 113 ] && grep -q 'does not own' "$dir/err"
tell $? "a foreign token does not release it"
at bee hold deploy --ttl 5m --token "$DIBS_TOKEN" && grep -q "DIBS_FENCE=$fence" "$dir/out"
tell $? "the same token gets the same fence again"

at bee lock nested -- timeout 20 "$DIBS" hold nested --ttl 5m --socket "$dir/cat"
[ $? = 114 ] && grep -q '^dibs: this runs under the lock "nested" .*would wait for itself' "$dir/err"
tell $? "dibs hold of a lock under which it runs is refused at once"
at bee lock nested -- "$DIBS" hold beside --ttl 10ms --socket "$dir/cat"
tell $? "that of another lock is not"

kill -KILL "$(cat "$dir/ant.pid")"
wait "$(cat "$dir/ant.pid")" 2>/dev/null
until_true at bee renew deploy --ttl 5m
tell $? "the token renews it after the member was killed at which it was taken"
at cat hold deploy --ttl 5m --wait 0
[ $? = 112 ]
tell $? "and it excludes others"
at cat release deploy
tell $? "the token releases it at a third member"
at cat release deploy
[ $? = 113 ]
tell $? "once"
start ant
until_true all_ready
at ant hold deploy --ttl 200ms && eval "$(cat "$dir/out")" && [ "$DIBS_FENCE" -gt "$fence" ]
tell $? "the next token has a larger fence"

"$DIBS" hold unread --ttl 1h --socket "$dir/ant" >/dev/full 2>"$dir/err"
[ $? = 2 ] && grep -q "cannot write the output: .*; releasing the lock" "$dir/err" && "$DIBS" try unread --socket "$dir/ant" -- true
tell $? "a token that cannot be printed does not hold the lock"
python3 -c 'import os, subprocess, sys
reads, writes = os.pipe()
os.close(reads)
sys.exit(subprocess.call(sys.argv[1:], stdout=writes))' "$DIBS" hold unread --ttl 1h --wait 0 --socket "$dir/ant" 2>"$dir/err"
[ $? = 2 ] && "$DIBS" try unread --socket "$dir/ant" -- true && grep -q "cannot write the output: Broken pipe; releasing the lock" "$dir/err"
tell $? "nor one whose reader has ended"
rm -f "$dir/err"
at bee hold deploy --ttl 1m --wait 20
tell $? "a lock that is not renewed goes to one that waits"
at ant renew deploy --ttl 1m
[ $? = 113 ]
tell $? "and its former token does not own it any more"

# Clients are served in the order in which they have asked. A wait that begins anew from time to time would be the last one's each time.
at cat hold queue --ttl 5m && eval "$(cat "$dir/out")"
"$DIBS" hold queue --ttl 5m --socket "$dir/bee" >"$dir/next" 2>&1 &
next=$!
started="$started $next"
waits_for() { # MILLISECONDS
    "$DIBS" waiters queue --socket "$dir/bee" | grep -q . && [ "$("$DIBS" waiters queue --socket "$dir/bee" | sed -n 's/.*age ms \([0-9]*\).*/\1/p')" -gt "$1" ]
}
until_true waits_for 6000
tell $? "dibs hold keeps its place in the line for as long as it waits"
at ant release queue && wait "$next" && grep -q DIBS_FENCE "$dir/next"
tell $? "and is granted the lock when that is released"

rejects "--ttl is missing: the time for which the lock is held unless it is renewed, for instance --ttl 5m" hold x --socket "$dir/ant"
unset DIBS_TOKEN
rejects 'no token is known; eval "$(dibs hold NAME --ttl T)" sets DIBS_TOKEN, or use --token' release x --socket "$dir/ant"

echo "1..$number"
