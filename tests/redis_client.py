# A client of Redis, as Debian has it, against a daemon: redis_client.py SOCKET. Prints TAP lines without numbers; no line
# of this knows more about dibs than its commands.
import sys
import threading

import redis

path = sys.argv[1]


def tell(fine, name):
    print(("ok" if fine else "not ok") + " - " + name)


def connect():
    return redis.Redis(unix_socket_path=path, single_connection_client=True, decode_responses=True)


a, b = connect(), connect()

name, first = a.execute_command("LOCK", "py", "WAIT", 10000)
tell(name == "py" and first > 0, "redis-py: LOCK is granted, with a fence")
tell(b.execute_command("LOCK", "py", "WAIT", 50) is None, "redis-py: a wait that is too long ends with None")
holder = b.execute_command("HOLDERS", "py")[0]
tell(dict(zip(holder[::2], holder[1::2]))["mode"] == "exclusive", "redis-py: HOLDERS shows which client holds it")

try:
    b.execute_command("UNLOCK", "py")
    tell(False, "redis-py: UNLOCK of what is not held is an error")
except redis.ResponseError as e:
    tell("does not hold" in str(e), "redis-py: UNLOCK of what is not held is an error")

try:
    a.pipeline().exists("py").execute()
    tell(False, "redis-py: a transaction is refused, and the remedy named")
except redis.ResponseError as e:
    tell("no transactions" in str(e) and "transaction=False" in str(e), "redis-py: a transaction is refused, and the remedy named")
tell(a.pipeline(transaction=False).exists("py").exists("py").execute() == [0, 0], "redis-py: a pipeline without one is not")

granted = []
waiter = threading.Thread(target=lambda: granted.append(b.execute_command("LOCK", "py", "WAIT", 30000)))
waiter.start()
while not a.execute_command("WAITERS", "py"):
    pass
a.execute_command("UNLOCK", "py")
waiter.join()
tell(granted and granted[0][1] > first, "redis-py: a client that waits is next, with a larger fence")
b.execute_command("UNLOCK", "py")

listener = connect().pubsub()
listener.subscribe("py")
listener.psubscribe("other-*")
seen = [listener.get_message(timeout=60) for _ in range(2)]
tell([m["type"] for m in seen] == ["subscribe", "psubscribe"], "redis-py: SUBSCRIBE and PSUBSCRIBE are confirmed")
a.client_setname("alice")
a.execute_command("LOCK", "py", "TTL", 100)
a.execute_command("LOCK", "other-1")
seen = [listener.get_message(timeout=60) for _ in range(2)]
tell(seen[0]["channel"] == "py" and seen[0]["data"].startswith("granted ") and seen[0]["data"].endswith(" alice"),
     "redis-py: a grant is told")
tell(seen[1]["type"] == "pmessage" and seen[1]["channel"] == "other-1", "redis-py: also by pattern")
seen = listener.get_message(timeout=60)
tell(seen["data"].startswith("lost "), "redis-py: a lease that has run out is told to a client of version 2")
listener.ping()
tell(listener.get_message(timeout=60)["type"] == "pong", "redis-py: PING is answered in between")
listener.unsubscribe()
tell(listener.get_message(timeout=60)["type"] == "unsubscribe", "redis-py: UNSUBSCRIBE is confirmed")
with a.pipeline(transaction=False) as p:
    for _ in range(100):
        p.execute_command("LOCK", "many").execute_command("UNLOCK", "many")
    answers = p.execute()
fences = [answers[k][1] for k in range(0, 200, 2)]
tell(fences == sorted(set(fences)) and len(fences) == 100, "redis-py: a pipeline of a hundred locks")
