"""A client of an agent that does not read its answers: its own channel stops, and no other. When it reads, all answers are there, in order.
Usage: agents.py SOCKET DIBS, prints TAP without numbers."""

import socket
import struct
import subprocess
import sys
import time

place, dibs = sys.argv[1], sys.argv[2]


def tell(good, name):
    print("%sok - %s" % ("" if good else "not ", name), flush=True)


def text(k):
    return (b"%d " % k) * (2000 // len(b"%d " % k))


slow = socket.socket(socket.AF_UNIX)
slow.connect(place)
slow.setblocking(False)
sent, rest = 0, b""
idle = 0
while idle < 50:  # until nothing is taken any more, for some time
    if not rest:
        word = text(sent)
        rest = b"*2\r\n$4\r\nECHO\r\n$%d\r\n%s\r\n" % (len(word), word)
        sent += 1
    try:
        rest = rest[slow.send(rest):]
        idle = 0
    except BlockingIOError:
        idle += 1
        try:
            subprocess.run(["sleep", "0.02"], check=True)
        except KeyboardInterrupt:
            sys.exit(1)
print("# stopped after %d requests" % sent)

done = subprocess.run([dibs, "lock", "beside", "--socket", place, "--", "echo", "well"], capture_output=True)
tell(done.returncode == 0 and done.stdout == b"well\n", "other clients of its agent go on")

answers = 0
buffered = b""
good = True
slow.setblocking(True)
slow.settimeout(60)
while answers < sent - 1 and good:
    piece = slow.recv(65536)
    good = bool(piece)
    buffered += piece
    while True:
        word = text(answers)
        whole = b"$%d\r\n%s\r\n" % (len(word), word)
        if len(buffered) < len(whole):
            good = good and whole.startswith(buffered[:len(whole)])
            break
        good = good and buffered.startswith(whole)
        if not good:
            break
        buffered = buffered[len(whole):]
        answers += 1
        if answers == sent - 1:
            break
tell(good and answers == sent - 1, "when it reads, all answers are there, in order")

# A client that has ended its sending side has all answers, as at a member.
for count in (1, 200):
    half = socket.socket(socket.AF_UNIX)
    half.settimeout(60)
    half.connect(place)
    half.sendall(b"PING\r\n" * count)
    half.shutdown(socket.SHUT_WR)
    said = b""
    while True:
        piece = half.recv(65536)
        if not piece:
            break
        said += piece
    tell(said == b"+PONG\r\n" * count, "a client that sends %d requests and ends its sending side has the answers" % count)

# Bytes that are no frames: the member closes the connection, and goes on.
if len(sys.argv) > 3:
    host, port = sys.argv[3].rsplit(":", 1)
    wild = socket.create_connection((host, int(port)))
    wild.settimeout(60)
    wild.sendall(b"AGENT 1 wild\r\n")
    good = wild.recv(100) == b"+OK\r\n"
    wild.sendall(b"LOCK x\r\n" * 3)
    tell(good and wild.recv(100) == b"", "an agent that sends no frames is sent away")
    hasty = socket.create_connection((host, int(port)))
    hasty.settimeout(60)
    hasty.sendall(b"AGENT 1 hasty\r\n\x05\0\0\0\0\0\0\0")
    said = b""
    while True:
        piece = hasty.recv(100)
        if not piece:
            break
        said += piece
    tell(said == b"+OK\r\n", "and so is one that does not wait for the answer to AGENT")

    # An agent, or a client, that asks without end and reads nothing is not heard any more: else the answers would pile up in the member. What fits
    # into the buffers of the system is a few MB.
    for hello, question in ((b"AGENT 1 deaf\r\n", struct.pack(">BBHI", 5, 0, 0, 0)), (b"PING\r\n", b"PING\r\n")):
        deaf = socket.create_connection((host, int(port)))
        deaf.settimeout(60)
        deaf.sendall(hello)
        assert deaf.recv(7)
        deaf.setblocking(False)
        most, taken, idle = 64 << 20, 0, 0
        piece = question * 8192
        at = 0
        while taken < most and idle < 50:
            try:
                sent = deaf.send(piece[at:])
                at = (at + sent) % len(piece)
                taken += sent
                idle = 0
            except BlockingIOError:
                idle += 1
                time.sleep(0.02)
            except (BrokenPipeError, ConnectionResetError):
                break
        print("# %d bytes were taken" % taken)
        tell(taken < most, "%s that asks without end and does not read is not heard any more" % ("an agent" if hello[0] == 65 else "a client"))
        deaf.close()

    # The frames of a client that asks and ends at once may come together: its question is answered, and then the channel ends.
    brief = socket.create_connection((host, int(port)))
    brief.settimeout(60)
    brief.sendall(b"AGENT 1 brief\r\n")
    assert brief.recv(5) == b"+OK\r\n"
    brief.sendall(struct.pack(">BBHI", 1, 0, 0, 0) + struct.pack(">BBHI", 2, 0, 6, 0) + b"PING\r\n" + struct.pack(">BBHI", 3, 0, 1, 0) + b"\x01")
    expected = struct.pack(">BBHI", 2, 0, 7, 0) + b"+PONG\r\n" + struct.pack(">BBHI", 3, 0, 1, 0) + b"\0"
    said = b""
    while len(said) < len(expected):
        piece = brief.recv(100)
        if not piece or not expected.startswith(said + piece):
            break
        said += piece
    tell(said == expected, "a channel whose client asks and ends at once has its answer")

    # Channels need no descriptors, but there are not more clients than descriptors.
    crowd = socket.create_connection((host, int(port)))
    crowd.settimeout(60)
    crowd.sendall(b"AGENT 1 crowd\r\n")
    assert crowd.recv(5) == b"+OK\r\n"
    count = 400
    for k in range(count):
        crowd.sendall(struct.pack(">BBHI", 1, 0, 0, k) + struct.pack(">BBHI", 2, 0, 6, k) + b"PING\r\n")
    served, refused, got = set(), set(), b""
    while len(served) + len(refused) < count:
        piece = crowd.recv(65536)
        assert piece
        got += piece
        while len(got) >= 8:
            kind, high, low, channel = struct.unpack(">BBHI", got[:8])
            if len(got) < 8 + low:
                break
            if kind == 2:
                (served if got[8:8 + low].startswith(b"+PONG") else refused).add(channel)
                assert got[8:13] in (b"+PONG", b"-BUSY"), got[8:8 + low]
            got = got[8 + low:]
    print("# %d channels are served" % len(served))
    tell(0 < len(served) < count and refused == set(range(len(served), count)), "there are not more channels than the daemon may open files")
