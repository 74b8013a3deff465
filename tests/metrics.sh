#!/bin/sh
# What a daemon tells over HTTP, read by a strict parser, and compared with what has happened.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if ! python3 -c 'import http.client'; then
    tell 0 "metrics # SKIP there is no python3"
    echo "1..1"
    exit 0
fi

take_ports

get() { # PORT PATH [METHOD]: the status, then the body
    python3 -c '
import http.client, sys
c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=60)
c.request(sys.argv[3], sys.argv[2])
r = c.getresponse()
print(r.status)
print(r.read().decode(), end="")' "$1" "$2" "${3:-GET}"
}

metrics() { # PORT
    python3 tests/metrics.py "$1" >"$dir/metrics"
}

is() { # SAMPLE VALUE
    grep -qxF "$1 $2" "$dir/metrics" || {
        echo "# $1 is not $2, but: $(grep -F "$1" "$dir/metrics")"
        false
    }
}

"$DIBS" serve --socket "$dir/solo" --name solo --http 127.0.0.1:$base 2>"$dir/solo.log" &
started=$!
export DIBS_SOCKET="$dir/solo"
until_true test -S "$dir/solo"

metrics $base
tell $? "what is told before anything has happened is in the right format"
is 'dibs_grants_total' 0 && is dibs_ready 1 && is 'dibs_vouches_seconds' inf
tell $? "and says so"

for _ in 1 2 3; do
    "$DIBS" lock a -- true
done
# shellcheck disable=SC2016
"$DIBS" lock a -- sh -c ': >"$0"; while [ -e "$0" ]; do sleep 0.02; done' "$dir/held" &
holder=$!
until_true test -e "$dir/held"
"$DIBS" lock a --wait 0.01 -- true 2>/dev/null
"$DIBS" lock a --slots 2 -- true 2>/dev/null
"$DIBS" lock a -- true &
waiter=$!
until_true sh -c "'$DIBS' waiters a | grep -q exclusive"
metrics $base
tell $? "what is told in the midst of it is in the right format"
is dibs_grants_total 4 && is dibs_releases_total 3 && is dibs_holders 1 && is dibs_waiters 1 && is dibs_timeouts_total 1
tell $? "grants, releases, holders, waiters, time-outs are counted"
is dibs_wait_seconds_count 4 && is dibs_hold_seconds_count 3 && is dibs_handover_seconds_count 0
tell $? "waits and holds are measured"
rm "$dir/held"
wait $holder $waiter
# shellcheck disable=SC2016
"$DIBS" lock a --grace 0.1 -- sh -c ': >"$0"; while :; do sleep 0.02; done' "$dir/held" 2>/dev/null &
holder=$!
until_true test -e "$dir/held"
"$DIBS" force-unlock a >/dev/null
wait $holder
metrics $base && is dibs_losses_total 1 && is dibs_handover_seconds_count 1 && is dibs_holders 0 && is dibs_waiters 0
tell $? "so are losses and hand-overs"

[ "$(get $base /healthz | tr '\n' ' ')" = "200 ok " ]
tell $? "/healthz: it is fine"
get $base /status.json | sed 1d >"$dir/status.json"
"$DIBS" status --format json >"$dir/status"
python3 -c '
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
a["memory_bytes"] = b["memory_bytes"] = 0 # it may change in between
assert a == b, (a, b)
assert a["ready"] is True and a["reason"] == "" and a["members"][0]["takes_part"] is True, a
assert all(key.replace("_", "").isalnum() for key in list(a) + list(a["members"][0])), a' "$dir/status" "$dir/status.json"
tell $? "/status.json is what dibs status says"
[ "$(get $base /nothing | sed -n 1p)" = 404 ] && [ "$(get $base /metrics POST | sed -n 1p)" = 405 ] &&
    [ "$(get $base /metrics HEAD)" = 200 ]
tell $? "what is not there, and what cannot be done, is said so"

# A caller that sends request behind request, and never waits for an answer, keeps no client waiting.
python3 -c '
import select, socket, sys
told = False
while True:
    try:
        with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as s:
            s.setblocking(False)
            while True:
                r, w, _ = select.select([s], [s], [])
                if r and not s.recv(1 << 20):
                    break
                if w:
                    s.send(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
                if r and not told:
                    told = True
                    print("there", flush=True)
    except OSError:
        pass' $base >"$dir/pipeline" &
pipeline=$!
started="$started $pipeline"
until_true grep -q there "$dir/pipeline"
timeout 60 "$DIBS" lock a --wait 15 -- true && timeout 60 "$DIBS" lock a --wait 15 -- sleep 0.3
tell $? "requests behind each other without end keep no client waiting"
kill $pipeline

# Callers that say nothing, or nonsense, or a byte now and then, keep nobody from anything.
python3 -c '
import socket, sys, time
all = []
for k in range(100):
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    if k % 3 == 1:
        s.sendall(b"\0\377 not http\r\n" * 100)
    all.append(s)
print("there", flush=True)
for k in range(600):
    time.sleep(0.1)
    for s in all[::3]:
        try:
            s.send(b"GET /metrics HTTP/1.1\r\nX: y\r\n"[k:k + 1] or b"x")
        except OSError:
            pass' $base >"$dir/silent" &
silent=$!
started="$started $silent"
until_true grep -q there "$dir/silent"
"$DIBS" lock a --wait 20 -- true
tell $? "callers that say nothing, or nonsense, keep no client waiting"
[ "$(get $base /healthz 2>&1 | sed -n 1p)" = 200 ] && metrics $base
tell $? "nor clients that want to know, while they are there"
kill $silent

"$DIBS" serve --socket "$dir/other" --http 127.0.0.1:$base 2>"$dir/said"
[ $? = 1 ] && grep -q "cannot listen on 127.0.0.1:$base for HTTP" "$dir/said"
tell $? "a port that is taken is said so"
"$DIBS" serve --socket "$dir/other" --http 0.0.0.0:$base 2>"$dir/said"
[ $? = 2 ] && grep -q "not on loopback" "$dir/said"
tell $? "without a key it is on loopback only"

# ------------------------------------------------------------------------------------------------------------- the page

mkdir "$dir/bin"
cp "$DIBS" "$dir/bin/dibs"
"$dir/bin/dibs" serve --socket "$dir/bare" --http 127.0.0.1:$((base + 4)) 2>"$dir/bare.log" &
started="$started $!"
until_true get $((base + 4)) /healthz
get $((base + 4)) / | tr '\n' ' ' | grep -q '^404 .*the page is not installed: "./run page" makes it'
tell $? "without a page / says so"
python3 -c 'print("<!doctype html>" + "x" * 1000000, end="")' >"$dir/bin/dibs-lab.html"
"$dir/bin/dibs" serve --socket "$dir/paged" --http 127.0.0.1:$((base + 5)) 2>"$dir/paged.log" &
started="$started $!"
until_true get $((base + 5)) /healthz
get $((base + 5)) / >"$dir/got"
[ "$(sed -n 1p "$dir/got")" = 200 ] && sed 1d "$dir/got" | cmp -s - "$dir/bin/dibs-lab.html"
tell $? "/ is the page that lies beside the program"

# ------------------------------------------------------------------------------------------------------------ a cluster

members="ant=127.0.0.1:$((base + 1)),bee=127.0.0.1:$((base + 2))"
"$DIBS" serve --socket "$dir/ant" --data "$dir/data" --name ant --members "$members" --http 127.0.0.1:$((base + 3)) 2>"$dir/ant.log" &
started="$started $!"
until_true "$DIBS" status --socket "$dir/ant"
until_true metrics $((base + 3)) && is dibs_ready 0 && is 'dibs_link_up{member="bee"}' 0
tell $? "a member that has met no other says that"
get $((base + 3)) /healthz >"$dir/said"
[ "$(sed -n 1p "$dir/said")" = 503 ] && grep -q 'majority\|members' "$dir/said"
tell $? "and that it is not well, and why"
"$DIBS" serve --socket "$dir/bee" --data "$dir/data" --name bee --members "$members" 2>"$dir/bee.log" &
bee=$!
started="$started $bee"
until_true sh -c "'$DIBS' status --socket '$dir/ant' | grep -q '^ready yes'" &&
    "$DIBS" lock x --socket "$dir/ant" -- true && "$DIBS" lock x --socket "$dir/bee" -- true &&
    "$DIBS" lock x --socket "$dir/ant" -- true
metrics $((base + 3)) && is 'dibs_link_up{member="bee"}' 1 && is dibs_view_members 2 &&
    grep -q '^dibs_messages_sent_total{algorithm="swaroop-singh",kind="[A-Z]*"} [1-9]' "$dir/metrics" &&
    grep -q '^dibs_messages_received_total{algorithm="swaroop-singh",kind="[A-Z]*"} [1-9]' "$dir/metrics"
tell $? "messages are counted, by algorithm and kind"

echo "1..$number"
