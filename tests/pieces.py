# pieces.py SOCKET HTTP: many locks of tokens end at the same time, in pieces of 1,024. Ends with 1 if most pieces shared a turn
# of the daemon at SOCKET, whose port for HTTP is HTTP.
import re
import socket
import sys
import time

COUNT, PIECE = 40 * 1024, 1024
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])


def read(lines):
    while lines > 0:
        some = s.recv(1 << 20)
        if not some:
            sys.exit("the connection has ended")
        lines -= some.count(b"\n")


def metrics():
    """The turns so far, and the locks that are held."""
    h = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
    h.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    text = b"".join(iter(lambda: h.recv(65536), b"")).decode()
    found = [re.search(rf"^{name} (\d+)$", text, re.M) for name in ("dibs_turn_seconds_count", "dibs_holders")]
    if None in found:
        sys.exit("the metrics are not all there: " + text)
    return [int(x[1]) for x in found]


def ask(command, ms):
    for first in range(0, COUNT, 512):
        s.sendall(b"".join(command % (n, ms()) for n in range(first, first + 512)))
        read(512)


begin = time.monotonic()
ask(b"SET p%d t NX PX %d\r\n", lambda: 600000)
end = time.monotonic() + 2 * (time.monotonic() - begin) + 1
ask(b"PEXPIRE p%d %d\r\n", lambda: max(1, int(1000 * (end - time.monotonic()))))
first = metrics()[0]
before, held = metrics()
of_look = before - first  # a look takes some turns itself
looks, left = 0, held
time.sleep(max(0, end - time.monotonic()) * 21 / 19)  # a token's clock may be slower than the daemon's
while left:
    time.sleep(1)
    turns, left = metrics()
    looks += 1
turns -= before + of_look * looks
print(f"# {held} locks ended in {turns} turns or more, {looks} looks")
sys.exit(turns < held // PIECE // 2)  # timers of other sorts may have made a second event in some turns
