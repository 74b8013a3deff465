#!/bin/sh
# Chaos, for real: five daemons, each on a network of its own, under load, while daemons are killed and stopped, and the
# network is cut. Clients write down what they believe (chaos_client.c); a checker (chaos_history.py) judges it. Times
# are told, in leases, and never asserted; the order of events is. It needs root, for network namespaces.
#
#   CHAOS_SEED=N      which faults; told at the beginning        CHAOS_FAULTS=N    how many of them
#   CHAOS_CUTS=N      how often a minority is cut off            (tests/nightly has many more of both)
# Invariants: I17, I18, I27.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

here=$PWD/tests
client=build/$MODE/tests/chaos_client
lease=1000
seed=${CHAOS_SEED:-$$}
# shellcheck source=tests/chaos_net
. tests/chaos_net
trap 'net_end; suite_end' EXIT

leases() { # NS
    echo "$1 $lease" | awk '{ printf "%.2f leases", $1 / 1e6 / $2 }'
}

# ------------------------------------------------------------------------------------------------- who checks the checker?

judge() { # STATUS WORD NAME, and a history of: WHO NAME MODE FENCE ASKED GRANTED BELIEVED END
    cat >"$dir/made.up"
    python3 tests/chaos_history.py check "$dir/made.up" >"$dir/said"
    [ $? = "$1" ] && grep -q "$2" "$dir/said"
    tell $? "the checker: $3"
}

judge 0 "4 holds" "one after the other, readers together, two in two slots" <<END
a all x 1 1 2 3 released
b all x 2 1 4 5 lost
c page s 1 1 2 9 released
d page s 1 1 3 8 released
END
judge 1 OVERLAP "two at once are found" <<END
a all x 1 1 2 6 gone
b all x 2 1 6 9 released
END
judge 1 OVERLAP "a reader beside a writer is found" <<END
a page s 1 1 2 6 released
b page x 2 1 5 9 released
END
judge 1 OVERLAP "two groups at once are found" <<END
a room gred 1 1 2 6 released
b room gblue 2 1 5 9 released
END
judge 1 OVERLAP "three in two slots are found" <<END
a slots n2 1 1 2 6 released
b slots n2 1 1 3 6 released
c slots n2 1 1 4 6 released
END
judge 1 FENCE "a fence that does not grow is found" <<END
a all x 7 1 2 3 released
b all x 7 1 4 5 released
END
judge 1 FENCE "a fence that falls is found, and not at the next one only" <<END
a all x 7 1 2 3 released
b page s 9 1 2 3 released
c all x 6 1 4 5 released
END
judge 1 EMPTY "a history of nothing shows nothing" <<END
a all x 0 1 2 2 timeout
END

judge_losses() { # STATUS WORD NAME, and a history; m1 is in trouble from 10 to 20
    cat >"$dir/made.up"
    echo "10 20 m1 m2" >"$dir/troubles"
    python3 tests/chaos_history.py beside "$dir/troubles" "$dir/made.up" >"$dir/said"
    [ $? = "$1" ] && grep -q "$2" "$dir/said"
    tell $? "the checker: $3"
    : >"$dir/troubles"
}

judge_losses 0 "1 locks were lost" "a client of a member in trouble may lose a lock" <<END
m1.a all x 1 1 2 15 lost
m3.a own x 1 1 2 15 released
END
judge_losses 1 "LOST.*m3.a" "who is at another one may not" <<END
m3.a all x 1 1 2 15 gone
END
judge_losses 1 "LOST.*m2.a" "nor at another time" <<END
m2.a all x 1 1 2 21 lost
END
judge_losses 1 EMPTY "where nobody loses anything, nothing is shown" <<END
m1.a all x 1 1 2 15 released
END

# -------------------------------------------------------------------------------------------------------- five, and a load

if ! net_make 5; then
    tell 0 "five daemons on networks of their own # SKIP there are no network namespaces for us: $(head -1 "$dir/net")"
    echo "1..$number"
    exit 0
fi
for k in 1 2 3 4 5; do start $k; done
until_true is_whole 1 2 3 4 5
good=$?
tell $good "five daemons on networks of their own meet"
[ $good = 0 ] || { tail -n 5 "$dir"/m?.log | sed 's/^/# /'; exit 1; }
run_load 5
keepers=
for k in 1 2 3 4 5; do
    run_client keep "m$k.keeps" $k 0 "keep$k:x"
    keepers="$keepers $last_client"
done
# Clients with kept sessions: each member has one that holds a lock of its own for ever, and one that shares a lock with the
# others.
export CHAOS_KEEP_MS=60000
for k in 1 2 3 4 5; do
    run_client kept "m$k.kept" $k 0 "kept$k:x"
    run_client kept "m$k.busy" $k 5 kept:x
done
unset CHAOS_KEEP_MS
until_true are_all_served 0
tell $? "all clients are served"

all_whole_and_served() { # NAME
    until_true is_whole 1 2 3 4 5
    whole=$?
    until_true are_all_served "$(now_ns)" && [ $whole = 0 ]
    tell $? "$1: all take part again, and all clients are served"
}

is_over() { # SINCE K...: the trouble of these members
    since=$1
    shift
    echo "$since $(now_ns) $(echo "$*" | sed 's/[0-9]/m&/g')" >>"$dir/troubles"
}

verdict() { # NAME
    history check >"$dir/said"
    tell $? "$1: no client held a lock beside another, and fences grew"
    sed 's/^/# /' "$dir/said"
}

# ------------------------------------------------------------------------------------------------- a holder's daemon dies

group="kill"
run_client kill holder 2 0 prize:x
until_true "$DIBS" holders --socket "$dir/m2" prize
until_true sh -c "'$DIBS' holders --socket '$dir/m2' prize | grep -q exclusive"
holder=$last_client
run_client kill waiter 3 5 prize:x
waiter=$last_client
until_true sh -c "'$DIBS' waiters --socket '$dir/m3' prize | grep -q exclusive"
killed=$(now_ns)
signal KILL 2
until_true sh -c "grep -q '^waiter prize x [1-9]' '$dir/kill.waiter.history'"
tell $? "kill -9 of a member: a client that waits elsewhere for the lock of its client is granted it"
end_client "$holder"
end_client "$waiter"
history check >"$dir/said" && grep -q '^holder.* gone$' "$dir/kill.holder.history"
tell $? "but not before the holder knew"
echo "# the waiter was granted it $(leases $(($(history granted prize "$killed") - killed))) after the kill"
group="load"
echo "# others waited for locks of their own for at most $(leases "$(history waits 'own[1345]' "$killed")")"
start 2
all_whole_and_served "kill -9 and restart"
is_over "$killed" 2

# ------------------------------------------------------------------------------------------------- a holder's daemon stops

group="stop"
run_client stop holder 4 0 prize:x
holder=$last_client
until_true sh -c "'$DIBS' holders --socket '$dir/m4' prize | grep -q exclusive"
run_client stop waiter 1 5 prize:x
waiter=$last_client
stopped=$(now_ns)
signal STOP 4
until_true grep -q '^holder prize x [1-9].* gone$' "$dir/stop.holder.history"
tell $? "SIGSTOP of a daemon: its client knows by itself that the lock is lost"
until_true sh -c "grep -q '^waiter prize x [1-9]' '$dir/stop.waiter.history'"
tell $? "and another client is granted it"
echo "# the waiter was granted it $(leases $(($(history granted prize "$stopped") - stopped))) after the stop"
while [ $(($(now_ns) - stopped)) -lt $((lease * ${CHAOS_STOP:-10} * 1000000)) ]; do sleep 0.1; done
signal CONT 4
until_true grep -q "does not take part" "$dir/m4.log"
tell $? "SIGCONT after $((${CHAOS_STOP:-10})) leases: the daemon finds out that it does not take part"
group="load"
all_whole_and_served "SIGCONT"
is_over "$stopped" 4
group="stop"
end_client "$holder"
end_client "$waiter"
history check >"$dir/said"
tell $? "and nothing stale was granted"
group="load"

# --------------------------------------------------------------------------------------------- a minority, again and again

cuts=${CHAOS_CUTS:-3}
longest=0
lonely=0
for round in $(seq "$cuts"); do
    a=$((round % 5 + 1)) b=$(((round * 3 + 1) % 5 + 1))
    [ $a != $b ] || b=$((b % 5 + 1))
    cut=$(now_ns)
    cut_off $a $b
    # Until the three others go on without them, and the two know.
    until_true sh -c "! '$DIBS' status --socket '$dir/m$a' | grep -q '^ready yes'"
    # shellcheck disable=SC2046 # words
    until_true is_ready $(seq 5 | grep -v "[$a$b]") || lonely=$((lonely + 1))
    healed=$(now_ns)
    heal $a $b
    if ! until_true is_whole 1 2 3 4 5 || ! until_true are_all_served "$healed"; then
        lonely=$((lonely + 1))
        break
    fi
    is_over "$cut" $a $b
    took=$(($(now_ns) - healed))
    [ $took -le $longest ] || longest=$took
done
[ $lonely = 0 ]
tell $? "a minority of two was cut off and healed $cuts times, and all clients went on each time"
echo "# until all had been served again after a cut was healed: $(leases $longest) at most"
verdict "cuts"
for pid in $keepers; do end_client "$pid"; done
python3 tests/chaos_history.py beside "$dir/troubles" "$dir"/load.*.history "$dir"/keep.*.history >"$dir/said"
tell $? "kill, stop, cuts: no client of a member that was not in trouble has lost a lock"
sed 's/^/# /' "$dir/said"

# -------------------------------------------------------------------------------------------------------------- everything

# The next number below N, from the seed.
draw() { # N
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    drawn=$((seed / 65536 % $1))
}

pause() { # TENTHS of a lease, at most
    draw "$1"
    sleep "$(echo "$drawn $lease" | awk '{ print ($1 + 1) * $2 / 10000 }')"
}

one_fault() {
    draw 5
    x=$((drawn + 1))
    draw 4
    y=$(((x + drawn) % 5 + 1))
    draw 6
    case $drawn in
    0) echo "# kill -9 of m$x" && signal KILL $x && pause 20 && start $x ;;
    1) echo "# TERM of m$x" && signal TERM $x && pause 20 && start $x ;;
    2) echo "# stop of m$x" && signal STOP $x && pause 25 && signal CONT $x ;;
    3) echo "# cut off: m$x and m$y" && cut_off $x $y && pause 25 && heal $x $y ;;
    4) echo "# unplugged: m$x" && unplug $x && pause 25 && heal $x ;;
    5) echo "# m$x and m$y do not reach each other" && estrange add $x $y && pause 25 && estrange del $x $y ;;
    esac
    pause 10
}

faults=${CHAOS_FAULTS:-6}
echo "# CHAOS_SEED=$seed CHAOS_FAULTS=$faults"
for _ in $(seq "$faults"); do one_fault; done
all_whole_and_served "$faults faults"

slow_down() { # add|del
    for k in 1 2 3 4 5; do
        ip netns exec $net-"$k" tc qdisc "$1" dev eth0 root netem delay 20ms 10ms loss 3% 2>"$dir/net" || return 1
    done
}

if slow_down add; then
    since=$(now_ns)
    until_true are_all_served "$since"
    tell $? "delays of 10 to 30 ms, and a loss of 3 in 100: all clients are served"
    for _ in $(seq "$faults"); do one_fault; done
    slow_down del
    all_whole_and_served "$faults faults on a bad network"
else
    tell 0 "delay and loss # SKIP this kernel has no netem: $(head -1 "$dir/net")"
fi

end_load
verdict "everything"
sleep 1 # a lock that is in doubt now is held again, or lost
python3 tests/chaos_history.py check "$dir"/kept.*.history >"$dir/said" && [ -z "$(python3 tests/chaos_history.py losses "$dir"/kept.*.history)" ] &&
    grep -q 'doubt$' "$dir"/kept.*.history
tell $? "everything: no client with a kept session has lost a lock, nor held one beside another"
sed 's/^/# /' "$dir/said"
python3 tests/chaos_history.py losses "$dir"/kept.*.history | sed 's/^/# LOST: /'
[ "$(grep -c 'a note of no\|cut short\|too many letters' "$dir"/m?.log | awk -F: '{ s += $2 } END { print s }')" = 0 ]
tell $? "no daemon took another's message for nonsense"

for k in 1 2 3 4 5; do signal TERM $k; done
echo "1..$number"
