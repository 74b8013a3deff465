# abuse.py SECONDS SOCKET PID HTTP CLIENTS MEMBERS: attacks a daemon for so many seconds each, beside an innocent client that
# holds one lock all the time and takes and releases another. SOCKET and PID are the daemon's; HTTP, CLIENTS and MEMBERS are
# ports of it on loopback, 0 for none. Prints a line for each attack: its name; the innocent client's worst wait for an
# answer, in milliseconds of the daemon's processor time (which does not depend on what else the machine does); the longest
# turn of the daemon's loop, in processor time as well, by its own measurement (/metrics); the daemon's memory before, at
# most, and afterwards, in MB. Ends with 1, and a line, if the innocent client lost its lock or had no answer, if a wait was
# longer than a quarter of a lease or a turn longer than an eighth, or if memory or descriptors do not come back.
#
# With SLOW=PID in the environment that process is the daemon of another member, cat, which is stopped and removed; OTHER is the
# socket of a third one.
import os
import re
import resource
import select
import signal
import socket
import ssl
import sys
import time

seconds, path, pid = float(sys.argv[1]), sys.argv[2], int(sys.argv[3])
http, clients, members = (int(x) for x in sys.argv[4:7])
LEASE_MS = 1000
WORK = "a" * 240
MEMORY_MB = 24  # that the allocator may keep
NAME_MB = 0.0006  # and for each name, which members remember for a while though nobody uses it any more
TOKEN_MB = 0.0018  # and for each lock of a token, which is held though its client has gone
JUDGED = os.environ.get("MODE") != "asan"  # sanitizers take time, and keep what was freed
SLOW = int(os.environ.get("SLOW", "0"))
HELD = int(os.environ.get("HELD", "20000"))  # names, by one attack
KEPT = HELD // 5  # names, by another one, in kept sessions
SUBSCRIBERS = int(os.environ.get("SUBSCRIBERS", "40"))  # with 250 patterns each
CLIENTS = int(os.environ.get("CLIENTS", "400"))  # connections, by some attacks
TOKENS = KEPT // 500 * 500  # locks of tokens, by one
OTHER = os.environ.get("OTHER", "")  # the socket of another member
faults = []


def cpu_ms():
    return int(open(f"/proc/{pid}/schedstat").read().split()[0]) / 1e6


def rss_mb():
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024


def descriptors():
    return len(os.listdir(f"/proc/{pid}/fd"))


def turns():
    """How many turns took longer than each of these numbers of milliseconds of processor time, so far."""
    s = socket.create_connection(("127.0.0.1", http), timeout=20)
    s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    text = b"".join(iter(lambda: s.recv(65536), b"")).decode()
    count = int(re.search(r"^dibs_turn_cpu_seconds_count (\d+)", text, re.M)[1])
    below = re.findall(r'^dibs_turn_cpu_seconds_bucket{le="([0-9.]+)"} (\d+)', text, re.M)
    return {float(bound) * 1000: count - int(n) for bound, n in below}


def longest_turn(before):
    """The smallest bound, in milliseconds, that no turn since then has exceeded."""
    return min(bound for bound, n in turns().items() if n == before[bound])


def log_size():
    return os.path.getsize(path + ".log")


def logged_turn(since):
    """The processor time of the longest turn that the daemon has complained of in its log, behind so many bytes of it."""
    log = open(path + ".log", "rb").read()[since:].decode(errors="replace")
    return max([int(ms) for ms in re.findall(r"a turn took \d+ ms, (\d+) ms of them on the processor", log)], default=0)


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
    if port is None or isinstance(port, str):
        s = socket.socket(socket.AF_UNIX)
        s.connect(port or path)
    else:
        s = socket.create_connection(("127.0.0.1", port))
    s.setblocking(False)
    return s


def ready():
    """The attack has begun: from now on the innocent client is watched."""
    os.write(begun, b"!")


def can(all_, reads):
    """Those of these connections that can be read, and those that can be written to."""
    poll, by = select.poll(), {s.fileno(): s for s in all_}
    for fd in by:
        poll.register(fd, select.POLLOUT | (select.POLLIN if reads else 0))
    events = poll.poll(1000)
    return ([by[fd] for fd, e in events if reads and e & ~select.POLLOUT], [by[fd] for fd, e in events if e & select.POLLOUT])


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
        r, w = can([v[0] for v in all_.values()], reads)
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


def logged_in():
    """What a browser that has logged in sends with each request."""
    s = door()
    s.setblocking(True)
    s.sendall(b"PAGE-TOKEN\r\n")
    text = b""
    while b"#login=" not in text or not text.endswith(b"\r\n"):
        text += s.recv(4096)
    token = re.search(rb"#login=([0-9a-f]+)", text)[1]
    s = door(http)
    s.setblocking(True)
    s.sendall(b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 32\r\n\r\n" + token)
    text = b"".join(iter(lambda: s.recv(65536), b""))
    return b"Host: 127.0.0.1\r\nCookie: " + re.search(rb"Set-Cookie: ([^;]*)", text)[1] + b"\r\nX-Dibs-Pass: " + re.search(rb'"pass": "([0-9a-f]+)', text)[1] + b"\r\n\r\n"


def pages_that_do_not_read():
    head, all_ = logged_in(), []
    for _ in range(20):
        all_.append(door(http))
        all_[-1].sendall(b"GET /events HTTP/1.1\r\n" + head)
    flood(door, 4, b"LOCK a\r\nUNLOCK a\r\n" * 100)


def pages_that_ask():
    names = "&".join(f"name=n{k}" for k in range(16)).encode()
    head = logged_in()
    ready()
    while True:
        all_ = [door(http) for _ in range(32)]
        for s in all_:
            s.sendall(b"GET /claims.json?" + names + b" HTTP/1.1\r\n" + head)
        for s in all_:
            s.setblocking(True)
            try:
                while s.recv(65536):
                    pass
            except OSError:
                pass
            s.close()


def huge_bodies():
    flood(lambda: door(http), 8, b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999999999\r\n\r\n" + b"x" * 60000)


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
    for first in range(0, 3000, 500):
        s.sendall(b"".join(b"LOCK %s%d\r\n" % (b"a" * 240, k) for k in range(first, first + 500)))
        until(s, b"\r\n:", 500)
    flood(door, 4, b"LOCKS %s\r\n" % costly * 100)


def questions():
    flood(door, 20, b"HOLDERS keep\r\nWAITERS keep\r\nLOCKS\r\nSTATUS\r\nCOMMAND\r\n" * 200)


def subscriptions():
    costly = b"".join(b"PSUBSCRIBE %s%d\r\n" % (b"*a" * 100, k) for k in range(250))
    flood(door, SUBSCRIBERS, b"PING\r\n", begin=costly)


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
        all_ = [door() for _ in range(CLIENTS)]
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


def client_hello():
    """What a caller says first over TLS: a real one."""
    context, out = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), ssl.MemoryBIO()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        context.wrap_bio(ssl.MemoryBIO(), out).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()


def tls_replays():
    flood(lambda: door(clients), 40, client_hello() * 8)


def tls_garbage():
    hello = client_hello()
    flood(lambda: door(clients), 40, b"\x17\x03\x03\x40\x00" + os.urandom(1 << 14), begin=hello)


def tls_hellos_to_members():
    hello = client_hello()
    ready()
    while True:
        s = door(members)
        s.send(hello)
        s.close()


def held_names():
    """As many names as a few connections may hold, all held until the attack ends."""
    all_ = [door() for _ in range(-(-HELD // 60000))]
    for s in all_:
        s.setblocking(True)
    left = HELD
    for k, s in enumerate(all_):
        mine = min(left, 60000)
        left -= mine
        for first in range(0, mine, 500):
            s.sendall(b"".join(b"LOCK h%d.%d\r\n" % (k, n) for n in range(first, first + 500)))
            lines = 0
            while lines < 500 * 4:
                lines += s.recv(1 << 16).count(b"\n")
    ready()
    while True:
        all_[0].sendall(b"UNLOCK h0.1\r\nLOCK h0.1\r\n")
        all_[0].recv(1 << 16)


def until(s, text, count=1):
    """Reads from this connection until it has sent so many of these."""
    seen = b""
    while seen.count(text) < count:
        some = s.recv(1 << 20)
        if not some:
            raise OSError("the connection has ended")
        seen += some
    return seen


def kept_sessions():
    """Many names in kept sessions, which are resumed again and again; and a member that is excluded and comes back."""
    ids, all_, each = [], [], 4000
    for k in range(-(-KEPT // each)):
        s = door()
        s.setblocking(True)
        s.sendall(b"SESSION KEEP 1000\r\n")
        ids.append(until(s, b"\r\n", 2).split(b"\r\n")[1])
        all_.append(s)
        for first in range(0, min(KEPT - each * k, each), 500):
            s.sendall(b"".join(b"LOCK k%d.%d\r\n" % (k, n) for n in range(first, first + 500)))
            until(s, b"\r\n:", 500)
    if SLOW:
        os.kill(SLOW, signal.SIGSTOP)
        time.sleep(2 * LEASE_MS / 1000)
        os.kill(SLOW, signal.SIGCONT)
    ready()
    while True:
        for k, id_ in enumerate(ids):
            s = door()
            s.setblocking(True)
            s.sendall(b"SESSION RESUME " + id_ + b"\r\nPING\r\n")
            until(s, b"+PONG")
            all_[k].close()
            all_[k] = s


def idle_sessions():
    """Sessions that are to be kept for an hour, though they hold nothing: their clients leave them at once."""
    keep = b"SESSION KEEP 3600000\r\n"
    ready()
    while True:
        all_ = [door() for _ in range(100)]
        for k, s in enumerate(all_):
            s.send(keep + (b"LOCK i%d TTL 1\r\n" % k if k % 2 else b"") + b"SESSION DETACH\r\n")
        for s in all_:
            s.setblocking(True)
            while s.recv(1 << 16):
                pass
            s.close()


def contended_session():
    """One kept session that is resumed by two members' clients in turn, each of which takes it from the other."""
    all_ = [door(), door()]
    all_[0].setblocking(True)
    all_[0].sendall(b"SESSION KEEP 60000\r\n")
    id_ = until(all_[0], b"\r\n", 2).split(b"\r\n")[1]
    all_[0].sendall(b"LOCK t\r\n")
    until(all_[0], b"\r\n:")
    ready()
    for turn in range(1 << 30):
        s = door(OTHER if turn % 2 == 0 else None)
        s.setblocking(True)
        s.sendall(b"SESSION RESUME " + id_ + b"\r\nCONFIRM\r\n")
        all_.append(s)
        all_.pop(0).close()
        until(s, b"\r\n:")


def polls():
    """Clients that poll for one lock, as the Redis libraries do, each with a token of its own."""
    tokens = iter(range(1 << 30))

    def come():
        s = door()
        s.send(b"SET polled t%d NX PX 50\r\n" % next(tokens) * 20)
        return s

    flood(come, CLIENTS // 4, b"SET polled %s NX PX 50\r\n" % (b"t" * 250) * 20)


def scripts():
    """Scripts as large as a request may be, and operations on as many names as there may be."""
    text = b"return " + b"x" * 3900
    eval_ = b"*3\r\n$4\r\nEVAL\r\n$%d\r\n%s\r\n$1\r\n0\r\n" % (len(text), text)
    load = b"*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$%d\r\n%s\r\n" % (len(text), text)
    acquire = b"EVALSHA 96da70f7716f27d278a5218544df37fd8b0a5e4c 48 %s t 20\r\n" % b" ".join(b"e%d" % k for k in range(48))
    delete = b"DEL " + b" ".join(b"e%d" % k for k in range(48)) + b"\r\n"
    exists = b"SCRIPT EXISTS " + b" ".join([b"0" * 40] * 60) + b"\r\n"
    flood(door, 20, (eval_ + load + exists) * 4 + (acquire + delete) * 20)


def tokens():
    """As many locks of tokens as there may be, which end at the same time; and then again."""
    ttl = 2000
    s = door()
    s.setblocking(True)

    def acquire(first, count, ms):
        s.sendall(b"".join(b"SET k%d t NX PX %d\r\n" % (n, ms) for n in range(first, first + count)))
        until(s, b"\r\n", count)

    begin = time.monotonic()
    for first in range(0, TOKENS, 500):
        acquire(first, 500, 600000)
    end = time.monotonic() + 2 * (time.monotonic() - begin) + 1
    ready()
    while True:
        for first in range(0, TOKENS, 500):
            ms = max(1, int(1000 * (end - time.monotonic())))
            s.sendall(b"".join(b"PEXPIRE k%d %d\r\n" % (n, ms) for n in range(first, first + 500)))
            until(s, b"\r\n", 500)
        time.sleep(max(0, end - time.monotonic()))
        for first in range(0, TOKENS, 500):
            acquire(first, 500, 600000)
        end = time.monotonic() + ttl / 1000


def sharers():
    """Many clients that share a lock; and some that ask whether they do."""
    all_ = [door() for _ in range(CLIENTS)]
    for s in all_:
        s.send(b"LOCK shared SHARED\r\n")
    for s in all_:
        s.setblocking(True)
        until(s, b"\r\n:")
    flood(door, 4, b"CONFIRM shared\r\nUNLOCK shared\r\nLOCK shared SHARED\r\n" * 200)


def tries():
    """Many clients that wait for a lock; and some that only try."""
    all_ = [door() for _ in range(CLIENTS)]
    for s in all_:
        s.send(b"LOCK keep\r\n")
    flood(door, 4, b"LOCK keep WAIT 0\r\n" * 200)


def renewals():
    """A kept session whose locks get another TTL all the time, while a member hears nothing."""
    s = door()
    s.setblocking(True)
    s.sendall(b"SESSION KEEP 60000\r\n")
    until(s, b"\r\n", 2)
    name = b"r" * 240
    s.sendall(b"LOCK %s TTL 60000\r\n" % name)
    until(s, b"\r\n:")
    ready()
    if SLOW:
        os.kill(SLOW, signal.SIGSTOP)
    end = time.monotonic() + min(seconds, 2)
    both = b"".join(b"RENEW %s TTL %d\r\n" % (name, 60000 + k) for k in range(100))
    while True:
        s.sendall(both)
        until(s, b"\r\n", 100)
        if SLOW and time.monotonic() > end:
            os.kill(SLOW, signal.SIGCONT)
            end = 1e18


def page():
    """As many callers as there may be that want the web page, and read it slowly."""
    all_ = []
    ready()
    while True:
        while len(all_) < 64:
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.connect(("127.0.0.1", http))
            s.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            s.setblocking(False)
            all_.append(s)
        time.sleep(0.01)
        for s in all_[:]:
            try:
                if s.recv(100):
                    continue
            except BlockingIOError:
                continue
            except OSError:
                pass
            all_.remove(s)
            s.close()


def force_unlocks():
    """An operator takes locks away, and removes a member that is slow, at the same time."""
    ready()
    end = time.monotonic() + seconds
    os.kill(SLOW, signal.SIGSTOP)
    try:
        all_ = [door() for _ in range(20)]
        for k, s in enumerate(all_):
            s.send(b"FORCE-UNLOCK f%d\r\nHOLDERS keep\r\nFORCE-UNLOCK f\r\n" % k * 20)
        time.sleep(seconds / 8)
        all_[0].send(b"MEMBER REMOVE cat FORCE\r\n")
        while time.monotonic() < end:
            time.sleep(0.01)
            for s in all_:
                try:
                    s.recv(1 << 16)
                    s.send(b"FORCE-UNLOCK f\r\nWAITERS keep\r\n")
                except BlockingIOError:
                    pass
    finally:
        os.kill(SLOW, signal.SIGCONT)


ATTACKS = [
    (metrics_pipeline, http, "requests behind each other over HTTP"),
    (slow_http, http, "100 slow callers over HTTP"),
    (pages_that_do_not_read, http, "20 pages that do not read their events"),
    (pages_that_ask, http, "32 pages that ask for 16 locks each"),
    (huge_bodies, http, "huge bodies over HTTP"),
    (pings, 1, "50 connections of PING without end"),
    (locks_and_unlocks, 1, "20 connections that lock and unlock"),
    (patterns, 1, "LOCKS with a costly pattern, 3000 names"),
    (questions, 1, "20 connections of questions without end"),
    (subscriptions, 1, f"{250 * SUBSCRIBERS} subscriptions to costly patterns"),
    (subscribes, 1, "20 connections that subscribe and unsubscribe"),
    (never_reads, 1, "300 connections that read no answers"),
    (behind_a_wait, 1, "300 connections that send behind a wait"),
    (churn, 1, "connections that come, ask and go"),
    (waiters, 1, f"{CLIENTS} waiters that go at once"),
    (silent_clients, clients, "silent callers at the door of clients"),
    (silent_members, members, "silent callers at the door of members"),
    (hellos, members, "false members"),
    (garbage, members, "garbage at the door of members"),
    (tls_replays, clients, "the beginning of TLS, again and again"),
    (tls_garbage, clients, "garbage behind the beginning of TLS"),
    (tls_hellos_to_members, members, "the beginning of TLS at the door of members"),
    (kept_sessions, 1, f"{KEPT} names in kept sessions that are resumed" + (", members change" if SLOW else "")),
    (idle_sessions, 1, "kept sessions that hold nothing, without end"),
    (contended_session, OTHER, "a kept session that two members' clients take from each other"),
    (polls, 1, f"{CLIENTS // 4} clients that poll for one lock with tokens"),
    (scripts, 1, "large scripts, and operations on 48 names"),
    (tokens, 1, f"{TOKENS} locks of tokens that end at once"),
    (sharers, 1, f"{CLIENTS} clients that share a lock"),
    (tries, 1, f"{CLIENTS} clients that wait for a lock, some that try"),
    (renewals, 1, "another TTL again and again" + (", a member is stopped" if SLOW else "")),
    (page, http, "64 slow readers of the web page"),
    (force_unlocks, SLOW, "FORCE-UNLOCK while a slow member is removed"),
    (held_names, 1, f"{HELD} held names"),
]


def healthy():
    s = socket.create_connection(("127.0.0.1", http), timeout=20)
    s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    return b" 200 " in s.recv(4096)


def run(attack, name):
    innocent = Innocent()
    memory, open_, before, since = rss_mb(), descriptors(), turns(), log_size()
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
    if not select.select([look], [], [], 60 + HELD / 1000)[0] or not os.read(look, 1):
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
    # A lock may have to wait for a member that is stopped, until it is excluded: meanwhile the daemon works for the attacker.
    if JUDGED and worst > LEASE_MS / 4 and not (attack is renewals and SLOW):
        faults.append(f"{name}: the innocent client waited for {worst:.0f} ms of the daemon's processor time")
    innocent.s.close()
    names = HELD if attack is held_names else KEPT if attack in (kept_sessions, tokens) else 0
    allowed = MEMORY_MB + names * (TOKEN_MB if attack is tokens else NAME_MB)
    for _ in range(400):
        if descriptors() < open_ + 2 and (not JUDGED or rss_mb() < memory + allowed):
            break
        time.sleep(0.05)
    else:
        faults.append(f"{name}: memory {memory:.0f} -> {rss_mb():.0f} MB, descriptors {open_} -> {descriptors()}")
    turn = max(longest_turn(before), logged_turn(since))
    if JUDGED and turn > LEASE_MS / 8:
        faults.append(f"{name}: a turn took up to {turn:.0f} ms of processor time")
    print(f"| {name} | {worst:.0f} ms | {turn:.0f} ms | {memory:.0f} | {most:.0f} | {rss_mb():.0f} |", flush=True)


resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
only = sys.argv[7:]
for attack, wanted, name in ATTACKS:
    if wanted and (not only or attack.__name__ in only):
        run(attack, name)
for fault in faults:
    print("# " + fault)
sys.exit(1 if faults else 0)
