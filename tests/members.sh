#!/bin/sh
# Members come and go while the service runs: real daemons, `dibs member`.
# Invariants: I24, I32.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

serve() { # MEMBER [OPTION...]
    member=$1
    shift
    "$DIBS" serve --name "$member" --socket "$dir/$member" --data "$dir/data" --lease 4000 "$@" 2>>"$dir/$member.log" &
    started="$started $!"
    echo $! >"$dir/$member.pid"
}

takes_part() { # MEMBER, ASKED AT
    "$DIBS" member list --socket "$dir/$2" | grep -q "^name $1 .*standing member .*takes part yes"
}

fence() { # MEMBER: takes a lock there
    # shellcheck disable=SC2016 # expanded by the inner shell
    timeout 60 "$DIBS" lock fences --socket "$dir/$1" --wait 30 -- sh -c 'echo "$DIBS_FENCE"' >>"$dir/fences"
}

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
for member in ant bee cat; do serve $member --members "$members"; done
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat && fence ant
tell $? "three members are ready"

"$DIBS" member add dog=10.0.0.4:7400 --socket "$dir/ant" >"$dir/said" 2>&1
[ $? = 1 ] && grep -q "numbers on loopback" "$dir/said"
tell $? "without a key no member is added from another machine"
"$DIBS" member add bee=127.0.0.1:1 --socket "$dir/ant" >"$dir/said" 2>&1
[ $? = 1 ] && grep -q "already" "$dir/said"
tell $? "nor a second one of the same name"
"$DIBS" member add "dog=127.0.0.1:$base" --socket "$dir/bee" >"$dir/said" 2>&1
[ $? = 1 ] && grep -qx "dibs: ant is at 127.0.0.1:$base already; choose another address, or remove ant first" "$dir/said"
tell $? "nor one at the address of another, which is told at once"
rejects '"dog" has no address; write NAME=ADDRESS:PORT' member add dog --socket "$dir/nowhere"
rejects '"dog=" has no address; write NAME=ADDRESS:PORT' member add dog= --socket "$dir/nowhere"
rejects '"=127.0.0.1:1" has no name; write NAME=ADDRESS:PORT' member add =127.0.0.1:1 --socket "$dir/nowhere"
rejects '"dog=127.0.0.1:1" has an address; to remove a member, write its NAME only' member remove dog=127.0.0.1:1 --socket "$dir/nowhere"
rejects '--force is for removals' member add dog=127.0.0.1:1 --force --socket "$dir/nowhere"
"$DIBS" member remove dog --socket "$dir/ant" >"$dir/said" 2>&1
[ $? = 1 ] && grep -q "no such member" "$dir/said"
tell $? "who is not there cannot be removed"

# One that is never started does not stand in the way for ever.
"$DIBS" member add "fox=127.0.0.1:$((base + 4))" --socket "$dir/ant" >"$dir/said" && grep -q "within five minutes" "$dir/said"
tell $? "a member is added, and not started"
"$DIBS" member add "gnu=127.0.0.1:$((base + 5))" --socket "$dir/bee" >"$dir/second" 2>&1 &
second=$!
until_true grep -q "waiting: fox has been added and has not yet joined; .*dibs member remove fox" "$dir/second"
tell $? "the next change says what it waits for, and what to do"
"$DIBS" member remove fox --socket "$dir/cat" >"$dir/said" && wait $second && "$DIBS" member remove gnu --socket "$dir/bee" >"$dir/said"
tell $? "an addition is taken back at once, and the next change goes on"
until_true sh -c "! '$DIBS' member list --socket '$dir/bee' | grep -q '^name [fg]'"
tell $? "nothing is left of it"

# A lock is held all the while.
# shellcheck disable=SC2016
timeout 120 "$DIBS" lock held --socket "$dir/bee" -- sh -c ': >"$0"; while [ -e "$0" ]; do sleep 0.05; done' "$dir/held" &
holder=$!
until_true test -e "$dir/held"

serve dog --join --members "$members,dog=127.0.0.1:$((base + 3))"
"$DIBS" member add "dog=127.0.0.1:$((base + 3))" --socket "$dir/cat" >"$dir/said"
tell $? "a member is added, at any other"
until_true takes_part dog ant && until_true is_ready dog && fence dog
tell $? "it joins, and grants locks"
"$DIBS" try held --socket "$dir/dog" -- true 2>/dev/null
[ $? = 112 ]
tell $? "but not those that are held elsewhere"

"$DIBS" member remove ant --socket "$dir/ant" >"$dir/said" && until_true sh -c "! '$DIBS' member list --socket '$dir/dog' | grep -q '^name ant'"
tell $? "a member is removed, even at its own daemon"
timeout 60 "$DIBS" lock x --socket "$dir/ant" -- true 2>"$dir/said"
[ $? = 116 ] && grep -q "removed from the cluster" "$dir/said"
tell $? "its daemon says so to its clients"

kill -9 "$(cat "$dir/cat.pid")"
until_true sh -c "'$DIBS' member list --socket '$dir/bee' | grep -q '^name cat .*takes part no'"
"$DIBS" member remove dog --socket "$dir/bee" >"$dir/said" 2>&1
[ $? = 1 ] && grep -q "no majority; first start or remove cat" "$dir/said"
tell $? "no member is removed that a majority needs"
"$DIBS" member remove cat --socket "$dir/dog" >/dev/null && until_true sh -c "! '$DIBS' member list --socket '$dir/bee' | grep -q '^name cat'"
tell $? "a member that is dead is removed"
until_true is_ready bee && fence bee && fence dog
tell $? "the two that are left serve"

kill -0 $holder 2>/dev/null && [ -e "$dir/held" ] && rm "$dir/held" && wait $holder
tell $? "who held a lock held it through all of it"
sort -nu "$dir/fences" | cmp -s - "$dir/fences" && [ "$(wc -l <"$dir/fences")" = 4 ]
tell $? "fences grew"

echo "1..$number"
