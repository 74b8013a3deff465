# redis-py's Lock, as Debian has it, unmodified. Reads commands, one in a line, and answers yes or no (tests/redis_locks.sh):
#   acquire ID PORT NAME MS    extend ID PORT MS    release ID PORT    foreign ID PORT
import sys
import threading

import redis
from redis.exceptions import LockError

locks = {}


def lock_at(port, name, ms, token=None):
    client = redis.Redis(host="127.0.0.1", port=int(port), socket_timeout=20)
    lock = client.lock(name, timeout=ms / 1000, blocking=False)
    lock.local = threading.local() if token is None else type("Token", (), {})()
    lock.local.token = token
    return lock


def obey(command, who, port, *words):
    if command == "acquire":
        lock = lock_at(port, words[0], int(words[1]))
        if not lock.acquire():
            return False
        locks[who] = (words[0], int(words[1]), lock.local.token)
        return True
    name, ms, token = locks[who]
    lock = lock_at(port, name, ms, b"foreign" if command == "foreign" else token)
    if command == "extend":
        return lock.extend(int(words[0]) / 1000, replace_ttl=True) and lock.extend(1) and lock.reacquire()
    lock.release()
    return True


for line in sys.stdin:
    try:
        print("yes" if obey(*line.split()) else "no", flush=True)
    except LockError:
        print("no", flush=True)
    except redis.exceptions.RedisError as e:
        print("error", e, flush=True)
