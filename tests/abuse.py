# abuse.py SECONDS SOCKET PID HTTP CLIENTS MEMBERS: attacks a daemon for so many seconds each, beside an innocent client that
# holds one lock all the time and takes and releases another, and beside one of another member that holds a lock. SOCKET and PID are the daemon's; HTTP, CLIENTS and MEMBERS are
# ports of it on loopback, 0 for none. Prints a line for each attack: its name; the innocent clients' worst wait for an
# answer, in milliseconds of a daemon's processor time (which does not depend on what else the machine does); the longest
# turn of the daemon's loop, in processor time as well, by its own measurement (/metrics); the daemon's memory before, at
# most, and afterwards, in MB. Ends with 1, and a line, if an innocent client lost its lock or had no answer, if a wait was
# longer than a quarter of a lease or a turn longer than an eighth, or if memory or descriptors do not come back. An attack that fails while
# the daemons had to wait for a processor is made again, twice at most.
#
# With SLOW=PID in the environment that process is the daemon of another member, cat, which is stopped and removed; OTHER is the
# socket of a third one. With RULED set the daemon has rules for clients and a login, and only the attacks on these are made.
import os
import re
import resource
import select
import signal
import socket
import sys
import time

import abuse_attacks
from abuse_attacks import *  # noqa: F403
from abuse_questions import *  # noqa: F403
from abuse_several import *  # noqa: F403

WORK = "a" * 240
MEMORY_MB = 24  # that the allocator may keep
NAME_MB = 0.0006  # and for each name, which members remember for a while though nobody uses it any more
TOKEN_MB = 0.0018  # and for each lock of a token, which is held though its client has gone
JUDGED = os.environ.get("MODE") != "asan"  # sanitizers take time, and keep what was freed
faults = []


other_pid = int(open(OTHER + ".pid").read()) if OTHER else 0


def cpu_ms():
    """The processor time of the daemon so far, and that of the other member: a client may wait for either."""
    return [int(open(f"/proc/{p}/schedstat").read().split()[0]) / 1e6 for p in (pid, other_pid) if p]


def waited_ms(process):
    """For how long the process has waited for a processor, so far."""
    return int(open(f"/proc/{process}/schedstat").read().split()[1]) / 1e6


def starved_ms():
    return max(waited_ms(p) for p in (pid, SLOW, other_pid) if p and os.path.exists(f"/proc/{p}"))


def rss_mb():
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024


def descriptors():
    return len(os.listdir(f"/proc/{pid}/fd"))


def turns():
    """How many turns took longer than each of these numbers of milliseconds of processor time, so far."""
    s = socket.create_connection(("127.0.0.1", http), timeout=60)
    s.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    text = b"".join(iter(lambda: s.recv(65536), b"")).decode()
    count = int(re.search(r"^dibs_turn_cpu_seconds_count (\d+)", text, re.M)[1])
    below = re.findall(r'^dibs_turn_cpu_seconds_bucket{le="([0-9.]+)"} (\d+)', text, re.M)
    return {float(bound) * 1000: count - int(n) for bound, n in below}


def longest_turn(before, since):
    """The smallest bound, in milliseconds, that no turn since then has exceeded. Of a turn that took longer than an eighth of the
    lease, the log tells how long."""
    bound, most = min(bound for bound, n in turns().items() if n == before[bound]), LEASE_MS / 8
    return bound if bound <= most or bound > 2 * most else max(most, logged_turn(since))


def log_size():
    return os.path.getsize(path + ".log")


def logged_turn(since):
    """The processor time of the longest turn that the daemon has complained of in its log, behind `since` bytes of it."""
    log = open(path + ".log", "rb").read()[since:].decode(errors="replace")
    return max([int(ms) for ms in re.findall(r"a turn took \d+ ms, (\d+) ms of them on the processor", log)], default=0)


# ------------------------------------------------------------------------------------------------ the innocent client


class Innocent:
    def __init__(self, daemon, lock):
        self.s = socket.socket(socket.AF_UNIX)
        self.s.settimeout(60)
        self.s.connect(daemon)
        self.f = self.s.makefile("rb")
        self.lost, self.lock = False, lock
        self.ask("HELLO 3")
        self.ask(f"LOCK {lock}")

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
        """How long a daemon worked meanwhile; but for the time in which this process itself had the answer and no processor."""
        before, without = cpu_ms(), waited_ms("self")
        self.s.sendall(command.encode() + b"\r\n")
        self.read()
        worked = max(after - b for after, b in zip(cpu_ms(), before))
        return max(0, worked - (waited_ms("self") - without))

    def stay(self):
        """As while the daemon is being drained, which grants nothing."""
        return max(self.ask(c) for c in (f"CONFIRM {self.lock}", "PING"))

    def can_work(self):
        try:
            return self.work() >= 0
        except OSError as e:
            if not str(e).startswith("-"):
                raise
            return False

    def work(self):
        return max(self.ask(c) for c in (f"LOCK {WORK}", "CONFIRM", f"UNLOCK {WORK}"))


LONG = os.environ.get("ABUSE") == "long"  # some attacks are left out otherwise
DRAINS = (drains, drains_of_holders)
RULED_ATTACKS = [
    (passwords, clients, "50 clients that guess passwords"),
    (rules, clients, "names for which 256 costly rules are tried"),
    (rules_of_events, clients, "5000 subscriptions to events for which 256 costly rules are tried"),
]
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
    (subscribers_of_all, LONG, f"{250 * SUBSCRIBERS} subscriptions to all events"),
    (subscribes, 1, "20 connections that subscribe and unsubscribe"),
    (batches, 1, "6 clients that lock and unlock 200 names at a time"),
    (looks, 1, f"{CLIENTS} clients that ask for LOCKS with a costly pattern, one at a time"),
    (crowd, LONG, f"questions about a lock with {CLIENTS} waiters"),
    (replays, LONG and http, "REPLAY of a lock that is in use"),
    (confirms, LONG, f"CONFIRM of {min(HELD // 5, 40000)} locks, without end"),
    (returns, LONG, f"{CLIENTS} kept sessions that are resumed at once"),
    (names_of_clients, LONG, "names of clients, INFO, VIEWS, MAY"),
    (lines_without_end, LONG, "lines that do not end"),
    (several, 1, "20 clients that lock 32 names at once, again and again"),
    (popular, 1, f"clients that lock 31 names at once that {CLIENTS} others share"),
    (gate, LONG, f"{CLIENTS} clients that get the first of 32 locks at the same time"),
    (cancels, 1, "20 clients that cancel their waits for several locks"),
    (layers, 1, f"{CLIENTS} clients that wait for each other in 15 layers"),
    (layers_of_two, LONG and OTHER, f"{CLIENTS} clients of two members that wait for each other in 15 layers"),
    (circles, 1, f"{CLIENTS // 4} deadlocks, again and again"),
    (children, LONG, f"{CLIENTS} clients that run under 32 locks, and wait"),
    (never_reads, 1, "300 connections that read no answers"),
    (behind_a_wait, 1, "300 connections that send behind a wait"),
    (churn, 1, "connections that come, ask and go"),
    (waiters, 1, f"{CLIENTS} waiters that go at once"),
    (kept_clients, 1, f"{CLIENTS} clients with kept sessions that go at once"),
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
    (redisson, 1, f"{CLIENTS // 10} clients that lock as Redisson does, and its channels"),
    (tokens, 1, f"{TOKENS} locks of tokens that end at once"),
    (sharers, 1, f"{CLIENTS} clients that share a lock"),
    (tries, 1, f"{CLIENTS} clients that wait for a lock, some that try"),
    (renewals, 1, "another TTL again and again" + (", a member is stopped" if SLOW else "")),
    (page, http, "64 slow readers of the web page"),
    (guesses, http, "tokens for the web page that are guessed"),
    # A member that waits for a processor loses the innocent client's lock, and then it has been drained, and ends.
    (drains, LONG or not members, f"DRAIN again and again, {TOKENS} sessions without a client"),
    (drains_of_holders, LONG or not members, f"DRAIN again and again, {CLIENTS} clients that hold locks, others that wait"),
    (auths, 1, "50 clients whose logins fail"),
    (replays_of_many, 1, "REPLAY of 1000 locks that are in use, and are watched"),
    (views, 1, "20 connections of VIEWS, STATUS and MEMBER LIST without end"),
    (whys, 1, f"what dibs why and dibs top ask, {CLIENTS} waiters"),
    (values, 1, "1000 subscriptions to events with values of 4096 bytes"),
    (line, 1, f"{LINE} clients that wait for one lock"),
    (force_unlocks, SLOW, f"FORCE-UNLOCK while a slow member is removed, {IDLE} idle names"),
    (held_names, 1, f"{HELD} held names"),
]


def healthy():
    s = socket.create_connection(("127.0.0.1", http), timeout=60)
    s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return b" 200 " in s.recv(4096)


def judge(attack, name):
    """A member that waits for a processor loses its lease, and the innocent client its lock, without any attack. If the daemons have
    waited for that long, the attack is made again: one that harms the innocent client does so again. So does one that leaks memory;
    but memory that the allocator has kept is used by the next attack."""
    for again in (2, 1, 0):
        known, starved = len(faults), starved_ms()
        row = run(attack, name)
        found = faults[known:]
        keeps = again == 2 and all(": memory " in fault for fault in found)
        if not found or not again or (starved_ms() - starved < LEASE_MS / 2 and not keeps):
            break
        why = "to see whether that is a leak" if keeps else "since the daemons had no processor"
        print(f"# again, {why}: " + "; ".join(found), flush=True)
        del faults[known:]
        time.sleep(2 * LEASE_MS / 1000)
    print(row, flush=True)


def run(attack, name):
    innocent = Innocent(path, "keep")
    neighbour = Innocent(OTHER, "keep.other") if OTHER else None
    memory, open_, before, since = rss_mb(), descriptors(), turns(), log_size()
    look, abuse_attacks.begun = os.pipe()
    attacker = os.fork()
    if attacker == 0:
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        try:
            attack()
        except OSError as e:
            print(f"# {name}: the attacker: {e}", flush=True)
        os._exit(0)
    os.close(abuse_attacks.begun)
    if not select.select([look], [], [], 60 + HELD / 1000)[0] or not os.read(look, 1):
        faults.append(f"{name}: the attack has not begun")
    os.close(look)
    worst, most, rounds, end = 0, memory, 0, time.monotonic() + seconds
    try:
        while time.monotonic() < end or rounds < 5:
            worst = max(worst, innocent.stay() if attack in DRAINS else innocent.work(), neighbour.stay() if neighbour else 0)
            most = max(most, rss_mb())
            rounds += 1
            time.sleep(0.01)
        if attack is slow_http and not healthy():
            faults.append(f"{name}: /healthz is not to be had")
        if attack not in DRAINS:  # the daemon would end
            innocent.ask("UNLOCK keep")
        if neighbour:
            neighbour.ask("UNLOCK keep.other")
    except OSError as e:
        faults.append(f"{name}: the innocent client: {e}")
    os.kill(attacker, signal.SIGKILL)
    os.waitpid(attacker, 0)
    while attack in DRAINS and not innocent.can_work():  # else the daemon ends with the innocent client's lock
        time.sleep(0.1)
    if innocent.lost:
        faults.append(f"{name}: the innocent client has lost its lock")
    if neighbour and neighbour.lost:
        faults.append(f"{name}: a client of another member has lost its lock")
    # A lock may have to wait for a member that is stopped, until it is excluded: meanwhile the daemon works for the attacker.
    if JUDGED and worst > LEASE_MS / 4 and not (attack is renewals and SLOW):
        faults.append(f"{name}: the innocent client waited for {worst:.0f} ms of the daemon's processor time")
    for client in (innocent, neighbour):
        if client:
            client.s.close()
    names = {held_names: HELD, force_unlocks: IDLE, kept_sessions: KEPT, tokens: KEPT, drains: KEPT}.get(attack, 0)
    allowed = MEMORY_MB + names * (TOKEN_MB if attack in (tokens, drains) else NAME_MB)
    for _ in range(400):
        if descriptors() < open_ + 2 and (not JUDGED or rss_mb() < memory + allowed):
            break
        time.sleep(0.05)
    else:
        faults.append(f"{name}: memory {memory:.0f} -> {rss_mb():.0f} MB, descriptors {open_} -> {descriptors()}")
    turn = longest_turn(before, since)
    if JUDGED and turn > LEASE_MS / 8:
        faults.append(f"{name}: a turn took up to {turn:.0f} ms of processor time")
    return f"| {name} | {worst:.0f} ms | {turn:.0f} ms | {memory:.0f} | {most:.0f} | {rss_mb():.0f} |"


resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
only = sys.argv[7:]
for attack, wanted, name in RULED_ATTACKS if RULED else ATTACKS:
    if wanted and (not only or attack.__name__ in only):
        judge(attack, name)
for fault in faults:
    print("# " + fault)
sys.exit(1 if faults else 0)
