# abuse_questions.py - attacks of abuse.py by what operators and people ask, by logins, and by a long line of waiters: see abuse_attacks.py.
import os
import resource
import select
import signal
import time

from abuse_attacks import CLIENTS, clients, door, flood, hold, http, logged_in, ready, until

# Connections that wait for one lock: as many as the attacker and the daemon may have, with room for all others.
LINE = min(int(os.environ.get("LINE", "100000")), resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 1000)


def come(words=b""):
    """A client that waits for its answers, and has said this."""
    s = door()
    s.setblocking(True)
    if words:
        s.sendall(words)
    return s


def drains_of_holders():
    """An operator drains the daemon again and again, while many clients hold locks, and others wait and ask again."""
    holders = [come(b"LOCK o%d\r\n" % k) for k in range(CLIENTS)]
    for s in holders:
        until(s, b"\r\n:")
    flood(door, 8 + CLIENTS // 4, (b"DRAIN\r\n" * 10 + b"LOCK o0\r\n") * 10)


def auths():
    """Logins that fail, of a name that there is and of others, with HELLO and without."""
    flood(door, 50, b"AUTH web %s\r\nAUTH nobody guess\r\nHELLO 3 AUTH web guess\r\nAUTH guess\r\n" % (b"x" * 100) * 50)


def replays_of_many():
    """What many locks did lately, while they do much, and clients watch all of them."""
    names = [b"y%d" % k for k in range(1000)]
    watch = b"PSUBSCRIBE y* *y* *\r\nSUBSCRIBE " + b" ".join(names[:50]) + b"\r\n"
    work = b"".join(b"LOCK %s WAIT 0\r\nUNLOCK %s\r\nREPLAY %s\r\n" % (n, n, n) for n in names)
    begins = iter([b"HELLO 3\r\n" + watch] * 20)

    def next_one():
        s = door()
        s.send(next(begins, b"HELLO 3\r\n"))
        return s

    flood(next_one, 40, work)


def views():
    """What members tell of themselves and of their views."""
    flood(door, 20, b"VIEWS\r\nSTATUS\r\nMEMBER LIST\r\nINFO\r\nMAY me lock x\r\n" * 200)


def whys():
    """What `dibs why` and `dibs top` ask, about locks for which many clients wait that hold others."""
    depth, width = 20, max(1, CLIENTS // 20)
    names = [b"chain%d" % k for k in range(depth)]
    links = [come(b"CLIENT SETNAME link\r\nLOCK %s\r\n" % n) for n in names]
    for s in links:
        until(s, b"\r\n:")
    for s, n in zip(links, names[1:]):
        s.sendall(b"LOCK %s\r\n" % n)
    waiting = [come(b"CLIENT SETNAME waiter\r\nLOCK %s\r\n" % n) for n in names for _ in range(width)]
    many = hold(2000, b"w" * 200)
    ask = b"LOCKS * USED\r\nLOCKS\r\n" + b"".join(b"HOLDERS %s\r\nWAITERS %s\r\n" % (n, n) for n in names)
    flood(door, 20, ask * 5)
    del waiting, many


def line():
    """As many clients as there may be wait for one lock, and some ask who they are. It is passed on along the line; half of the
    waits end at the same time, and then all clients go at once."""
    first = come(b"LOCK line\r\n")
    until(first, b"\r\n:")
    poll, all_, begun = select.epoll(), {}, False
    if os.fork() == 0:
        parent = os.getppid()
        signal.signal(signal.SIGALRM, lambda *_: os.getppid() == parent or os._exit(0))
        signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
        flood(door, 20, b"WAITERS line\r\nHOLDERS line\r\nLOCKS * USED\r\n" * 20)
    while True:
        end = time.monotonic() + 3 + LINE / 5000
        while len(all_) < LINE:
            try:
                s = door()
                s.send(b"LOCK line WAIT %d\r\n" % max(1, 1000 * (end - time.monotonic())) if len(all_) % 2 else b"LOCK line\r\n")
            except OSError:  # its door is full for the moment
                time.sleep(0.001)
                continue
            all_[s.fileno()] = s
            poll.register(s.fileno(), select.EPOLLIN)
        if not begun:
            begun = True
            ready()
        first.sendall(b"UNLOCK line\r\nLOCK line\r\n")
        passed, until_ms = 0, time.monotonic() + 3
        while time.monotonic() < max(until_ms, end + 1):
            for fd, _ in poll.poll(0.1):
                if b":" in all_[fd].recv(1 << 16):
                    all_[fd].send(b"UNLOCK line\r\n")
                    passed += 1
        for s in all_.values():
            s.close()
        all_.clear()
        poll.close()
        poll = select.epoll()
        until(first, b"\r\n:")


def rules_of_events():
    """Clients that watch all locks, each with as many patterns as it may have, and every rule is tried for every event."""
    watch = b"".join(b"PSUBSCRIBE %s\r\n" % (b"*" * k) for k in range(1, 251))
    names = [b"a" * 240 + b"%d" % k for k in range(10)]
    numbers = iter(range(1 << 30))

    def next_one():
        s = door(clients)
        if next(numbers) < 20:
            s.send(watch)
        return s

    flood(next_one, 24, b"PING\r\n" + b"".join(b"LOCK %s WAIT 0\r\nUNLOCK %s\r\n" % (n, n) for n in names))


def values():
    """Values that are as long as they may be, and longer where they are shown, for clients that watch and read them, and that share
    a lock with a value each; and for pages."""
    pages = [door(http) for _ in range(20)]
    for s, head in zip(pages, [logged_in()] * 20):
        s.sendall(b"GET /events HTTP/1.1\r\n" + head)
    value = b"\xff" * 4096
    lock = b"*4\r\n$4\r\nLOCK\r\n$1\r\nv\r\n$5\r\nVALUE\r\n$4096\r\n%s\r\nUNLOCK v\r\nHOLDERS shown\r\n" % value
    holders = [come(b"*5\r\n$4\r\nLOCK\r\n$5\r\nshown\r\n$6\r\nSHARED\r\n$5\r\nVALUE\r\n$4096\r\n%s\r\n" % value) for _ in range(40)]
    for s in holders:
        until(s, b"\r\n:")
    watch = b"".join(b"PSUBSCRIBE %s\r\n" % (b"*" * k) for k in range(1, 51))
    numbers = iter(range(1 << 30))

    def next_one():
        s = door()
        if next(numbers) < 20:
            s.send(watch)
        return s

    flood(next_one, 24, b"PING\r\n" + lock * 4)
