# famine.py DIBS LIBRARY DIRECTORY PORT RUNS: daemons whose n-th allocation fails, and perhaps all that follow, while clients
# work; RUNS of them for each of three lengths, with other n. Each daemon must go on and serve a new client, or end by itself,
# with status 2 and a line that says why. Prints what came of it, and ends with 1 if a daemon crashed.
import os
import random
import signal
import socket
import subprocess
import sys
import time

dibs, library, where, port, runs = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
FOREVER = 1 << 30
path = where + "/famine"


def connect(address=None):
    if address:
        s = socket.create_connection(address, timeout=5)
    else:
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(5)
        s.connect(path)
    return s


def start(first, count):
    environment = dict(os.environ, LD_PRELOAD=library, FAMINE_FROM=str(first), FAMINE_COUNT=str(count),
                       FAMINE_TOLD=where + "/told")
    log = open(where + "/famine.log", "w")
    daemon = subprocess.Popen([dibs, "serve", "--name", "ant", "--members", f"ant=127.0.0.1:{port}", "--socket", path,
                               "--data", where + "/famine.data", "--key", where + "/key", "--http",
                               f"127.0.0.1:{port + 1}", "--clients", f"127.0.0.1:{port + 2}", "--lease", "100"],
                              env=environment, stderr=log)
    for _ in range(2000):
        try:
            s = connect()
            s.sendall(b"LOCK first WAIT 5000\n")
            if s.recv(100)[:1] == b"*":
                break
        except OSError:
            pass
        time.sleep(0.005)
    s.close()
    daemon.send_signal(signal.SIGUSR2)
    return daemon


def drain(s):
    s.settimeout(0.02)
    try:
        while s.recv(1 << 16):
            pass
    except OSError:
        pass


def work():
    """A bit of everything. The daemon may be gone in the midst of it."""
    try:
        all_ = [connect() for _ in range(4)]
        all_[0].sendall(b"HELLO 3 SETNAME a\nPSUBSCRIBE * x*\nSUBSCRIBE y\n")
        all_[1].sendall(b"".join(b"LOCK x%d\n" % k for k in range(60)) + b"LOCK y SHARED\nLOCK s SLOTS 3\nCONFIRM\n")
        all_[2].sendall(b"LOCK y SHARED\nLOCKS\nHOLDERS y\nWAITERS y\nSTATUS\nCOMMAND\nINFO\nMEMBER LIST\n")
        all_[3].sendall(b"LOCK y WAIT 5\nFORCE-UNLOCK x1\nLOCK z TTL 1\n" + b"PING %s\n" % (b"x" * 3000) * 20)
        for s in all_[1:]:
            drain(s)
        stranger = connect(("127.0.0.1", port))
        stranger.sendall(os.urandom(300))
        tls = connect(("127.0.0.1", port + 2))
        tls.sendall(bytes.fromhex("16030100050100000100") + os.urandom(200))
        for place in "metrics", "status.json", "healthz":
            http = connect(("127.0.0.1", port + 1))
            http.sendall(f"GET /{place} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            drain(http)
            http.close()
        all_[1].sendall(b"".join(b"UNLOCK x%d\n" % k for k in range(60)))
        drain(all_[1])
        drain(all_[0])
        for s in all_ + [stranger, tls]:
            s.close()
    except OSError:
        pass


def serves():
    try:
        s = connect()
        for _ in range(400):
            s.sendall(b"LOCK last WAIT 0\n")
            if s.recv(1000)[:1] == b"*":
                return True
            time.sleep(0.005)
    except OSError:
        pass
    return False


def run(first, count):
    """What has become of it."""
    daemon = start(first, count)
    work()
    lives = daemon.poll() is None and (count == FOREVER or serves())
    if lives:
        daemon.send_signal(signal.SIGTERM)
    try:
        status = daemon.wait(20)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()
        return "hangs"
    log = open(where + "/famine.log").read()
    if status == 0 and lives:
        return "refused what it could not keep" if "out of memory" in log else "went on"
    if status == 2 and "out of memory" in log:
        return "ended in its own words"
    if status == 1 and "cannot go on" in log:
        return "ended in its own words"
    return f"status {status}: {log[-300:]}"


random.seed(1)
print(f"# with all memory that it wants: {run(0, 0)}", flush=True)
made = int(open(where + "/told").read())
bad, came = 0, {}
for count in 1, 20, FOREVER:
    for k in range(runs):
        first = 1 + (made * k + random.randrange(made)) // runs
        what = run(first, count)
        came[what[:40]] = came.get(what[:40], 0) + 1
        if what not in ("went on", "refused what it could not keep", "ended in its own words"):
            bad += 1
            print(f"# {count if count < FOREVER else 'all'} from {first} of {made}: {what}", flush=True)
print("# " + "; ".join(f"{n} {what}" for what, n in sorted(came.items()) if n))
sys.exit(1 if bad else 0)
