# redis-py's Lock, as Debian has it, unmodified; and libraries that cannot be had here, by the commands that they send: a script by its digest.
# Reads commands, one in a line, and answers yes or no (tests/redis_locks.sh):
#   LIBRARY acquire ID PORT NAME MS    LIBRARY extend ID PORT MS    LIBRARY release ID PORT    LIBRARY foreign ID PORT
import sys
import threading

import redis
from redis.exceptions import LockError

locks = {}


def client_at(port):
    return redis.Redis(host="127.0.0.1", port=int(port), socket_timeout=60)


def lock_at(port, name, ms, token=None):
    lock = client_at(port).lock(name, timeout=ms / 1000, blocking=False)
    lock.local = threading.local() if token is None else type("Token", (), {})()
    lock.local.token = token
    return lock


class RedisPy:
    def acquire(self, port, name, token, ms):
        lock = lock_at(port, name, ms)
        return lock.local.token if lock.acquire() else None

    def extend(self, port, name, token, ms):
        lock = lock_at(port, name, ms, token)
        return lock.extend(ms / 1000, replace_ttl=True) and lock.extend(1) and lock.reacquire()

    def release(self, port, name, token):
        lock_at(port, name, 1, token).release()
        return True


def evalsha(port, digest, names, *arguments):
    return client_at(port).evalsha(digest, len(names), *names, *arguments)


class Sequence:
    def acquire(self, port, name, token, ms):
        return token if client_at(port).set(name, token, nx=True, px=ms) else None

    def extend(self, port, name, token, ms):
        return evalsha(port, self.touch, [name], token, ms) == 1

    def release(self, port, name, token):
        return evalsha(port, self.delete, [name], token) == 1


class RedlockPy(Sequence):
    delete = "4e92fdc63815b3a0a2dd1c1df3694de73607c88d"

    def extend(self, port, name, token, ms):
        return client_at(port).get(name) == token.encode()  # it has no extension


class Redsync(Sequence):
    delete = "e950836ed1e694540c503ef9972b8de518044d3b"
    touch = "d75bb8b5bd13532ddedd17762e772346e39b321e"


class ShedLock(Sequence):
    delete = "194f3902b2dd08557818d09fc2e7682d91480e53"
    touch = "67256370c2d1c87e2250898075542b1a7fa5b917"


class Spring(Sequence):
    touch = "879e0f7b8d83c3266d4e996627438c05dbda0b89"
    delete = "f0f9038aa2b6d6c3436c72d147573ea2a58f0ef2"

    def acquire(self, port, name, token, ms):
        return token if evalsha(port, "175897a4e379e99e79a54937be09226f76cdcfe5", [name], token, ms) == 1 else None


class Redisson:
    """Its lock is acquired twice by the same thread, and so released twice."""

    def acquire(self, port, name, token, ms):
        once = lambda: evalsha(port, "149c5a8bf18676fd99e9e6e24923bd64d9b62f94", [name], ms, token) is None
        return token if once() and once() else None

    def extend(self, port, name, token, ms):
        each = evalsha(port, "6a3d31570dc6f4b0bd32bcdc8e75667747c6f635", [name], ms, token)
        return each == [1] and client_at(port).hget(name, token) == b"2"

    def release(self, port, name, token):
        channel = "redisson_lock__channel:{%s}" % name
        waiting = client_at(port).pubsub()
        waiting.subscribe(channel)
        waiting.get_message(timeout=60)
        once = lambda: evalsha(port, "6866459238a13a701d42f4971f12d9f3a50e2442", [name, channel, "latch"], 0, 30000, token, "publish", 100)
        if once() is None:
            return False
        if client_at(port).exists(name) == 0 or once() != 1:
            return False
        return waiting.get_message(timeout=60)["data"] == b"0"


libraries = {"redis-py": RedisPy(), "redlock-py": RedlockPy(), "redsync": Redsync(), "ShedLock": ShedLock(), "Spring": Spring(), "Redisson": Redisson()}


def obey(library, command, who, port, *words):
    doing = libraries[library]
    if command == "acquire":
        token = doing.acquire(port, words[0], library + ":" + who, int(words[1]))
        if token:
            locks[library, who] = (words[0], token)
        return token
    name, token = locks[library, who]
    if command == "extend":
        return doing.extend(port, name, token, int(words[0]))
    return doing.release(port, name, "foreign" if command == "foreign" else token)


for line in sys.stdin:
    try:
        print("yes" if obey(*line.split()) else "no", flush=True)
    except LockError:
        print("no", flush=True)
    except redis.exceptions.RedisError as e:
        print("error", e, flush=True)
