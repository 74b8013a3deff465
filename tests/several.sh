#!/bin/sh
# Several locks at once, with three daemons: all or none, each in its own mode, one time limit; what the command finds in its
# environment; and a command that requests a lock under which it runs.
# Invariants: I35, I36.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
for name in ant bee cat; do
    serve $name --name $name --members "$members"
done
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat

at() { # MEMBER COMMAND...
    socket=$dir/$1
    shift
    timeout 60 env DIBS_SOCKET="$socket" "$DIBS" "$@" >"$dir/out" 2>"$dir/err"
}

# ------------------------------------------------------------------------------------------------------------ granted

at ant lock --shared b my-c --slots 3 a --group red -- sh -c '"$0" holders a; "$0" holders b; "$0" holders my-c; env | grep "^DIBS_[FL]"' "$DIBS"
status=$?
[ $status = 0 ] && [ "$(grep -c 'mode group' "$dir/out")" = 1 ] && [ "$(grep -c 'mode shared' "$dir/out")" = 1 ] && [ "$(grep -c 'mode slot' "$dir/out")" = 1 ]
tell $? "three locks are held, each in its own mode"

at ant lock --shared b my-c --slots 3 a --group red -- sh -c 'echo "$DIBS_LOCK"; echo "${DIBS_FENCE-none}"; echo "$DIBS_LOCKS"; echo "$DIBS_FENCE_b b"; echo "$DIBS_FENCE_my_c my-c"; echo "$DIBS_FENCE_a a"'
[ "$(sed -n 1,4p "$dir/out")" = "$(printf 'b\nmy-c\na\nnone')" ] && [ "$(sed -n 5,7p "$dir/out")" = "$(sed -n 8,10p "$dir/out")" ] &&
    sed -n 5,7p "$dir/out" | grep -Eqx '[0-9]+ my-c'
tell $? "the command finds their names and fencing tokens in its environment"

at ant lock outer -- sh -c '"$0" lock inner a.b a-b -- sh -c "echo \"\$DIBS_LOCKS\"; echo \$DIBS_FENCE_outer outer; echo \${DIBS_FENCE_a_b-unset}"' "$DIBS"
[ $? = 0 ] && [ "$(sed -n 1p "$dir/out")" = "$(sed -n 5p "$dir/out")" ] && sed -n 1p "$dir/out" | grep -Eqx '[0-9]+ outer' &&
    sed -n 2p "$dir/out" | grep -Eqx '[0-9]+ inner' && [ "$(sed -n 6p "$dir/out")" = unset ]
tell $? "a nested command sees the outer lock, too; a variable that two names would share is not set"

# --------------------------------------------------------------------------------------------------------- all or none

at cat lock b -- sh -c ': >"$0"; until [ -e "$1" ]; do sleep 0.05; done' "$dir/in" "$dir/end" &
holder=$!
started="$started $holder"
until_true test -e "$dir/in"
at ant lock c b a --wait 300ms -- true
[ $? = 112 ] && grep -Eqx 'dibs: timed out after 0.3 s waiting for lock "c", "b", "a" \("b" is held by [^ ]* sh since [0-9:]*\)' "$dir/err"
tell $? "the wait for all together has one limit, and the lock that is missing is named"
at bee try a c -- true
tell $? "then none of them is held"
at ant try a b -- true
[ $? = 112 ]
tell $? "dibs try takes several, too"
: >"$dir/end"
wait "$holder"

# Ten jobs of three members name the same locks in different orders. If they were requested in these orders, the jobs would wait
# for each other in a circle.
echo 0 >"$dir/count"
jobs=
for k in 1 2 3 4 5 6 7 8 9 10; do
    case $((k % 3)) in
    0) names='x y z' member=ant ;;
    1) names='z y x' member=bee ;;
    2) names='y z x' member=cat ;;
    esac
    # shellcheck disable=SC2086 # names
    timeout 60 "$DIBS" lock $names --socket "$dir/$member" -- sh -c 'read -r n <"$0"; sleep 0.02; echo $((n + 1)) >"$0"' "$dir/count" 2>>"$dir/err" &
    jobs="$jobs $!"
done
for job in $jobs; do wait "$job"; done
[ "$(cat "$dir/count")" = 10 ]
tell $? "jobs that name the same locks in different orders do not wait for each other in a circle"

# A job loses one of its locks: it is ended, and the others are released.
at ant lock p q -- sh -c ': >"$0"; exec sleep 100' "$dir/pq" &
holder=$!
until_true test -e "$dir/pq"
DIBS_SOCKET="$dir/bee" "$DIBS" force-unlock q >"$dir/said" 2>&1
wait "$holder"
[ $? = 113 ] && grep -q '"q" is lost: it was taken away by force-unlock' "$dir/err" && at cat try p q -- true
tell $? "a job that loses one of its locks is ended, and releases the others"

# -------------------------------------------------------------------------------------------------------------- nested

at ant lock n m -- "$DIBS" lock k m -- true
[ $? = 114 ] && grep -Eq '^dibs: this runs under the lock "m" \(fence [0-9]*, from DIBS_LOCKS\), and would wait for itself; ' "$dir/err"
tell $? "a nested dibs lock that requests a lock under which it runs is refused at once"
at ant lock n -- "$DIBS" lock m --socket "$dir/bee" -- "$DIBS" lock n --shared --socket "$dir/cat" -- true
[ $? = 114 ] && grep -q 'under the lock "n"' "$dir/err"
tell $? "so it is at another member, and two levels below"

at ant lock n --shared m --slots 2 -- "$DIBS" lock n --shared m --slots 2 --socket "$dir/bee" -- echo fine
[ $? = 0 ] && [ "$(cat "$dir/out")" = fine ]
tell $? "it is granted a lock that it may share with the outer one"

serve dog
until_true is_ready dog
at ant lock n -- "$DIBS" lock n --socket "$dir/dog" -- echo fine
[ $? = 0 ] && [ "$(cat "$dir/out")" = fine ]
tell $? "a lock of the same name in another cluster is another lock"

# ----------------------------------------------------------------------------------------------------------- deadlock

# Two commands, each under one lock, request that of the other one.
circle() { # MEMBER OUTER INNER
    timeout 60 "$DIBS" lock "$2" --socket "$dir/$1" -- sh -c ': >"$0.$1"; until [ -e "$0.one" ] && [ -e "$0.two" ]; do sleep 0.05; done
        exec "$2" lock "$1" --socket "$3" -- true' "$dir/circle" "$3" "$DIBS" "$dir/$1" 2>"$dir/circle.$2.err"
    echo $? >"$dir/circle.$2.status"
}
circle ant one two &
first=$!
circle cat two one &
wait "$first"
wait $!
[ "$(sort "$dir"/circle.*.status | tr '\n' ' ')" = '0 117 ' ] &&
    grep -Eq '^dibs: this client waits for "(one|two)", held by [^ ]* sh at member (ant|cat), under which [^ ]* true at member (ant|cat) runs and waits for "(one|two)", held by [^ ]* sh at member (ant|cat), under which this client runs$' "$dir/circle.one.err" "$dir/circle.two.err"
tell $? "of two nested commands that wait for each other, one ends with status 117, and says why; the other goes on"
cat "$dir/ant.log" "$dir/cat.log" | grep -Eq 'audit: deadlock: .*: "(one|two)": its wait has ended, the youngest of a cycle: this client waits for "(one|two)", held by [^ ]* sh at member (ant|cat), under which .*, under which this client runs$'
tell $? "and the daemon's log has it, with all of the circle"

# The same below many locks, and below locks with long names.
deep_circle() { # TAG INNER OUTER...: one of two
    tag=$1 inner=$2
    shift 2
    timeout 60 "$DIBS" lock "$@" --socket "$dir/ant" -- sh -c ': >"$0.$1"; until [ -e "$0.deep" ] && [ -e "$0.flat" ]; do sleep 0.05; done
        exec "$2" lock "$3" --wait 20 --socket "$4" -- true' "$dir/circle" "$tag" "$DIBS" "$inner" "$dir/ant" 2>"$dir/circle.$tag.err"
    echo $? >"$dir/circle.$tag.status"
}
both_end() { # INNER OUTER...: the last of OUTER is the lock that the other one requests
    rm -f "$dir"/circle.*
    for last in "$@"; do :; done
    deep_circle deep "$@" &
    first=$!
    deep_circle flat "$last" "$1" &
    wait "$first"
    wait $!
    [ "$(sort "$dir"/circle.*.status | tr '\n' ' ')" = '0 117 ' ]
}
long=$(seq -f '%0255.0f' 1 32)
# shellcheck disable=SC2086 # names
both_end out $long
tell $? "so it is if the command runs under 32 locks with names of 255 bytes"
under=$(seq 1 31 | while read -r k; do echo "1794783362105714 elsewhere-$k"; done)
# shellcheck disable=SC2046 # names
DIBS_LOCKS=$under both_end out $(seq -f 'in-%.0f' 1 32)
tell $? "and if it runs under 63 locks, of which the last one counts"

# shellcheck disable=SC2046
DIBS_LOCKS=$under at ant lock $(seq 1 32) -- "$DIBS" lock 33 -- echo fine
[ $? = 0 ] && [ "$(cat "$dir/out")" = fine ]
tell $? "a command runs under 64 locks"
# shellcheck disable=SC2046
DIBS_LOCKS=$under at ant lock $(seq 1 32) -- "$DIBS" lock 33 34 -- echo fine
[ $? = 114 ] && grep -q '^dibs: this runs under 63 locks, and 2 more would be too many; nest fewer: ' "$dir/err"
tell $? "a nested dibs lock beyond that is refused, and says why"
# shellcheck disable=SC2046,SC2086
at ant lock $long -- "$DIBS" lock $(seq -f '%0254.0fb' 1 32) -- echo fine
[ $? = 114 ] && grep -q '^dibs: this runs under 32 locks, and 32 more would be too many; nest fewer: ' "$dir/err"
tell $? "so it is if the names are too long together"

rejects 'lock "a" is named twice' lock a b a -- true
rejects 'only one of --shared, --group and --slots is possible for "a"' lock a --shared --slots 2 b -- true
rejects 'no command is given (usage: dibs lock NAME... [OPTION...] -- COMMAND...)' lock a b --

echo "1..$number"
