#!/usr/bin/env python3
"""Connections that break, as daemons and clients see it, in plain sockets. A lock that a daemon has vouched for (CONFIRM)
goes to no other client before the time is over, unless its client has said goodbye.

  broken.py SOCKET PORT       a daemon's Unix socket, and its port for clients; prints "ok" or "not ok", and what it is about
  broken.py SOCKET PLACE PID  the Unix socket of a daemon, and that of a daemon or agent PID with tests/spoil.c in it"""

import os
import signal
import socket
import struct
import sys
import time


class Client:
    def __init__(self, where):
        self.sock = socket.socket(socket.AF_UNIX if isinstance(where, str) else socket.AF_INET)
        self.sock.settimeout(60)
        self.sock.connect(where)
        self.file = self.sock.makefile("rb")

    def send(self, line):
        self.sock.sendall(line.encode() + b"\r\n")

    def read(self):
        line = self.file.readline()
        if not line:
            raise EOFError
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return self.file.read(int(rest) + 2)[:-2].decode()
        if kind == b"*":
            return [self.read() for _ in range(int(rest))] if rest != "-1" else None
        return kind.decode() + rest

    def ask(self, line):
        self.send(line)
        return self.read()

    def close(self):
        """An orderly end: FIN."""
        self.file.close()
        self.sock.close()

    def reset(self):
        """The daemon gets a reset, as from a box on the way that has forgotten the connection."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()


def tell(good, name):
    print("ok -" if good else "not ok -", name, flush=True)


def vouched_until(client):
    asked = time.monotonic()
    return asked + client.ask("CONFIRM") / 1000


def waits_for_what_was_vouched(daemon, where, name, end):
    """Is it granted to the next one only when the time is over for which the first one was told that it holds it?"""
    holder, waiter = Client(where), Client(daemon)
    holder.ask("LOCK " + name)
    until = vouched_until(holder)
    waiter.send("LOCK " + name)
    end(holder)
    waiter.read()
    waited = time.monotonic() >= until
    waiter.close()
    return waited


def is_silent_and_loses(daemon, where, local):
    """A client over TCP that has used CONFIRM, and does no more, loses its lock, though its connection goes on; not so one
    over a Unix socket, which may be stopped, and whose end is always noticed."""
    holder, waiter, keeper = Client(where), Client(daemon), Client(local)
    keeper.ask("LOCK kept")
    vouched_until(keeper)
    fence = holder.ask("LOCK silent")[1]
    until = vouched_until(holder)
    waiter.ask("LOCK silent")
    late = time.monotonic() >= until
    lost = holder.ask("CONFIRM silent %d" % fence)
    kept = isinstance(keeper.ask("CONFIRM kept"), int)
    for client in (holder, waiter, keeper):
        client.close()
    return late and kept and lost.startswith("-LOST") and "not confirmed" in lost


def is_told_nothing(pid, client):
    """The daemon cannot write its answer to this client, which is there and could read it: the daemon ends the connection."""
    os.kill(pid, signal.SIGUSR2)
    client.send("PING")
    try:
        client.read()
    except EOFError:
        return
    raise AssertionError("the write did not fail")


def main():
    if len(sys.argv) > 3:
        spoil = lambda client: is_told_nothing(int(sys.argv[3]), client)
        tell(waits_for_what_was_vouched(sys.argv[1], sys.argv[2], "spoiled", spoil), "a write that fails says nothing about the client: what was vouched for lingers")
        return
    unix, tcp = sys.argv[1], ("127.0.0.1", int(sys.argv[2]))
    nonsense = lambda client: client.send("*1\r\n:4")

    tell(waits_for_what_was_vouched(unix, tcp, "reset", Client.reset), "a reset says nothing about the client: what was vouched for lingers")
    tell(waits_for_what_was_vouched(unix, tcp, "nonsense", nonsense), "so it does when the daemon ends the connection")
    tell(waits_for_what_was_vouched(unix, unix, "nonsense", nonsense), "also on a Unix socket")
    tell(not waits_for_what_was_vouched(unix, unix, "closed", Client.close), "a client that closes its Unix socket has let go")
    tell(not waits_for_what_was_vouched(unix, tcp, "closed", Client.close), "so has one that closes a plain connection in order")
    tell(is_silent_and_loses(unix, tcp, unix), "a client over TCP that confirms no more loses its locks, one over a Unix socket does not")
    tell(not waits_for_what_was_vouched(unix, tcp, "quit", lambda c: c.ask("QUIT")), "and one that says QUIT")


main()
