#!/bin/sh
# What whoever runs a daemon does beyond starting it: paths and options that lead nowhere, too few descriptors, new keys and
# certificates without a stop. tests/secure.sh has who may come in.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports

# This status, and a line with this text on stderr.
fails() { # STATUS TEXT ARGUMENT...
    status=$1 text=$2
    shift 2
    "$DIBS" serve "$@" >"$dir/out" 2>"$dir/err"
    [ $? = "$status" ] && [ ! -s "$dir/out" ] && grep -qF -- "$text" "$dir/err"
    tell $? "does not serve: $text"
    rm -f "$dir/out" "$dir/err"
}

fails 2 '--socket: that needs a value: --socket PATH' --socket ''
fails 2 '--listen: no process connects there, since there is no list of members' --listen 127.0.0.1:$base
fails 2 '--join needs the list of the cluster' --join
fails 2 'ant and bee have the same address' --name ant --members ant=127.0.0.1:$base,bee=127.0.0.1:$base
fails 1 'no/such/socket: its directory does not exist; choose another path' --socket "$dir/no/such/socket"
: >"$dir/file"
fails 1 "$dir/file: there is a file of that name, which is no socket" --socket "$dir/file"
"$DIBS" keygen "$dir/key"
fails 2 '0.0.0.0 is no address to which others can connect' --key "$dir/key" --name ant --members ant=0.0.0.0:$base

serve solo --http 127.0.0.1:$base --clients 127.0.0.1:$((base + 1))
until_true is_ready solo
fails 1 "cannot listen on 127.0.0.1:$((base + 1)): address already in use; choose another place with --clients" \
    --socket "$dir/other" --clients 127.0.0.1:$((base + 1))

python3 - $base <<'END'
import http.client, sys
door = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=30)
door.request("POST", "/metrics", "x" * 1000)
answer = door.getresponse()
sys.exit((answer.status, answer.read()) != (405, b"only GET and HEAD are possible here\n"))
END
tell $? "a program that wants to change something over HTTP is told that there is nothing"
kill -HUP "$(cat "$dir/solo.pid")"
until_true grep -q "SIGHUP: there are no keys and certificates" "$dir/solo.log" && is_ready solo
tell $? "a daemon without keys outlives SIGHUP"
end_daemon solo

# A daemon of the system, and a login shell, which has a directory of its own for such things: commands find the system's, since its
# directory is there, also while it is away.
# shellcheck disable=SC2016 # expanded by the inner shell
unshare -m sh -c 'mount -t tmpfs none /run && export XDG_RUNTIME_DIR="$0" && { "$1" status; mkdir /run/dibs && "$1" status; }' "$dir" "$DIBS" \
    >"$dir/out" 2>"$dir/err"
if grep -q "no daemon" "$dir/err"; then
    sed -n 1p "$dir/err" | grep -q "no daemon at $dir/dibs.sock" && sed -n 2p "$dir/err" | grep -q "no daemon at /run/dibs/dibs.sock"
    tell $? "commands look for the daemon of the system, if this machine has one, else for that of the user"
else
    tell 0 "commands look for the daemon of the system # SKIP there is no other /run for us: $(head -n 1 "$dir/err")"
fi
rm -f "$dir/out" "$dir/err"

# The daemon of the system, and that of a user who does not know of it: both are there, and status says so.
# shellcheck disable=SC2016
unshare -m sh -c 'mount -t tmpfs none /run && { "$1" serve & first=$!; timeout 60 sh -c "until "\$0" status; do sleep 0.1; done" "$1"
    export XDG_RUNTIME_DIR="$0"; "$1" serve & second=$!; timeout 60 sh -c "until [ -S \$1/dibs.sock ]; do sleep 0.1; done" "$1" "$0"
    "$1" status; kill $first $second; wait; }' "$dir" "$DIBS" >"$dir/out" 2>"$dir/err"
if grep -q "serves /run/dibs/dibs.sock" "$dir/err"; then
    grep -q "^dibs: there is another daemon at /run/dibs/dibs.sock, which does not share its locks" "$dir/err"
    tell $? "a second daemon of a machine says that there is another one"
    grep -q "^dibs: this is the daemon at /run/dibs/dibs.sock; there is another one at $dir/dibs.sock" "$dir/err"
    tell $? "and so does dibs status"
else
    tell 0 "a second daemon of a machine # SKIP there is no other /run for us: $(head -n 1 "$dir/err")"
fi
rm -f "$dir/out" "$dir/err"

# ------------------------------------------------------------------------------------------------------------- systemd

python3 - "$DIBS" "$dir/notified" <<'END'
import os, signal, socket, subprocess, sys
dibs, path = sys.argv[1:]
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(path)
manager.settimeout(60)
daemon = subprocess.Popen([dibs, "serve", "--socket", path + ".socket"], env=dict(os.environ, NOTIFY_SOCKET=path))
ready = manager.recv(4096).decode().split("\n")
client = socket.socket(socket.AF_UNIX)
client.connect(path + ".socket")
daemon.send_signal(signal.SIGTERM)
stopping = manager.recv(4096).decode()
sys.exit(not (ready == ["READY=1", "STATUS=serves " + path + ".socket"] and stopping == "STOPPING=1" and daemon.wait() == 0))
END
tell $? "a service manager is told when clients can come in, and when the daemon ends"

# A key that root owns and a group may read is as good as others for a daemon of that group, and for nobody else.
if [ "$(id -u)" = 0 ]; then
    chmod 711 "$dir" && cp "$DIBS" "$dir/dibs" && "$DIBS" keygen "$dir/shared.key" && chgrp 54321 "$dir/shared.key"
    reads_key() { # USER GROUP
        setpriv --reuid "$1" --regid "$2" --clear-groups "$dir/dibs" serve --check-config --socket "$dir/any" \
            --key "$dir/shared.key" --name ant --members ant=127.0.0.1:$base >"$dir/out" 2>"$dir/err"
    }
    chmod 640 "$dir/shared.key" && reads_key 54321 54321
    tell $? "a key of root:dibs 0640 is good for a daemon of that group"
    chmod 660 "$dir/shared.key" && ! reads_key 54321 54321 && grep -q "others can read or write" "$dir/err"
    tell $? "not if the group may write it"
    chmod 640 "$dir/shared.key" && chown 54321:0 "$dir/shared.key" && ! reads_key 54321 54321 && grep -q "others can read" "$dir/err"
    tell $? "nor if it is not root's"
    rm -f "$dir/out" "$dir/err"
else
    tell 0 "a key of root:dibs # SKIP only root can make one"
fi

# ------------------------------------------------------------------------------------------------------- descriptors

# shellcheck disable=SC3045 # there is no other way to say it
(ulimit -n 20 && exec "$DIBS" serve --socket "$dir/tiny") 2>&1 | grep -q "may open no more than 20 files, and needs 48"
tell $? "a daemon with too few descriptors does not begin"
# shellcheck disable=SC3045
(ulimit -n 60 && exec "$DIBS" serve --socket "$dir/small" 2>"$dir/small.log") &
started="$started $!"
until_true is_ready small
held=
for k in $(seq 60); do
    "$DIBS" lock --socket "$dir/small" "lock-$k" -- sleep 1000 2>>"$dir/held.log" &
    held="$held $!"
done
started="$started $held"
until_true grep -q "is one client too many; raise the limit of open files" "$dir/small.log"
tell $? "when descriptors run out, the operator is told"
until_true grep -q "this daemon has no room for more clients" "$dir/held.log"
tell $? "and so is a client that came too late"
# shellcheck disable=SC2086 # a list of numbers
kill $held 2>/dev/null
until_true "$DIBS" lock --socket "$dir/small" after -- true
tell $? "and afterwards there is room again"

# ------------------------------------------------------------------------------------------------- keys and certificates

authority() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=authority" \
        -keyout "$dir/ca.key" -out "$dir/ca.pem" 2>/dev/null
}

certificate() { # NAME SERIAL
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=x" -keyout "$dir/$1.key.new" -out "$dir/csr" 2>/dev/null
    printf 'subjectAltName=DNS:%s\n' "$1" >"$dir/ext"
    openssl x509 -req -in "$dir/csr" -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -set_serial "$2" -days 2 -extfile "$dir/ext" \
        -out "$dir/$1.pem" 2>/dev/null && chmod 600 "$dir/$1.key.new" && mv "$dir/$1.key.new" "$dir/$1.key"
}

shows_serial() { # SERIAL, in hexadecimal digits
    openssl s_client -connect 127.0.0.1:$((base + 2)) -CAfile "$dir/ca.pem" -cert "$dir/ant.pem" -key "$dir/ant.key" \
        </dev/null 2>/dev/null | openssl x509 -noout -serial | grep -qx "serial=$1"
}

authority
certificate ant 11
certificate bee 12
members=ant=127.0.0.1:$((base + 3)),bee=127.0.0.1:$((base + 4))
for name in ant bee; do
    clients=
    [ $name = bee ] || clients="--clients 127.0.0.1:$((base + 2))"
    # shellcheck disable=SC2086 # two words
    serve $name --name $name --members "$members" --lease 4000 --cert "$dir/$name.pem" --cert-key "$dir/$name.key" \
        --ca "$dir/ca.pem" $clients
done
until_true is_ready ant && until_true is_ready bee
"$DIBS" lock --socket "$dir/ant" kept -- sleep 1000 &
started="$started $!"
until_true sh -c "'$DIBS' holders kept --socket '$dir/bee' | grep -q sleep"
tell $? "two members with certificates, and a client that holds a lock"
certificate ant 33
kill -HUP "$(cat "$dir/ant.pid")"
until_true grep -q "SIGHUP: keys and certificates were read again" "$dir/ant.log" && shows_serial 21
tell $? "after SIGHUP a daemon shows its new certificate"
echo garbage >"$dir/ant.pem"
kill -HUP "$(cat "$dir/ant.pid")"
until_true grep -q "is not a certificate in PEM form" "$dir/ant.log" && grep -q "SIGHUP: keys and certificates stay" "$dir/ant.log"
tell $? "one that is none is told, and the old one stays"
rm "$dir/ant.pem" && mkfifo -m 600 "$dir/ant.pem" # a file that takes its time
kill -HUP "$(cat "$dir/ant.pid")"
# shellcheck disable=SC2016 # for the other shell
timeout 60 sh -c 'exec 7>"$1/ant.pem" && "$2" lock --socket "$1/ant" meanwhile --wait 10 -- true' sh "$dir" "$DIBS"
tell $? "while a daemon reads its certificate, clients are served"
rm "$dir/ant.pem"
certificate ant 34
kill -HUP "$(cat "$dir/ant.pid")"
until_true shows_serial 22 && "$DIBS" holders kept --socket "$dir/bee" | grep -q sleep
tell $? "who holds a lock holds it all the while"
end_daemon bee
serve bee --name bee --members "$members" --lease 4000 --cert "$dir/bee.pem" --cert-key "$dir/bee.key" --ca "$dir/ca.pem"
until_true is_ready bee && until_true grep -q " info dibs: bee: ant: connected" "$dir/bee.log"
tell $? "members meet by the new certificate"
echo "1..$number"
