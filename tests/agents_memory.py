"""Many clients of an agent that do not read their answers. Beyond the bound for the buffers of all clients, those that have more than their share are
cut off, and a client that reads goes on. Usage: agents_memory.py SOCKET DIBS, prints TAP without numbers."""

import select
import socket
import subprocess
import sys

place, dibs = sys.argv[1], sys.argv[2]
word = b"x" * 4000
request = b"*2\r\n$4\r\nECHO\r\n$%d\r\n%s\r\n" % (len(word), word)


def tell(good, name):
    print("%sok - %s" % ("" if good else "not ", name), flush=True)


clients, rest = [], {}
for _ in range(100):
    s = socket.socket(socket.AF_UNIX)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.connect(place)
    s.setblocking(False)
    clients.append(s)
    rest[s] = request * 200
cut = set()
while True:
    _, ready, _ = select.select([], [s for s in clients if rest[s] and s not in cut], [], 3)
    if not ready:
        break
    for s in ready:
        try:
            rest[s] = rest[s][s.send(rest[s]):]
        except BlockingIOError:
            pass
        except (BrokenPipeError, ConnectionResetError):
            cut.add(s)
print("# %d of %d clients were cut off" % (len(cut), len(clients)))
tell(0 < len(cut) < len(clients), "some clients that do not read are cut off, and not all")
done = subprocess.run([dibs, "lock", "beside", "--socket", place, "--", "echo", "well"], capture_output=True)
tell(done.returncode == 0 and done.stdout == b"well\n", "a client that reads goes on")
