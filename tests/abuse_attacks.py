# abuse_attacks.py - the attackers of abuse.py, each a function that goes on until its process is killed; and what they are made of. The
# arguments and the environment are those of abuse.py.
import os
import re
import select
import signal
import socket
import ssl
import sys
import time

seconds, path, pid = float(sys.argv[1]), sys.argv[2], int(sys.argv[3])
http, clients, members = (int(x) for x in sys.argv[4:7])
LEASE_MS = int(os.environ.get("LEASE", 1000))
SLOW = int(os.environ.get("SLOW", "0"))
HELD = int(os.environ.get("HELD", "20000"))  # names, by one attack
IDLE = HELD * 19 // 20  # names, by another one, that nobody uses; more would crowd, and begin a view by themselves
KEPT = HELD // 5  # names, by another one, in kept sessions
SUBSCRIBERS = int(os.environ.get("SUBSCRIBERS", "40"))  # with 250 patterns each
CLIENTS = int(os.environ.get("CLIENTS", "400"))  # connections, by some attacks
TOKENS = KEPT // 500 * 500  # locks of tokens, by one
OTHER = os.environ.get("OTHER", "")  # the socket of another member
RULED = bool(os.environ.get("RULED"))
begun = -1  # the end of a pipe, see ready()


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
    """`count` connections, each of which sends this again and again, as fast as it is taken."""
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
    flood(lambda: door(http), 4, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 300)


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


def subscribers_of_all():
    """Subscriptions that every event matches, of clients that read them."""
    all_ = b"".join(b"PSUBSCRIBE %s\r\n" % (b"*" * k) for k in range(1, 251))
    flood(door, SUBSCRIBERS, b"PING\r\n", begin=all_)


def closed_loop(make, count, ask, answers, often=1):
    """`count` connections, each of which asks one thing at a time, and asks again when it has the answer: these bytes, `often` times."""
    all_ = {s.fileno(): s for s in (make() for _ in range(count))}
    poll, left = select.epoll(), dict.fromkeys(all_, 0)
    for fd, s in all_.items():
        poll.register(fd, select.EPOLLIN)
        s.send(ask)
    ready()
    while True:
        for fd, _ in poll.poll(1):
            some = all_[fd].recv(1 << 20)
            if not some:
                raise OSError("the connection has ended")
            left[fd] += some.count(answers)
            if left[fd] >= often:
                left[fd] = 0
                all_[fd].send(ask)


def batches():
    """A few clients that send many commands at a time, and await all answers."""
    closed_loop(door, 6, b"".join(b"LOCK a%d WAIT 0\r\nUNLOCK a%d\r\n" % (k, k) for k in range(200)), b"\n", 400)


def looks():
    """Many clients that look at all locks, page by page, each of which waits for its page."""
    hold(3000, b"a" * 240)
    closed_loop(door, CLIENTS, b"LOCKS %s\r\n" % (b"*a" * 110 + b"b"), b"\r\n")


def hold(count, prefix):
    """A connection that holds `count` locks."""
    s = door()
    s.setblocking(True)
    for first in range(0, count, 500):
        s.sendall(b"".join(b"LOCK %s%d\r\n" % (prefix, k) for k in range(first, min(first + 500, count))))
        until(s, b"\r\n:", min(500, count - first))
    return s


def crowd():
    """Many clients that wait for a lock; others ask who they are, and what has happened to it."""
    all_ = [door() for _ in range(CLIENTS)]
    for s in all_:
        s.send(b"LOCK keep\r\n")
    flood(door, 20, b"HOLDERS keep\r\nWAITERS keep\r\nREPLAY keep\r\n" * 100)


def replays():
    """What a lock did lately, while it does much; over the protocol and by pages."""
    head, pages = logged_in(), []
    for _ in range(8):
        pages.append(door(http))
        pages[-1].sendall(b"GET /replay.json?name=a HTTP/1.1\r\n" + head)
    flood(door, 20, b"LOCK a WAIT 0\r\nUNLOCK a\r\nREPLAY a\r\n" * 50)


def confirms():
    """A client with many locks that confirms all of them, again and again."""
    s = hold(min(HELD // 5, 40000), b"c")
    ready()
    ask = b"CONFIRM\r\n" * 500
    while True:
        s.sendall(ask)
        until(s, b"\r\n", 500)


def returns():
    """Clients of kept sessions that lose their connections at once, and all resume at once."""
    ids, all_ = [], []

    def come():
        s = door()
        s.setblocking(True)
        all_.append(s)
        return s

    for k in range(CLIENTS):
        s = come()
        s.sendall(b"SESSION KEEP 60000\r\nLOCK b%d\r\n" % k)
        ids.append(until(s, b"\r\n:").split(b"\r\n")[1])
    ready()
    while True:
        for s in all_:
            s.close()
        all_.clear()
        for id_ in ids:
            come().sendall(b"SESSION RESUME " + id_ + b"\r\nPING\r\n")
        for s in all_:
            until(s, b"+PONG")


def names_of_clients():
    """Names, and questions that are as long as they may be and end nowhere."""
    flood(door, 20, b"CLIENT SETNAME %s\r\nCLIENT GETNAME\r\nINFO\r\nVIEWS\r\nMAY me lock %s\r\n" % (b"n" * 60, b"m" * 240) * 50)


def lines_without_end():
    """Lines that do not end, and arrays whose end is promised for later."""
    begins = iter([b"", b"*60\r\n", b"*2\r\n$1000\r\n", b"*60\r\n$1\r\n"] * (1 << 20))

    def come():
        s = door()
        s.send(next(begins))
        return s

    flood(come, 20, b"x" * 65536)


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


def kept_clients():
    """Clients with kept sessions that go at once, and whose process lives."""
    ready()
    while True:
        all_ = [door() for _ in range(CLIENTS)]
        for k, s in enumerate(all_):
            s.send(b"SESSION KEEP 1000\r\nLOCK g%d\r\n" % k)
        for s in all_:
            s.setblocking(True)
            until(s, b"\r\n:")
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
    """Reads from this connection until it has sent `count` of these."""
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


def redisson():
    """Clients that do what Redisson does: locks that are counted, and channels, of many locks and of one."""
    lock = b"EVALSHA 149c5a8bf18676fd99e9e6e24923bd64d9b62f94 1 %s 1000 %s\r\n"
    free = b"EVALSHA 6866459238a13a701d42f4971f12d9f3a50e2442 3 %s redisson_lock__channel:{%s} latch 0 1000 %s publish 100\r\n"
    look = b"HEXISTS %s %s\r\n"
    numbers = iter(range(1 << 30))
    watchers = [door() for _ in range(SUBSCRIBERS)]
    for s in watchers:
        s.sendall(b"".join(b"SUBSCRIBE redisson_lock__channel:{r%d}\r\n" % k for k in range(100)))

    def come():
        s, id_ = door(), b"%d:1" % next(numbers)
        s.send(b"".join(lock % (b"r", id_) + look % (b"r", id_) for _ in range(20)))
        return s

    each = b"".join(lock % (b"r%d" % k, b"u:1") + look % (b"r%d" % k, b"u:1") + free % (b"r%d" % k, b"r%d" % k, b"u:1") for k in range(100))
    flood(come, CLIENTS // 10, each)


def drains():
    """An operator drains the daemon again and again, while many sessions have no client."""
    hold = door()
    hold.setblocking(True)
    for first in range(0, TOKENS, 500):
        hold.sendall(b"".join(b"SET d%d t NX PX 20000\r\n" % n for n in range(first, first + 500)))
        until(hold, b"\r\n", 500)
    flood(door, 8, b"DRAIN\r\n" * 500)


def guesses():
    """Tokens for the web page that are guessed."""
    ready()
    while True:
        all_ = [door(http) for _ in range(16)]
        for s in all_:
            s.send(b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 32\r\n\r\n" + os.urandom(16).hex().encode())
        for s in all_:
            s.setblocking(True)
            try:
                if b" 200 " in s.recv(4096):
                    raise OSError("a token was guessed")
            except ConnectionError:
                pass
            s.close()


def passwords():
    """Passwords that are guessed, of a login that there is and of others."""
    flood(lambda: door(clients), 50, b"AUTH web %s\r\nAUTH nobody guess\r\n" % (b"x" * 100) * 50)


def rules():
    """Names for which every rule is tried, as far as it goes."""
    name = b"a" * 240
    some = b" ".join(b"a" * 60 + b"%d" % k for k in range(48))
    flood(lambda: door(clients), 20, b"LOCK %s WAIT 0\r\nUNLOCK %s\r\nHOLDERS %s\r\nDEL %s\r\nLOCKS\r\n" % (name, name, name, some) * 20)


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
            s.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
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
    """An operator takes locks away, and removes a member that is slow, at the same time; there are many names that nobody uses."""
    s = door()
    s.setblocking(True)
    for first in range(0, IDLE, 500):
        s.sendall(b"".join(b"LOCK i%d\r\nUNLOCK i%d\r\n" % (n, n) for n in range(first, first + 500)))
        until(s, b"\n", 500 * 5)
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
