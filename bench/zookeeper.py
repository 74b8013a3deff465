#!/usr/bin/python3
"""zookeeper.py SECONDS CLIENTS one|own HOST:PORT...: as contend, for ZooKeeper, by the lock recipe of kazoo.

A process for each client. kazoo is written in Python, and its clients cost more than the servers: that is part of what is
measured, as they share the machine."""
import logging
import multiprocessing
import sys
import time

from kazoo.client import KazooClient

logging.disable(logging.CRITICAL)


def client(place, name, seconds, ready, go, entries, k):
    zookeeper = KazooClient(hosts=place)
    zookeeper.start(timeout=30)
    lock = zookeeper.Lock("/bench/" + name, str(k))
    ready.release()
    go.wait()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with lock:
            pass
        entries[k] += 1
    zookeeper.stop()


def main():
    seconds, clients, kind, places = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    ready, go = multiprocessing.Semaphore(0), multiprocessing.Event()
    entries = multiprocessing.Array("i", clients)
    crew = [
        multiprocessing.Process(
            target=client,
            args=(places[k % len(places)], f"x{k}" if kind == "own" else "x", seconds, ready, go, entries, k),
        )
        for k in range(clients)
    ]
    for process in crew:
        process.start()
    for _ in crew:
        if not ready.acquire(timeout=60):
            sys.exit("zookeeper.py: a client cannot connect")
    go.set()
    for process in crew:
        process.join()
    print(f"{sum(entries) / seconds:.0f} {max(entries) / max(min(entries), 1):.2f}")


main()
