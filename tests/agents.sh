#!/bin/sh
# Agents: daemons that are no members, and serve their clients through the members. Three real members and several agents on loopback. No time
# is asserted. AGENTS: how many more agents have a job each while a member is killed.
# Invariants: I19, I20, I33.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
places="127.0.0.1:$((base + 10)),127.0.0.1:$((base + 11)),127.0.0.1:$((base + 12))"

"$DIBS" keygen "$dir/key" >/dev/null && "$DIBS" keygen --client-of "$dir/key" --name farm "$dir/farm" >/dev/null &&
    "$DIBS" keygen --client-of "$dir/key" --name few "$dir/few" >/dev/null
tell $? "a cluster has a key, and its agents another"

cat >"$dir/rules" <<'RULES'
allow key:farm lock,watch *
allow key:few lock,watch *
limit key:few connections=2
RULES

start() { # NAME...
    for name; do
        case $name in ant) port=10 ;; bee) port=11 ;; *) port=12 ;; esac
        serve "$name" --config "$dir/rules" --name "$name" --members "$members" --lease 2000 --key "$dir/key" --clients "127.0.0.1:$((base + port))"
    done
}

agent() { # NAME PLACES [KEY]
    "$DIBS" serve --agent --socket "$dir/$1" --name "$1" --connect "$2" --key "$dir/${3:-farm}" 2>>"$dir/$1.log" &
    started="$started $!"
    echo $! >"$dir/$1.pid"
}

all_ready() {
    is_ready ant && is_ready bee && is_ready cat
}

member_of() { # AGENT
    "$DIBS" status --socket "$dir/$1" 2>/dev/null | sed -n 's/^member //p'
}

kill_daemon() { # SOCKET
    kill -KILL "$(cat "$dir/$1.pid")"
    wait "$(cat "$dir/$1.pid")" 2>/dev/null
}

is_held() { # NAME SOCKET
    "$DIBS" holders "$1" --socket "$dir/$2" 2>/dev/null | grep -q 'state held'
}

has_begun() { # FILE
    grep -q begun "$dir/$1"
}

run_python() { # NAME COMMAND...
    name=$1
    shift
    timeout 300 "$@" >"$dir/py.out" 2>"$dir/py.err"
    [ $? = 0 ] && [ ! -s "$dir/py.err" ]
    tell $? "$name"
    sed 's/^/# /' "$dir/py.err"
    while read -r line; do
        case $line in
        "ok - "*) tell 0 "${line#ok - }" ;;
        "not ok - "*) tell 1 "${line#not ok - }" ;;
        *) echo "$line" ;;
        esac
    done <"$dir/py.out"
}

start ant bee cat
until_true all_ready
tell $? "three members come together"

agent one "127.0.0.1:$((base + 10))"
agent two "$places"
agent three "$places"
until_true is_ready one && until_true is_ready two && until_true is_ready three
tell $? "three agents serve their sockets"

[ "$(member_of one)" = ant ] && "$DIBS" status --socket "$dir/one" | grep -qx 'agent one'
tell $? "the state of an agent is that of its member, and says that it is an agent"

"$DIBS" lock x --socket "$dir/one" -- "$DIBS" holders x --socket "$dir/two" >"$dir/out" && grep -q 'from 127.0.0.1, key:farm, agent one: user' "$dir/out"
tell $? "holders shows the agent, its key, and the user of its machine"

"$DIBS" lock x --socket "$dir/one" -- env -u DIBS_LOCKS "$DIBS" lock x --wait 0 --socket "$dir/two" -- true >"$dir/out" 2>&1
[ $? = 112 ]
tell $? "clients of two agents exclude each other"

"$DIBS" force-unlock x --socket "$dir/one" >"$dir/out" 2>&1
[ $? != 0 ] && grep -q 'key:farm does not have the right force-unlock' "$dir/out"
tell $? "the owner of an agent's socket is no operator of the members"

# ---- a member is killed

mkfifo "$dir/go"
agent home "$places"
until_true is_ready home
lost=$(member_of home)
"$DIBS" lock job --wait 600 --socket "$dir/home" -- sh -c 'echo begun; read -r word; echo "$word"' <"$dir/go" >"$dir/job.out" 2>&1 &
job=$!
started="$started $job"
exec 8<>"$dir/go" # it does not wait for a reader
until_true has_begun job.out
tell $? "a job has begun"
"$DIBS" lock job --wait 600 --socket "$dir/home" -- echo begun >"$dir/next.out" 2>&1 &
next=$!
started="$started $next"
waits() {
    "$DIBS" waiters job --socket "$dir/home" 2>/dev/null | grep -q 'agent home'
}
until_true waits
tell $? ".. and another one waits for its lock"
kill_daemon "$lost"
until_true is_ready home && [ "$(member_of home)" != "$lost" ]
tell $? "when its member is killed, an agent goes on with the next one"
until_true is_held job home
tell $? ".. and the job keeps its lock"
"$DIBS" lock job --wait 0 --socket "$dir/home" -- true >"$dir/out" 2>&1
[ $? = 112 ]
tell $? ".. which no other client is granted"

# ---- the agent is killed

kill_daemon home
agent home "$places"
until_true is_ready home && until_true is_held job home
tell $? "when the agent is killed and started again, the job keeps its lock"
until_true waits
tell $? ".. and the other one waits again"
echo well >&8
wait "$job" && grep -qx well "$dir/job.out"
tell $? "the job ends well"
wait "$next" && has_begun next.out
tell $? "and the next one has begun"
start "$lost"
until_true all_ready
tell $? "the member comes back"

# ---- a member is stopped

until_true is_ready home
lost=$(member_of home)
kill -STOP "$(cat "$dir/$lost.pid")"
is_elsewhere() {
    now=$(member_of home)
    [ -n "$now" ] && [ "$now" != "$lost" ]
}
until_true is_elsewhere
tell $? "an agent leaves a member that is stopped"
kill -CONT "$(cat "$dir/$lost.pid")"
until_true all_ready

# ---- an agent is stopped

"$DIBS" lock job --keep 600 --wait 600 --socket "$dir/home" -- sh -c 'echo begun; read -r word; echo "$word"' <"$dir/go" >"$dir/stop.out" 2>&1 &
job=$!
started="$started $job"
exec 8<>"$dir/go" # it does not wait for a reader
until_true has_begun stop.out
kill -STOP "$(cat "$dir/home.pid")"
is_given_up() {
    cat "$dir/ant.log" "$dir/bee.log" "$dir/cat.log" | grep -q 'is an agent that no longer answers'
}
until_true is_given_up
tell $? "a member gives an agent up that is stopped"
kill -CONT "$(cat "$dir/home.pid")"
until_true is_held job home
tell $? ".. and when the agent goes on, the job has its lock"
echo well >&8
wait "$job" && grep -qx well "$dir/stop.out"
tell $? ".. and ends well"

# ---- a member is drained

until_true is_ready home
lost=$(member_of home)
"$DIBS" lock long --keep 0 --wait 600 --socket "$dir/home" -- sh -c 'echo begun; read -r word; echo "$word"' <"$dir/go" >"$dir/long.out" 2>&1 &
long=$!
started="$started $long"
exec 8<>"$dir/go" # it does not wait for a reader
until_true has_begun long.out
"$DIBS" drain --socket "$dir/$lost" >"$dir/drain.out" 2>&1 &
drain=$!
started="$started $drain"
until_true is_elsewhere
tell $? "when its member is drained, new clients of an agent use another one"
"$DIBS" lock other --wait 600 --socket "$dir/home" -- true >"$dir/out" 2>&1
tell $? ".. and are granted locks"
"$DIBS" lock long --wait 0 --socket "$dir/home" -- true >"$dir/out" 2>&1
[ $? = 112 ]
tell $? ".. while a client that it had holds its lock there"
echo well >&8
wait "$long" && grep -qx well "$dir/long.out"
tell $? ".. until it has done its work"
wait "$drain"
drained=$?
tell $drained "then the member is drained"
[ $drained = 0 ] || kill "$(cat "$dir/$lost.pid")"
wait "$(cat "$dir/$lost.pid")" 2>/dev/null
start "$lost"
until_true all_ready
tell $? "and comes back"

# The places that are next accept a call and say nothing. Meanwhile a client of the member that is drained says nothing, either.
python3 -c '
import socket, time
doors = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(",".join("127.0.0.1:%d" % door.getsockname()[1] for door in doors), flush=True)
time.sleep(1000)
' >"$dir/silent" &
started="$started $!"
until_true test -s "$dir/silent"
agent quiet "127.0.0.1:$((base + 10)),$(cat "$dir/silent")"
until_true is_ready quiet
python3 -c '
import socket, sys
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
client.sendall(b"LOCK silence\r\n")
while client.recv(4096):
    print("begun", flush=True)
print("ended", flush=True)
' "$dir/quiet" >"$dir/silence.out" &
silence=$!
started="$started $silence"
until_true has_begun silence.out
"$DIBS" drain --socket "$dir/ant" >"$dir/drain.out" 2>&1 &
drain=$!
started="$started $drain"
leaves_twice() {
    [ "$(grep -c 'leaves the member at' "$dir/quiet.log")" -ge 2 ]
}
until_true leaves_twice && is_held silence bee && ! grep -q ended "$dir/silence.out"
tell $? "a client of a member that is drained keeps its lock while the agent finds no other member"
kill "$silence"
wait "$silence" 2>/dev/null
wait "$drain"
tell $? ".. and the member is drained when it has gone"
kill "$(cat "$dir/quiet.pid")"
wait "$(cat "$dir/ant.pid")" 2>/dev/null
start ant
until_true all_ready
tell $? "and comes back, too"

kill -HUP "$(cat "$dir/home.pid")"
reads_again() {
    grep -q 'SIGHUP: the key was read again' "$dir/home.log"
}
until_true reads_again && is_ready home
tell $? "SIGHUP makes an agent read its key again"

# ---- a client ends

"$DIBS" lock y --wait 600 --socket "$dir/two" -- sh -c 'echo begun; exec sleep 1000' >"$dir/y.out" 2>&1 &
holder=$!
started="$started $holder"
until_true has_begun y.out
is_free() {
    ! is_held y three
}
kill -KILL "$holder"
until_true is_free
tell $? "a client that is killed leaves nothing behind, though its session was kept"

# A process that ends has closed its sockets a moment before. Meanwhile the member has something to tell it, which cannot be written.
timeout 120 python3 -c '
import os, socket, sys, time
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
client.sendall(b"HELLO 3\r\nSESSION KEEP 3600000\r\nLOCK y\r\nLOCK brief TTL 100\r\n")
said = b""
while said.count(b"*2") < 2:
    said += client.recv(4096)
client.close()
time.sleep(0.4)
os._exit(0)
' "$dir/two"
tell $? "a client has a lock in a session that is kept for an hour, closes its socket, and then ends"
until_true is_free
tell $? ".. and its lock is free"

# ---- many clients at one agent, and rules

echo 0 >"$dir/count"
clients=
for _ in $(seq 30); do
    "$DIBS" lock many --wait 600 --socket "$dir/three" -- sh -c "read -r n <'$dir/count'; echo \$((n + 1)) >'$dir/count'" &
    clients="$clients $!"
done
# shellcheck disable=SC2086 # a list of numbers
wait $clients
[ "$(cat "$dir/count")" = 30 ]
tell $? "thirty clients of one agent exclude each other"

agent scarce "127.0.0.1:$((base + 11))" few
until_true is_ready scarce
"$DIBS" lock z --socket "$dir/scarce" -- "$DIBS" status --socket "$dir/scarce" >"$dir/out" 2>&1
grep -q 'key:few may have at most 2 connections to this member' "$dir/out"
tell $? "channels are connections for the limits of a key, and so is that of the agent"

# ---- many agents, with a job each

many=${AGENTS:-6}
jobs=
for k in $(seq "$many"); do
    agent "a$k" "$places"
    "$DIBS" lock "job$k" --socket "$dir/a$k" --wait 60 -- sh -c "echo begun; until [ -e '$dir/end' ]; do sleep 0.1; done" >"$dir/a$k.out" 2>&1 &
    jobs="$jobs $!"
done
started="$started $jobs"
all_begun() {
    [ "$(cat "$dir"/a*.out | grep -c begun)" = "$many" ]
}
until_true all_begun
tell $? "$many more agents have a job each"
kill_daemon bee
all_held() {
    [ "$("$DIBS" holders --socket "$dir/cat" 2>/dev/null | grep -c 'agent a.*state held')" = "$many" ]
}
until_true all_held
tell $? "a member is killed, and all jobs keep their locks"
touch "$dir/end"
good=0
for job in $jobs; do wait "$job" || good=1; done
tell $good "all jobs end well"
start bee
until_true all_ready
tell $? "the member comes back again"

# ---- a client that does not read; and connections without keys, in which frames can be written by hand

(ulimit -n 300 && exec "$DIBS" serve --socket "$dir/lone" --data "$dir/lone.data" --name lone --clients "127.0.0.1:$((base + 20))" 2>>"$dir/lone.log") &
started="$started $!"
"$DIBS" serve --agent --socket "$dir/plain" --name plain --connect "127.0.0.1:$((base + 20))" 2>>"$dir/plain.log" &
started="$started $!"
echo $! >"$dir/plain.pid"
until_true is_ready plain
run_python "the client that does not read has come to its end" python3 tests/agents.py "$dir/plain" "$DIBS" "127.0.0.1:$((base + 20))"

# ---- a write to a client's socket fails for want of memory, which is no goodbye of the client

if [ "${MODE:-release}" = release ]; then
    ${CC:-cc} -O1 -shared -fPIC -o "$dir/spoil.so" tests/spoil.c
    tell $? "writes can be made to fail"
    pair="short=127.0.0.1:$((base + 22)),tall=127.0.0.1:$((base + 23))" # a daemon alone vouches in another way
    serve tall --name tall --members "$pair" --lease 3000
    LD_PRELOAD="$dir/spoil.so" "$DIBS" serve --socket "$dir/short" --data "$dir/short.data" --name short --members "$pair" --lease 3000 --clients "127.0.0.1:$((base + 21))" 2>>"$dir/short.log" &
    short=$!
    LD_PRELOAD="$dir/spoil.so" "$DIBS" serve --agent --socket "$dir/scant" --name scant --connect "127.0.0.1:$((base + 21))" 2>>"$dir/scant.log" &
    scant=$!
    started="$started $short $scant"
    until_true is_ready short && until_true is_ready scant
    run_python "a member that cannot write to a client" python3 tests/broken.py "$dir/short" "$dir/short" "$short"
    run_python "an agent that cannot write to a client" python3 tests/broken.py "$dir/short" "$dir/scant" "$scant"
fi

# ---- what is no agent, and what is no member

"$DIBS" serve --agent --socket "$dir/none" --connect "127.0.0.1:$((base + 40))" --key "$dir/farm" 2>"$dir/none.log" &
none=$!
started="$started $none"
says_why() {
    "$DIBS" status --socket "$dir/none" >"$dir/out" 2>&1
    grep -q 'this agent reaches no member' "$dir/out"
}
until_true says_why
tell $? "an agent without a member says so"
kill "$none"
wait "$none"
tell $? "an agent ends when it is told to"

cat >"$dir/agent.conf" <<CONF
connect 127.0.0.1:$((base + 20))
socket  $dir/unit
name    unit
CONF
timeout 120 python3 -c '
import os, socket, subprocess, sys
dibs, conf = sys.argv[1:]
heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind(conf + ".notify")
heard.settimeout(60)
daemon = subprocess.Popen([dibs, "serve", "--config", conf], env=dict(os.environ, NOTIFY_SOCKET=conf + ".notify"), stderr=subprocess.DEVNULL)
ready, status = heard.recv(1000), heard.recv(1000)
daemon.terminate()
stopping = heard.recv(1000)
sys.exit(not (ready.startswith(b"READY=1\n") and status.startswith(b"STATUS=an agent of 127.0.0.1:") and stopping == b"STOPPING=1" and daemon.wait() == 0))' "$DIBS" "$dir/agent.conf"
tell $? "as a service of systemd, with a configuration file, an agent says when it is ready, which member it has, and that it ends"

# ---- what an agent may be told, one option after the other: all that "dibs serve" knows

few="--agent --connect 127.0.0.1:7"
for option in "--members ant=127.0.0.1:1" "--listen 127.0.0.1:8" "--clients 127.0.0.1:8" "--data $dir/none.data" "--lease 2000" "--deadlock-after 500" "--expiry optional" "--audit $dir/trail" "--audit-scope locks" "--algorithm maekawa" "--slots-algorithm central"; do
    # shellcheck disable=SC2086 # words
    rejects "${option%% *}: that is for members; an agent (--connect) is none" serve $few $option --check-config
    refused="${refused:-} ${option%% *}"
done
# shellcheck disable=SC2086
rejects "an agent (--connect) is no member: members, policies and rules are settings of these" serve $few --join --check-config
printf 'connect 127.0.0.1:7\ndata /var/lib/dibs\n' >"$dir/data.conf"
rejects "$dir/data.conf:2: that is for members; an agent (--connect) is none" serve --config "$dir/data.conf" --check-config
for option in "--name unit" "--socket $dir/none" "--socket-group $(id -gn)" "--key $dir/farm" "--memory-max 64M" "--http 127.0.0.1:8" "--log-level debug" "--log-format json"; do
    # shellcheck disable=SC2086
    "$DIBS" serve $few $option --check-config >"$dir/out" 2>&1
    tell $? "an agent may have ${option%% *}"
    granted="${granted:-} ${option%% *}"
done
# Those that the suites have elsewhere: certificates are in certs.sh.
"$DIBS" serve --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p' | sort >"$dir/options"
# shellcheck disable=SC2086
printf '%s\n' $refused $granted --join --cert --cert-key --ca --agent --connect --config --check-config | sort -u >"$dir/tried"
diff "$dir/options" "$dir/tried" >"$dir/out"
tell $? "every option of dibs serve was tried at an agent"
# shellcheck disable=SC2086
rejects "--connect: \"ant=127.0.0.1:7\": the name is that in a member's certificate, and there is no --cert" serve --agent --connect ant=127.0.0.1:7 --check-config

kill -HUP "$(cat "$dir/plain.pid")"
has_nothing_to_read() {
    grep -q 'SIGHUP: there is no key and no certificate to be read again' "$dir/plain.log"
}
until_true has_nothing_to_read && ! grep -q 'was read again' "$dir/plain.log"
tell $? "SIGHUP at an agent without a key says that there is nothing to be read"

# ---- HTTP

get() { # PATH [METHOD]: the status, then the body
    python3 -c '
import http.client, sys
c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=60)
c.request(sys.argv[3], sys.argv[2])
r = c.getresponse()
print(r.status)
print(r.read().decode(), end="")' $((base + 24)) "$1" "${2:-GET}" >"$dir/http" 2>&1
}
first_line_is() { # LINE
    [ "$(sed 1q "$dir/http")" = "$1" ]
}
is_healthy() {
    get /healthz && first_line_is 200
}
is_ill() {
    get /healthz && first_line_is 503
}
counts() { # SAMPLE VALUE
    python3 tests/metrics.py $((base + 24)) >"$dir/out" 2>&1 && grep -qxF "$1 $2" "$dir/out"
}
serve deaf --name deaf --clients "127.0.0.1:$((base + 25))"
until_true is_ready deaf
"$DIBS" serve --agent --socket "$dir/told" --name told --connect "127.0.0.1:$((base + 25))" --http "127.0.0.1:$((base + 24))" 2>>"$dir/told.log" &
started="$started $!"
told=$!
until_true is_healthy
tell $? "/healthz of an agent that has a member"
"$DIBS" lock a --socket "$dir/told" -- true && counts dibs_agent_ready 1 && counts dibs_agent_connections 1 && counts dibs_agent_channels 0 && counts dibs_agent_clients_total 1 &&
    counts dibs_agent_lost_members_total 0 && grep -q "^dibs_agent_member_seconds{place=\"127.0.0.1:$((base + 25))\"} " "$dir/out"
tell $? "/metrics of an agent: its member, connections, channels and clients"
export place="$dir/told"
python3 -c '
import os, signal, socket, sys
signal.alarm(60)
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ["place"])
s.sendall(b"PING\r\n")
assert s.recv(100) == b"+PONG\r\n"
print("begun", flush=True)
sys.stdin.read()' <"$dir/go" >"$dir/stays.out" 2>&1 &
stays=$!
started="$started $stays"
exec 8<>"$dir/go"
until_true has_begun stays.out
counts dibs_agent_channels 1 && counts dibs_agent_clients 1
tell $? ".. a client that stays has a channel"
kill_daemon deaf
until_true is_ill && grep -q 'this agent reaches no member; the last one was 127.0.0.1' "$dir/http" && counts dibs_agent_ready 0 && counts dibs_agent_lost_members_total 1 && counts dibs_agent_clients 0
tell $? "when its member is lost, an agent is not healthy, and says why"
get /status.json && first_line_is 404 && get /metrics POST && first_line_is 405
tell $? "there is nothing else"
kill "$told"
wait "$told"
tell $? "an agent with HTTP ends when it is told to"
exec 8>&-

# ---- memory

if [ "${MODE:-release}" = release ]; then # sanitizers keep more than the bound
    "$DIBS" serve --agent --socket "$dir/tight" --name tight --memory-max 8M --connect "127.0.0.1:$((base + 20))" 2>>"$dir/tight.log" &
    started="$started $!"
    until_true is_ready tight
    echo "# the agent has $(awk '{print 4 * ($2 - $3)}' "/proc/$!/statm") KB of memory of its own"
    run_python "clients that read nothing, at an agent with little memory" python3 tests/agents_memory.py "$dir/tight" "$DIBS"
    grep -q 'is a client whose buffers do not fit' "$dir/tight.log"
    tell $? "the log of the agent says why some were cut off"
fi

rejects "--agent needs the places at which members accept clients: name them with --connect" serve --agent --check-config
rejects "--members: that is for members; an agent (--connect) is none" serve --agent --connect 127.0.0.1:7 --members "$members" --name ant --check-config
"$DIBS" serve --agent --connect "$places" --key "$dir/farm" --check-config >"$dir/out" && [ "$(grep -c '^agent of .* with a key$' "$dir/out")" = 3 ]
tell $? "the configuration of an agent can be checked"
echo agent >"$dir/no.conf"
rejects "$dir/no.conf:1: \"agent\" is an option of the command line, and no setting: a line connect makes the daemon an agent" serve --config "$dir/no.conf" --check-config
echo join >"$dir/no.conf"
rejects "$dir/no.conf:1: \"join\" is an option of the command line, and no setting: give it once, as dibs serve --join" serve --config "$dir/no.conf" --check-config
printf '\357\273\277lease 2000\n' >"$dir/no.conf" # a byte order mark
test_that "a file may begin with a byte order mark" "$DIBS" serve --config "$dir/no.conf" --check-config
host=$(uname -n)
case $host in
[A-Za-z0-9]*) "$DIBS" serve --agent --connect "$places" --key "$dir/farm" --check-config | grep -qx "name       ${host%%.*}" ;;
esac
tell $? "an agent is called as its machine, so that people can tell agents apart"

timeout 60 python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"AGENT 1 x\r\n")
sys.exit(not s.recv(1000).startswith(b"-ERR an agent connects"))' "$dir/ant"
tell $? "AGENT is refused at a Unix socket"

echo "1..$number"
