# Clients of three daemons that change the mode in which they hold a lock: upgrade.py PROCESS SOCKET SOCKET SOCKET, with the process of the last
# daemon, which is killed in the end. Prints TAP lines without
# numbers. Clients speak RESP by hand, over Unix sockets.
import os
import signal
import socket
import subprocess
import sys
import threading


def tell(fine, name):
    print(("ok" if fine else "not ok") + " - " + name, flush=True)


class Refused(Exception):
    pass


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def send(self, *words):
        self.socket.sendall(" ".join(str(w) for w in words).encode() + b"\r\n")

    def read(self):
        line = self.file.readline().rstrip(b"\r\n").decode()
        kind, rest = line[0], line[1:]
        if kind == "-":
            raise Refused(rest)
        if kind == ":":
            return int(rest)
        if kind == "$":
            return None if rest == "-1" else self.file.read(int(rest) + 2)[:-2].decode()
        if kind == "*":
            return None if rest == "-1" else [self.read() for _ in range(int(rest))]
        return rest

    def ask(self, *words):
        self.send(*words)
        return self.read()

    def error(self, *words):
        try:
            return "no error: " + str(self.ask(*words))
        except Refused as e:
            return str(e)

    def close(self):
        self.file.close()
        self.socket.close()


def waiters(client, name):
    return sum("client" in row for row in client.ask("WAITERS", name))  # other rows name members that have not answered


def until_waiting(client, name, count):
    while waiters(client, name) != count:
        pass


victim, paths = int(sys.argv[1]), sys.argv[2:]
a, b, c = (Client(path) for path in paths)
watch = Client(paths[0])

# A reader becomes a writer, and no writer comes in between.
first = a.ask("LOCK", "page", "SHARED")[1]
others = max(b.ask("LOCK", "page", "SHARED")[1], c.ask("LOCK", "page", "SHARED")[1])
w = Client(paths[1])
w.send("LOCK", "page")
until_waiting(watch, "page", 1)
tell(a.ask("UPGRADE", "page", "WAIT", 0) is None, "an upgrade that does not wait ends, since others share the lock")
tell(a.ask("CONFIRM", "page", first) > 0, "the lock is held as before")
a.send("UPGRADE", "page")
until_waiting(watch, "page", 2)
why = subprocess.run([os.environ["DIBS"], "why", "page", "--socket", paths[0]], stdout=subprocess.PIPE, text=True, check=False)
tell(why.returncode == 0 and "waits to become the only one" in why.stdout, "dibs why tells of it, and does not take it for a deadlock")
tell(b.error("UPGRADE", "page").startswith("DEADLOCK "), "the second upgrade, at another member, is a deadlock")
b.ask("UNLOCK", "page")
tell(waiters(watch, "page") == 2, "one client less that shares the lock is not enough")
c.ask("UNLOCK", "page")
fence = a.read()[1]
tell(fence > max(first, others), "when no other client shares it, the lock is upgraded, with a larger fence")
tell(waiters(watch, "page") == 1, "the writer that waited before still waits")
tell(c.ask("LOCK", "page", "SHARED", "WAIT", 0) is None, "no client shares it any more")
mode = {row[k]: row[k + 1] for row in watch.ask("HOLDERS", "page") for k in range(0, len(row), 2)}
tell(mode["mode"] == "exclusive" and mode["fence"] == fence, "dibs holders shows it as exclusive")

# A writer becomes a reader: others share the lock at once, and the writer waits on.
w.close()
until_waiting(watch, "page", 0)
c.send("LOCK", "page", "SHARED")
until_waiting(watch, "page", 1)
tell(a.ask("DOWNGRADE", "page") == "OK", "the lock is downgraded")
tell(c.read()[1] > fence, "a client that waited to share it does so, at another member")
c.ask("UNLOCK", "page")
a.ask("UNLOCK", "page")

fence = a.ask("LOCK", "log")[1]
w = Client(paths[1])
w.send("LOCK", "log")
until_waiting(watch, "log", 1)
c.send("LOCK", "log", "SHARED")
until_waiting(watch, "log", 2)
tell(a.ask("DOWNGRADE", "log") == "OK" and c.read()[1] > fence, "a lock that was exclusive from the beginning is shared, too")
tell(waiters(watch, "log") == 1, "and a writer that waited before still waits")
c.ask("UNLOCK", "log")
tell(a.ask("CONFIRM", "log", fence) > 0, "the fence of a lock that is downgraded stays")
a.ask("UNLOCK", "log")
tell(w.read()[1] > fence, "the writer writes when all have released the lock")
w.close()

# A client that goes while it waits to upgrade leaves nothing behind.
first = a.ask("LOCK", "gone", "SHARED")[1]
b.ask("LOCK", "gone", "SHARED")
a.send("UPGRADE", "gone")
until_waiting(watch, "gone", 1)
a.close()
while b.error("UPGRADE", "gone", "WAIT", 0).startswith("DEADLOCK "):  # its member has yet to hear of that
    pass
tell(b.ask("UPGRADE", "gone", "WAIT", 30000)[1] > first, "a client that ends while it waits to upgrade is in nobody's way")
b.close()
tell(c.ask("LOCK", "gone", "WAIT", 30000)[1] > first, "nor is one that ends with an upgraded lock")
c.ask("UNLOCK", "gone")

# Many at once: each reads a counter under a shared lock, and adds one to it when it has upgraded the lock. Were another one to write in
# between, a number would be lost.
count = [0]
ROUNDS = 20


def add(path):
    client = Client(path)
    done = 0
    while done < ROUNDS:
        client.ask("LOCK", "sum", "SHARED")
        seen = count[0]
        try:
            if client.ask("UPGRADE", "sum", "WAIT", 60000):
                count[0] = seen + 1
                client.ask("DOWNGRADE", "sum")
                done += 1
        except Refused as e:
            if not str(e).startswith("DEADLOCK "):
                raise
        client.ask("UNLOCK", "sum")
    client.close()


threads = [threading.Thread(target=add, args=(path,)) for path in paths + paths]
for t in threads:
    t.start()
for t in threads:
    t.join()
tell(count[0] == len(threads) * ROUNDS, "what clients read before they upgrade, no other has changed when they write")

# Kept sessions of two members: the second upgrade is a deadlock, too. What a client was told outlives its member, which is killed below.
k, second = Client(paths[2]), Client(paths[1])
session = k.ask("SESSION", "KEEP", 600000)
second.ask("SESSION", "KEEP", 600000)
first = max(k.ask("LOCK", "kept", "SHARED")[1], second.ask("LOCK", "kept", "SHARED")[1])
k.send("UPGRADE", "kept")
until_waiting(watch, "kept", 1)
tell(second.error("UPGRADE", "kept").startswith("DEADLOCK "), "of two kept sessions that upgrade a lock, the second gets DEADLOCK")
second.ask("SESSION", "END")
alone = k.read()[1]
tell(alone > first, "and the first has the lock alone, with a larger fence")
down = k.ask("LOCK", "down")[1]
tell(k.ask("DOWNGRADE", "down") == "OK", "a lock of a kept session is downgraded")

# A member is lost while an upgrade waits for its clients, and the locks go on in the next view.
a, b = Client(paths[0]), Client(paths[1])
first = a.ask("LOCK", "view", "SHARED")[1]
c.ask("LOCK", "view", "SHARED")
a.send("UPGRADE", "view")
until_waiting(watch, "view", 1)
os.kill(victim, signal.SIGKILL)
tell(a.read()[1] > first, "an upgrade goes on when a member is lost for whose clients it waited")
tell(b.ask("LOCK", "view", "SHARED", "WAIT", 0) is None, "the lock is exclusive in the next view")
b.send("LOCK", "view", "SHARED")
until_waiting(watch, "view", 1)
tell(a.ask("DOWNGRADE", "view") == "OK" and b.read()[1] > first, "and can be downgraded there")

# The kept session of the member that was killed.
heir = Client(paths[0])
held = heir.ask("SESSION", "RESUME", session)
tell(dict(zip(held[1:-1:2], held[2:-1:2])) == {"kept": alone, "down": down} and dict(zip(held[1:-1:2], held[-1])) == {"kept": "exclusive", "down": "shared"},
     "a kept session has its locks elsewhere: the upgraded one with its new fence, each in its mode")
tell(b.ask("LOCK", "kept", "SHARED", "WAIT", 0) is None, "the upgraded one is exclusive")
tell(b.ask("LOCK", "down", "SHARED", "WAIT", 30000)[1] > down, "others share the downgraded one")
b.send("LOCK", "kept", "SHARED")
until_waiting(watch, "kept", 1)
tell(heir.ask("DOWNGRADE", "kept", alone) == "OK" and b.read()[1] > alone, "the upgraded one can be downgraded there")
b.ask("UNLOCK", "kept")
tell(heir.ask("UPGRADE", "kept", alone)[1] > alone, "and upgraded again")
