#!/bin/sh
# Daemons that come back, or should not: without a majority, after a restart of one, of all, or of one after the other, without
# their data directory, with a damaged one. On loopback; tests/chaos.sh has networks. No time is asserted.
# Invariant: I27.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

client=build/$MODE/tests/chaos_client

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
http=$((base + 10)) # of ant
lease=4000          # nobody is to be taken for dead because the machine is busy

start() { # NAME [OPTION...]
    name=$1
    shift
    "$DIBS" serve --name "$name" --members "$members" --lease $lease --socket "$dir/$name" \
        --data "$dir/$name.data" "$@" 2>>"$dir/$name.log" &
    started="$started $!"
    echo $! >"$dir/$name.pid"
}

start_all() {
    start ant --http 127.0.0.1:$http
    start bee
    start cat
}

end() { # SIGNAL NAME...
    signal=$1
    shift
    for name in "$@"; do kill -"$signal" "$(cat "$dir/$name.pid")"; done
    for name in "$@"; do wait "$(cat "$dir/$name.pid")" 2>/dev/null; done
}

says() { # NAME WORD...: of its status
    name=$1
    shift
    "$DIBS" status --socket "$dir/$name" | grep -q "^$*"
}

are_ready() { # NAME...
    for name in "$@"; do says "$name" ready yes || return 1; done
}

fence() { # NAME: of a lock that it takes
    # shellcheck disable=SC2016 # expanded by the inner shell
    "$DIBS" lock --socket "$dir/$1" --wait 30 ladder -- sh -c 'echo $DIBS_FENCE'
}

ask_http() { # PATH
    python3 - "http://127.0.0.1:$http$1" <<'END'
import sys, urllib.error, urllib.request
try:
    answer = urllib.request.urlopen(sys.argv[1], timeout=5)
except urllib.error.HTTPError as refusal:
    answer = refusal
print(answer.status, answer.read().decode())
END
}

# A daemon alone; a cluster in its place; and another cluster in place of that.
serve solo
until_true is_ready solo
alone=$(fence solo)
end_daemon solo
start_all
until_true are_ready ant bee cat
tell $? "three daemons meet"
founded=$(fence ant)
end KILL ant bee cat
rm -rf "$dir"/*.data
start_all
until_true are_ready ant bee cat
before=$(fence cat)
[ "$alone" -lt "$founded" ] && [ "$founded" -lt "$before" ]
tell $? "fences grow from a daemon alone to a cluster, and to a cluster that is founded anew"
[ "$before" -lt 9007199254740992 ]
tell $? "and are below 2^53"
echo "# $alone, $founded, $before"

# ------------------------------------------------------------------------------------------------------------- no majority

# shellcheck disable=SC2016
"$DIBS" lock --socket "$dir/ant" --keep 1 kept -- sh -c ': >"$0"; while :; do sleep 0.02; done' "$dir/kept" 2>"$dir/kept.said" &
holder=$!
until_true test -e "$dir/kept"
end KILL bee cat
wait $holder
[ $? = 113 ] && grep -q "lost" "$dir/kept.said"
tell $? "without a majority: a client that held a lock is told that it is lost, and its command is ended (113)"
until_true says ant "reason no majority can be reached" && says ant "ready no"
tell $? "dibs status says that no majority can be reached"
"$DIBS" lock --socket "$dir/ant" ladder --wait 0.5 -- true 2>"$dir/said"
[ $? = 116 ] && grep -q "no majority can be reached; dibs member list shows which members are missing" "$dir/said"
tell $? "dibs lock ends with 116, and says why"
grep -q "locks are not granted: no majority can be reached" "$dir/ant.log"
tell $? "the log says it"
ask_http /healthz >"$dir/said" && grep -q '^503 ' "$dir/said"
tell $? "/healthz says it (503)"
ask_http /status.json >"$dir/said" && grep -q '"ready": false, "reason": "no majority can be reached"' "$dir/said"
tell $? "/status.json says it"
ask_http /metrics >"$dir/said" && grep -q '^dibs_ready 0$' "$dir/said"
tell $? "/metrics say it"
timeout 120 "$DIBS" lock --socket "$dir/ant" patience -- true &
patient=$!
start bee
until_true are_ready ant bee
tell $? "one comes back, and with it the majority: locks are granted again"
wait $patient
tell $? "also to a client that has waited since there was none"
after=$(fence ant)
[ "$after" -gt "$before" ]
tell $? "fences grow"
start cat
until_true are_ready ant bee cat
tell $? "the third comes back"

# ---------------------------------------------------------------------------------------------------------------- restarts

view() { # NAME
    "$DIBS" status --socket "$dir/$1" | sed -n 's/^view //p'
}

before=$(view ant)
end KILL bee
start bee
until_true are_ready ant bee cat && [ "$(view ant)" -gt "$before" ]
tell $? "a member that was killed and started again is in a new view, without ceremony"

before=$(fence bee)
end KILL ant bee cat
start_all
until_true are_ready ant bee cat
tell $? "all are killed and started again: they meet"
after=$(fence cat)
[ "$after" -gt "$before" ]
tell $? "fences grow across that"

# One after the other is ended and started, while clients of all take locks. Only who is at the daemon that ends loses any.
load=
for name in ant bee cat; do
    "$client" "$dir/$name.history" "$name" "$dir/$name" 5 shared:x "$name:x" &
    load="$load $!"
    "$client" "$dir/$name.keeps.history" "$name" "$dir/$name" 0 "$name.keeps:x" &
    load="$load $!"
done
started="$started $load"

is_served() { # NAME SINCE: something that was asked for since
    tail -n 3 "$dir/$1.history" | awk -v since="$2" '$4 && $5 > since { found = 1 } END { exit !found }'
}

now_ns() {
    python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_BOOTTIME))'
}

serves_all() {
    since=$(now_ns)
    until_true is_served ant "$since" && until_true is_served bee "$since" && until_true is_served cat "$since"
}

serves_all
rolled=$?
for member in ant bee cat; do
    began=$(now_ns)
    end TERM $member
    start $member
    until_true are_ready ant bee cat && serves_all || rolled=1
    echo "$began $(now_ns) $member" >>"$dir/restarts"
done
tell $rolled "one after the other is ended by TERM and started: all clients are served each time"
for pid in $load; do kill "$pid" && wait "$pid"; done
python3 tests/chaos_history.py check "$dir"/*.history >"$dir/said"
tell $? "no client held a lock beside another, and fences grew"
sed 's/^/# /' "$dir/said"
python3 tests/chaos_history.py losses "$dir"/*.history >"$dir/losses"
[ "$(grep -c keeps "$dir/losses")" -ge 3 ]
tell $? "who held a lock at the daemon that ended knows that it is lost"
python3 tests/chaos_history.py beside "$dir/restarts" "$dir"/*.history >"$dir/said"
tell $? "and no other client has lost any"
sed 's/^/# /' "$dir/said"
waited=$(python3 tests/chaos_history.py waits '???' 0 "$dir"/*.history)
echo "# the longest wait for a lock that nobody else wanted: $((waited / 1000000)) ms; the lease is $lease ms"

# ---------------------------------------------------------------------------------------------------------------- the disk

end KILL bee
mv "$dir/bee.data" "$dir/bee.kept"
start bee
until_true grep -q "the data directory of bee is not the one it had; remove bee and add it anew" "$dir/ant.log"
tell $? "a member without its data directory is refused, with reason and remedy in the log of the others"
until_true grep -q "data directory of bee is not the one it had" "$dir/bee.log"
tell $? "and in its own"
are_ready ant cat && ! are_ready bee
tell $? "the others go on without it"
end KILL bee
rm -rf "$dir/bee.data"
mv "$dir/bee.kept" "$dir/bee.data"

# A crash may cut the last record short; it was confirmed to nobody.
journal=$dir/bee.data/bee.journal
printf 'torn' >>"$journal"
start bee
until_true are_ready ant bee cat
tell $? "a journal whose last record is cut short is used"

end KILL bee
python3 - "$journal" <<'END'
import sys
with open(sys.argv[1], "r+b") as journal:
    content = journal.read()
    journal.seek(len(content) // 3)
    journal.write(bytes([content[len(content) // 3] ^ 0x40]))
END
"$DIBS" serve --name bee --members "$members" --socket "$dir/bee" --data "$dir/bee.data" 2>"$dir/said"
[ $? = 1 ] && grep -qi "journal.*damage" "$dir/said"
tell $? "one that is damaged in the middle is refused, in a line"
sed 's/^/# /' "$dir/said"

end TERM ant cat
echo "1..$number"
