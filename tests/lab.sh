#!/bin/sh
# dibs lab: one page over HTTP, on loopback, whatever comes.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if ! python3 -c 'import http.client'; then
    tell 0 "lab # SKIP there is no python3"
    echo "1..1"
    exit 0
fi

rejects "cannot read $dir/none: No such file or directory" lab --page "$dir/none"
: >"$dir/empty"
rejects "$dir/empty is no page: it is empty, too large or cannot be read" lab --page "$dir/empty"
cp "$DIBS" "$dir/dibs"
"$dir/dibs" lab >"$dir/said" 2>&1
[ $? = 2 ] && grep -q 'there is no dibs-lab.html beside the program.*"./run page" builds it' "$dir/said"
tell $? "without a page it says how to build one"

mkdir -p "$dir/share/dibs" "$dir/bin"
mv "$dir/dibs" "$dir/bin/dibs"
python3 -c 'print("<!doctype html><p>page</p>" + "x" * 12000000)' >"$dir/share/dibs/dibs-lab.html"
"$dir/bin/dibs" lab >"$dir/said" 2>&1 &
started=$!
until_true grep -q 'http://127.0.0.1:' "$dir/said"
tell $? "the page of an installed program is found, and the address is printed"
port=$(sed 's/.*127\.0\.0\.1:\([0-9]*\).*/\1/' "$dir/said")

python3 - "$port" "$dir/share/dibs/dibs-lab.html" >"$dir/out" 2>&1 <<'P'
import http.client, socket, sys, time

port, page = int(sys.argv[1]), open(sys.argv[2], 'rb').read()

def ask(method, path):
    c = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
    c.request(method, path)
    r = c.getresponse()
    return r.status, r.read(), dict(r.getheaders())

def raw(data):
    s = socket.create_connection(('127.0.0.1', port), timeout=60)
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
    got = b''
    try:
        while chunk := s.recv(65536):
            got += chunk
    except ConnectionResetError:
        pass
    return got

status, body, headers = ask('GET', '/')
assert (status, body) == (200, page), status
assert headers['Content-Security-Policy'] == "frame-ancestors 'none'" and headers['X-Content-Type-Options'] == 'nosniff', headers
assert ask('HEAD', '/')[:2] == (200, b'')
for path in ('/x', '/../etc/passwd', '//', '/%2e%2e/'):
    assert ask('GET', path)[0] == 404, path
assert ask('POST', '/')[0] == 405
for data in (b'', b'\0' * 100, b'x' * 100000, b'GET', b'GET /\r\n', b'\xff' * 9000 + b'\r\n\r\n'):
    assert not raw(data).startswith(b'HTTP/1.1 200'), data[:20]
# A slow reader gets all of it: what counts is that it goes on.
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
s.connect(('127.0.0.1', port))
s.sendall(b'GET / HTTP/1.1\r\n\r\n')
got = b''
for _ in range(6):
    got += s.recv(65536)
    time.sleep(0.5)
while chunk := s.recv(1 << 20):
    got += chunk
assert got.endswith(page), len(got)
held = [socket.create_connection(('127.0.0.1', port)) for _ in range(3)] # these say nothing, and are sent away
assert ask('GET', '/')[0] == 200
P
tell $? "it serves the page and nothing else, and outlives nonsense and silence"
rm -f "$dir/out"
rejects "cannot listen on 127.0.0.1:$port: Address already in use; choose another --port" lab --port "$port" --page "$dir/share/dibs/dibs-lab.html"
echo "1..$number"
