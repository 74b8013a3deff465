# abuse_several.py - attacks of abuse.py with several locks at once, and with clients that wait for each other: see abuse_attacks.py.
import time

from abuse_attacks import CLIENTS, OTHER, door, flood, hold, ready, until


def names_of(prefix, count=32, how=b" SHARED"):
    return b" AND ".join(b"%s%d%s" % (prefix, k, how) for k in range(count))


def several():
    """Clients that lock as many names at once as they may, the last of which they do not get."""
    flood(door, 20, b"LOCK %s AND z WAIT 0\r\n" % names_of(b"s", 31, b"") * 20 + b"LOCK %s AND keep WAIT 0\r\n" % names_of(b"a", 31, b"") * 20)


def gate():
    """Clients that wait for the first of many locks, are let in together, and then share all the others."""
    holder = door()
    holder.setblocking(True)
    all_ = [door() for _ in range(CLIENTS)]
    begun = False
    for s in all_:
        s.setblocking(True)
    while True:
        holder.sendall(b"LOCK g0\r\n")
        until(holder, b"\r\n:")
        for s in all_:
            s.sendall(b"LOCK %s\r\n" % names_of(b"g"))
        time.sleep(0.2)
        if not begun:
            begun = True
            ready()
        holder.sendall(b"UNLOCK g0\r\n")
        until(holder, b"\r\n")
        for s in all_:
            until(s, b"\r\n:", 32)
        for s in all_:
            s.sendall(b"".join(b"UNLOCK g%d\r\n" % k for k in range(32)))
        for s in all_:
            until(s, b"\r\n", 32)


def popular():
    """Locks that many clients share; and clients with as many locks, that lock all of these at once, and give up."""
    all_ = []
    for _ in range(CLIENTS):
        s = door()
        s.setblocking(True)
        s.sendall(b"LOCK %s\r\n" % names_of(b"p", 31))
        until(s, b"\r\n:", 31)
        all_.append(s)
    rich = [hold(CLIENTS, b"q%d." % k) for k in range(4)]
    for s in rich:
        s.setblocking(False)
    flood(rich.pop, 4, b"LOCK %s AND r SHARED AND z WAIT 0\r\n" % names_of(b"p", 30) * 4 + b"LOCK %s AND keep WAIT 0\r\n" % names_of(b"p", 31) * 4)


def cancels():
    """Clients that wait for several locks, and cancel that."""
    flood(door, 20, b"LOCK %s AND keep\r\nMEANWHILE CANCEL\r\nMEANWHILE CONFIRM\r\nMEANWHILE PING\r\n" % names_of(b"c", 8) * 20, begin=b"HELLO 3\r\n")


def layers(there=None):
    """Clients in layers. Each client of a layer waits for a lock that all clients of the next one share."""
    depth, width = 15, CLIENTS // 15
    all_ = []
    for layer in range(depth):
        row = [door(there if layer % 2 else None) for _ in range(width)]
        for s in row:
            s.setblocking(True)
            s.sendall(b"LOCK l%d SHARED\r\n" % layer)
        for s in row:
            until(s, b"\r\n:")
        all_.append(row)
    for layer in reversed(range(depth - 1)):
        for s in all_[layer]:
            s.sendall(b"LOCK l%d\r\n" % (layer + 1))
        time.sleep(0.05)
    time.sleep(1)
    ready()
    time.sleep(3600)


def layers_of_two():
    """The same, and clients of this member wait for clients of another one, and these for clients of this one."""
    layers(OTHER)


def circles():
    """Pairs of clients that wait for each other, again and again; the younger one is told, and asks again."""
    pairs = []
    for k in range(CLIENTS // 4):
        a, b = door(), door(OTHER or None)
        a.setblocking(True)
        b.setblocking(True)
        a.sendall(b"LOCK u%d\r\n" % k)
        b.sendall(b"LOCK v%d\r\n" % k)
        until(a, b"\r\n:")
        until(b, b"\r\n:")
        pairs.append((a, b, k))
    for a, b, k in pairs:
        a.sendall(b"LOCK v%d\r\n" % k)
    ready()
    while True:
        for a, b, k in pairs:
            b.sendall(b"LOCK u%d\r\n" % k)
        for a, b, k in pairs:
            until(b, b"\r\n")


def children():
    """Many clients that run under the same locks, which say so with as many locks as they may name, and wait."""
    parent = door()
    parent.setblocking(True)
    parent.sendall(b"LOCK par\r\n")
    fence = int(until(parent, b"\r\n:").split(b":")[-1].split(b"\r")[0])
    under = b"\n".join([b"%d x%d" % (k, k) for k in range(31)] + [b"%d par" % fence])
    all_ = []
    for k in range(CLIENTS):
        s = door()
        s.setblocking(True)
        words = [b"HELLO", b"3", b"UNDER", under]
        s.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        s.sendall(b"LOCK par\r\n" if k % 2 else b"LOCK keep\r\n")
        all_.append(s)
    time.sleep(1)
    ready()
    time.sleep(3600)
