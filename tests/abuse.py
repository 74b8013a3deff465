# abuse.py SECONDS SOCKET PID HTTP CLIENTS MEMBERS: attacks a daemon for so many seconds each, beside an innocent client that
# holds one lock all the time and takes and releases another. SOCKET and PID are the daemon's; HTTP, CLIENTS and MEMBERS are
# ports of it on loopback, 0 for none. Prints a line for each attack: its name; the innocent client's worst wait for an
# answer, in milliseconds of the daemon's processor time (which does not depend on what else the machine does); the
# daemon's memory before, at most, and afterwards, in MB. Ends with 1, and a line, if the innocent client lost its lock or had
# no answer, if a wait was longer than a quarter of a lease, or if memory or descriptors do not come back.
import os
import resource
import select
import signal
import socket
import sys
import time

seconds, path, pid = float(sys.argv[1]), sys.argv[2], int(sys.argv[3])
http, clients, members = (int(x) for x in sys.argv[4:7])
LEASE_MS = 1000
WORK = "a" * 240
MEMORY_MB = 24  # that the allocator may keep
JUDGED = os.environ.get("MODE") != "asan"  # sanitizers take time, and keep what was freed
faults = []


def cpu_ms():
    return int(open(f"/proc/{pid}/schedstat").read().split()[0]) / 1e6


def rss_mb():
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024


def descriptors():
    return len(os.listdir(f"/proc/{pid}/fd"))


# ------------------------------------------------------------------------------------------------ the innocent client


class Innocent:
    def __init__(self):
        self.s = socket.socket(socket.AF_UNIX)
        self.s.settimeout(60)
        self.s.connect(path)
        self.f = self.s.makefile("rb")
        self.lost = False
        self.ask("HELLO 3")
        self.ask("LOCK keep")

    def read(self):
        line = self.f.readline().decode()
        if not line:
            raise OSError("the connection has ended")
        if line[0] in "*%>":
            count = int(line[1:]) * (2 if line[0] == "%" else 1)
            items = [self.read() for _ in range(count)]
            if line[0] == ">":
                self.lost = self.lost or items[0] == "lost"
                return self.read()
            return items
        if line[0] == "$":
            return self.f.read(int(line[1:]) + 2)[:-2].decode()
        if line[0] == "-":
            raise OSError(line.strip())
        return line[1:].strip()

    def ask(self, command):
        before = cpu_ms()
        self.s.sendall(command.encode() + b"\r\n")
        self.read()
        return cpu_ms() - before

    def work(self):
        return max(self.ask(c) for c in (f"LOCK {WORK}", "CONFIRM", f"UNLOCK {WORK}"))


# ---------------------------------------------------------------------------------------------------------- attackers


def door(port=None):
    if port is None:
        s = socket.socket(socket.AF_UNIX)
        s.connect(path)
    else:
        s = socket.create_connection(("127.0.0.1", port))
    s.setblocking(False)
    return s


def ready():
    """The attack has begun: from now on the innocent client is watched."""
    os.write(begun, b"!")


def flood(make, count, bytes_, reads=True, begin=b""):
    """So many connections, each of which sends this again and again, as fast as it is taken."""
    all_, first = {}, begin

    def come():
        try:
            s = make()
            all_[s.fileno()] = [s, first + bytes_]
        except OSError:
            time.sleep(0.001)

    while True:
        while len(all_) < count:
            come()
        if begin is not None:
            begin = None
            ready()
        r, w, x = select.select([v[0] for v in all_.values()] if reads else [], [v[0] for v in all_.values()], [], 1)
        for s in r:
            try:
                if not s.recv(1 << 20):
                    del all_[s.fileno()]
                    s.close()
            except BlockingIOError:
                pass
            except OSError:
                del all_[s.fileno()]
                s.close()
        for s in w:
            if s.fileno() < 0:
                continue
            v = all_[s.fileno()]
            try:
                v[1] = v[1][s.send(v[1]):] or bytes_
            except BlockingIOError:
                pass
            except OSError:
                del all_[s.fileno()]
                s.close()
        if not reads:
            time.sleep(0.01)


def metrics_pipeline():
    flood(lambda: door(http), 4, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 300)


def slow_http():
    all_ = [door(http) for _ in range(100)]
    ready()
    while True:
        for k, s in enumerate(all_):
            try:
                s.send(b"G")
            except OSError:
                all_[k] = door(http)
        time.sleep(0.2)


def pings():
    flood(door, 50, b"PING\r\n" * 4000)


def locks_and_unlocks():
    flood(door, 20, b"".join(b"LOCK a%d WAIT 0\r\nUNLOCK a%d\r\n" % (k, k) for k in range(200)))


def patterns():
    costly = b"*a" * 110 + b"b"
    s = door()
    s.setblocking(True)
    for k in range(3000):
        s.sendall(b"LOCK %s%d\r\n" % (b"a" * 240, k))
        s.recv(65536)
    flood(door, 4, b"LOCKS %s\r\n" % costly * 100)


def questions():
    flood(door, 20, b"HOLDERS keep\r\nWAITERS keep\r\nLOCKS\r\nSTATUS\r\nCOMMAND\r\n" * 200)


def subscriptions():
    costly = b"".join(b"PSUBSCRIBE %s%d\r\n" % (b"*a" * 100, k) for k in range(250))
    flood(door, 40, b"PING\r\n", begin=costly)


def subscribes():
    flood(door, 20, b"SUBSCRIBE a b c d\r\nUNSUBSCRIBE\r\n" * 300)


def never_reads():
    flood(door, 300, b"PING %s\r\n" % (b"x" * 4000) * 50, reads=False)


def behind_a_wait():
    flood(door, 300, b"PING %s\r\n" % (b"x" * 4000) * 20, begin=b"LOCK keep\r\n")


def churn():
    ready()
    while True:
        s = door()
        s.send(b"LOCK c\r\nLOCK keep\r\n")
        s.close()


def waiters():
    ready()
    while True:
        all_ = [door() for _ in range(400)]
        for s in all_:
            s.send(b"LOCK w\r\n")
        time.sleep(0.1)
        for s in all_:
            s.close()


def silent_clients():
    all_ = []
    ready()
    while True:
        all_.append(door(clients))
        if len(all_) > 600:
            all_.pop(0).close()


def silent_members():
    all_ = []
    ready()
    while True:
        all_.append(door(members))
        if len(all_) > 600:
            all_.pop(0).close()


def hellos():
    hello = b"\x3e\0\0\0\1dibs\2\3ant\3\033bb" + bytes(48)
    ready()
    while True:
        s = door(members)
        s.send(hello)
        s.close()


def garbage():
    flood(lambda: door(members), 20, os.urandom(4096))


ATTACKS = [
    (metrics_pipeline, http, "requests behind each other over HTTP"),
    (slow_http, http, "100 slow callers over HTTP"),
    (pings, 1, "50 connections of PING without end"),
    (locks_and_unlocks, 1, "20 connections that lock and unlock"),
    (patterns, 1, "LOCKS with a costly pattern, 3000 names"),
    (questions, 1, "20 connections of questions without end"),
    (subscriptions, 1, "10000 subscriptions to costly patterns"),
    (subscribes, 1, "20 connections that subscribe and unsubscribe"),
    (never_reads, 1, "300 connections that read no answers"),
    (behind_a_wait, 1, "300 connections that send behind a wait"),
    (churn, 1, "connections that come, ask and go"),
    (waiters, 1, "400 waiters that go at once"),
    (silent_clients, clients, "silent callers at the door of clients"),
    (silent_members, members, "silent callers at the door of members"),
    (hellos, members, "false members"),
    (garbage, members, "garbage at the door of members"),
]


def healthy():
    s = socket.create_connection(("127.0.0.1", http), timeout=20)
    s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    return b" 200 " in s.recv(4096)


def run(attack, name):
    innocent = Innocent()
    memory, open_ = rss_mb(), descriptors()
    global begun
    look, begun = os.pipe()
    attacker = os.fork()
    if attacker == 0:
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        try:
            attack()
        except OSError as e:
            print(f"# {name}: the attacker: {e}", flush=True)
        os._exit(0)
    os.close(begun)
    if not select.select([look], [], [], 60)[0] or not os.read(look, 1):
        faults.append(f"{name}: the attack has not begun")
    os.close(look)
    worst, most, rounds, end = 0, memory, 0, time.monotonic() + seconds
    try:
        while time.monotonic() < end or rounds < 5:
            worst = max(worst, innocent.work())
            most = max(most, rss_mb())
            rounds += 1
            time.sleep(0.01)
        if attack is slow_http and not healthy():
            faults.append(f"{name}: /healthz is not to be had")
        innocent.ask("UNLOCK keep")
    except OSError as e:
        faults.append(f"{name}: the innocent client: {e}")
    os.kill(attacker, signal.SIGKILL)
    os.waitpid(attacker, 0)
    if innocent.lost:
        faults.append(f"{name}: the innocent client has lost its lock")
    if JUDGED and worst > LEASE_MS / 4:
        faults.append(f"{name}: the innocent client waited for {worst:.0f} ms of the daemon's processor time")
    innocent.s.close()
    for _ in range(400):
        if descriptors() < open_ + 2 and (not JUDGED or rss_mb() < memory + MEMORY_MB):
            break
        time.sleep(0.05)
    else:
        faults.append(f"{name}: memory {memory:.0f} -> {rss_mb():.0f} MB, descriptors {open_} -> {descriptors()}")
    print(f"| {name} | {worst:.0f} ms | {memory:.0f} | {most:.0f} | {rss_mb():.0f} |", flush=True)


resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
only = sys.argv[7:]
for attack, wanted, name in ATTACKS:
    if wanted and (not only or attack.__name__ in only):
        run(attack, name)
for fault in faults:
    print("# " + fault)
sys.exit(1 if faults else 0)
