# Clients with kept sessions against three real daemons: kept.py DIRECTORY. The directory has the sockets ant, bee and cat; a line
# on stdout says what is true so far, and the suite goes on when it has read it. Prints TAP lines without numbers.
import os
import socket
import sys
import time

directory = sys.argv[1]


def tell(fine, name):
    print(("ok" if fine else "not ok") + " - " + name, flush=True)


class Refused(Exception):
    pass


class Client:
    # Version 2 of the protocol, as far as it is needed.
    def __init__(self, member):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(directory + "/" + member)
        self.file = self.socket.makefile("rb")

    def say(self, *words):
        text = "*%d\r\n" % len(words) + "".join("$%d\r\n%s\r\n" % (len(str(w)), w) for w in words)
        self.socket.sendall(text.encode())
        return self.read()

    def read(self):
        line = self.file.readline().decode()
        if not line:
            raise ConnectionError("the daemon has ended the connection")
        kind, rest = line[0], line[1:].rstrip("\r\n")
        if kind == "-":
            raise Refused(rest)
        if kind == "$" and int(rest) >= 0:
            return self.file.read(int(rest) + 2)[:-2].decode()
        if kind == "*" and int(rest) >= 0:
            return [self.read() for _ in range(int(rest))]
        return int(rest) if kind == ":" else None if rest == "-1" else rest

    def close(self):
        self.file.close()
        self.socket.close()


def refused(word, call):
    try:
        call()
    except (Refused, OSError) as e:
        return str(e).startswith(word)
    return False


def resume(member, session):
    # A member that is not there, or not ready, is asked again. The suite bounds the time.
    while True:
        try:
            client = Client(member)
            return client, client.say("SESSION", "RESUME", session)
        except OSError:
            time.sleep(0.05)
        except Refused as e:
            if not str(e).startswith("NOQUORUM"):
                raise


client = Client("ant")
session = client.say("SESSION", "KEEP", 600000)
tell(len(session) == 32, "SESSION KEEP returns an id of 32 digits")
name, fence = client.say("LOCK", "job")
tell(refused("NOSESSION", lambda: Client("bee").say("SESSION", "RESUME", "0" * 32)), "an id that no session has")

client.close()
client, held = resume("ant", session)
tell(held == ["RESUMED", "job", fence, ["exclusive"]], "a client that connects anew to its member has its lock, with the same fence")
tell(Client("bee").say("LOCK", "job", "WAIT", 0) is None, "no other client was granted it")

print("kill ant", flush=True)
sys.stdin.readline()
client, held = resume("bee", session)
tell(held == ["RESUMED", "job", fence, ["exclusive"]], "its member was killed: it has its lock at another one")
tell(client.say("CONFIRM", "job", fence) > 0, "which vouches for it")

print("start ant", flush=True)
sys.stdin.readline()
other, held = resume("cat", session)
tell(held == ["RESUMED", "job", fence, ["exclusive"]], "it moves to yet another member, though its member runs")
tell(refused("", lambda: client.say("CONFIRM")), "where the connection before was cut off")

waiter = Client("ant")
tell(waiter.say("LOCK", "job", "WAIT", 0) is None, "the lock is held all the time")
print("end cat", flush=True)
sys.stdin.readline()
client, held = resume("ant", session)
tell(held == ["RESUMED", "job", fence, ["exclusive"]], "its member was ended and started in order, and it has its lock")
client.say("SESSION", "END")
tell(waiter.say("LOCK", "job")[1] > fence, "the end of the session frees the lock")


def dies_late(lock):
    # The socket of a process ends, and the process a moment later: then its session does not go on. Is its lock granted within a time that is longer
    # than that moment, and shorter than the second for which the daemon waits for the end of a process?
    other = Client("bee")
    ready, written = os.pipe()
    if os.fork() == 0:
        client = Client("bee")
        client.say("SESSION", "KEEP", 60000)
        client.say("LOCK", lock)
        os.write(written, b"1")
        client.close()
        time.sleep(0.05)
        os._exit(0)
    os.read(ready, 1)
    os.close(ready)
    os.close(written)
    granted = other.say("LOCK", lock, "WAIT", 700)
    os.wait()
    other.close()
    time.sleep(0 if granted else 1)  # the daemon does not wait for a process any more
    return granted is not None


tell(any(dies_late("late%d" % k) for k in range(8)), "a lock is free soon after its client has died")
