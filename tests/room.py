# room.py - what a browser may ask of a daemon's page, asked over HTTP as a browser would, and as an attacker would. Prints a line
# for each fact, "0 what is true" or "1 what is not". Arguments: the program, the directory with the sockets ant, bee and
# cat, the port of HTTP of ant and that of its clients over TCP.
# Invariants: I19, I22, I31.
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time

dibs, home, port, clients = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
HOST = f"127.0.0.1:{port}"


def tell(fact, name):
    print(0 if fact else 1, name, flush=True)


def until(condition):
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.05)
    return False


def run(*words, member="ant"):
    return subprocess.run([dibs, *words, "--socket", f"{home}/{member}"], capture_output=True, text=True, timeout=60)


def call(method, path, body=None, headers={}):
    """Status, headers and body."""
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        c.putrequest(method, path, skip_host=True)
        for name, value in {"Host": HOST, **headers}.items():
            if value is not None:
                c.putheader(name, value)
        if body is not None:
            c.putheader("Content-Length", str(len(body)))
        c.endheaders(body)
        r = c.getresponse()
        return r.status, r.headers, r.read().decode()
    finally:
        c.close()


def token(*place):
    place = place or ("--socket", f"{home}/ant")
    url = subprocess.run([dibs, "page-token", *place], capture_output=True, text=True, timeout=60).stdout.strip()
    assert url.startswith(f"http://{HOST}/#login="), url
    return url.split("=")[1]


def log_in(text):
    """What a request has to show."""
    status, headers, body = call("POST", "/login", text.encode())
    assert status == 200, body
    return {"Cookie": headers["Set-Cookie"].split(";")[0], "X-Dibs-Pass": json.loads(body)["pass"]}


def ask(me, path):
    return json.loads(call("GET", path, headers=me)[2])


SECRETS = ["/login.json", "/members.json", "/locks.json", "/claims.json?name=backup", "/events"]

# ------------------------------------------------------------------------------------------------------------- strangers

holder = subprocess.Popen([dibs, "lock", "secret-name", "--socket", f"{home}/ant", "--", "sleep", "600"], stderr=subprocess.DEVNULL)
until(lambda: "secret" in run("holders", "secret-name").stdout or "sleep" in run("holders", "secret-name").stdout)
told = [call("GET", path) for path in SECRETS]
tell(all(s == 401 and "page-token" in b for s, _, b in told), "without a login, a browser is told how to log in")
tell(not any("secret-name" in call("GET", p)[2] for p in ["/metrics", "/status.json", "/healthz", *SECRETS]), "and no names of locks")
tell(call("POST", "/force-unlock", b"secret-name")[0] == 401, "nor may it take a lock away")
opened = [[call("GET", p, headers={"Host": h})[0] for p in ("/", "/metrics", "/healthz", "/status.json", "/views.json")] for h in ("evil.example", f"evil.example:{port}", f"10.0.0.1:{port}", f"localhost:{port}", HOST)]
tell(all(s == 403 for o in opened[:3] for s in o) and not any(s == 403 for o in opened[3:] for s in o), "a page of another name that was made to point here is told nothing, not even numbers")
tell(all(call("POST", "/login", t)[0] == 403 for t in [b"", b"0" * 32, b"x" * 32, b"\0" * 32, b"0" * 33]), "what is no token opens nothing")

# ---------------------------------------------------------------------------------------------------------------- logins

first = token()
status, headers, body = call("POST", "/login", first.encode())
cookie = headers["Set-Cookie"]
tell(status == 200 and json.loads(body)["operator"] is True, "a token logs in, with the rights of the client that asked for it")
tell(all(w in cookie for w in ("HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=28800")) and json.loads(body)["pass"] not in cookie,
     "its cookie is not for scripts and not for other sites")
tell(headers["Cache-Control"] == "no-store" and "default-src 'none'" in headers["Content-Security-Policy"] and headers["X-Content-Type-Options"] == "nosniff",
     "nothing of it is stored, framed or run")
me = {"Cookie": cookie.split(";")[0], "X-Dibs-Pass": json.loads(body)["pass"]}
tell(call("POST", "/login", first.encode())[0] == 403, "a token works once")
tell(ask(me, "/login.json")["operator"] is True and ask(me, "/login.json")["from"] == f"user {os.getuid()}", "the page is told as whom it acts")
tell(call("GET", "/locks.json", headers={"Cookie": me["Cookie"]})[0] == 401 and call("GET", "/locks.json", headers={"X-Dibs-Pass": me["X-Dibs-Pass"]})[0] == 401,
     "the cookie alone, or the pass alone, is not enough")
other = log_in(token())
tell(call("GET", "/locks.json", headers={**me, "X-Dibs-Pass": other["X-Dibs-Pass"]})[0] == 401, "nor those of two logins")
crossed = [call(m, p, b, {**me, **h})[0] for h in ({"Host": "evil.example"}, {"Host": f"evil.example:{port}"}, {"Host": None}, {"Origin": "http://evil.example"},
           {"Origin": f"http://127.0.0.1:{port + 1}"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"})
           for m, p, b in (("GET", "/locks.json", None), ("POST", "/force-unlock", b"secret-name"), ("POST", "/login", token().encode()))]
tell(crossed and all(s in (400, 403) for s in crossed), "requests of other sites and other host names are refused, even with a login")
tell(call("GET", "/locks.json", headers={**me, "Origin": f"http://{HOST}", "Sec-Fetch-Site": "same-origin"})[0] == 200, "those of the daemon's own page are not")
tell(call("GET", "/login")[0] == 405 and call("POST", "/locks.json", b"", me)[0] == 405 and call("PUT", "/login", b"")[0] == 405, "each address has one method")
tell(call("POST", "/login", b"x" * 1025)[0] == 413 and call("POST", "/force-unlock", b"x" * 100000, me)[0] == 413, "a long body is refused")
tell(call("POST", "/force-unlock", b"a\0b", me)[0] == 400 and call("POST", "/force-unlock", b"", me)[0] == 400, "a body that is no name, too")

reader = log_in(token("--connect", f"127.0.0.1:{clients}"))
status, _, body = call("POST", "/force-unlock", b"secret-name", reader)
tell(status == 403 and "NOPERM" in body and ask(reader, "/login.json")["operator"] is False, "a reader may look, and take nothing away")
tell(holder.poll() is None and "sleep" in json.dumps(ask(reader, "/claims.json?name=secret-name")), "its holder holds on")

# ------------------------------------------------------------------------------------------------------------------- data

waiter = subprocess.Popen([dibs, "lock", "secret-name", "--socket", f"{home}/bee", "--", "true"], stderr=subprocess.DEVNULL)
until(lambda: "true" in run("waiters", "secret-name").stdout)
claims = ask(me, "/claims.json?name=secret-name&name=nothing%20here")
same = [json.loads(run(w, "secret-name", "--format", "json").stdout) for w in ("holders", "waiters")]


def ageless(rows):
    return [{k: v for k, v in row.items() if k != "age_ms"} for row in rows]


tell([c["name"] for c in claims] == ["secret-name", "nothing here"] and [ageless(claims[0]["holders"]), ageless(claims[0]["waiters"])] == [ageless(s) for s in same]
     and all("age_ms" in row for row in claims[0]["holders"] + claims[0]["waiters"]), "holders and waiters of all members are those of dibs holders and dibs waiters, with their ages")
tell(claims[0]["holders"][0]["from"] == claims[0]["waiters"][0]["from"] == f"user {os.getuid()}", "and where they come from")
views = [json.loads(call("GET", "/views.json")[2]), json.loads(run("views", "--format", "json").stdout)]
tell(ageless(views[0]) == ageless(views[1]) and views[0][0]["view"] == json.loads(call("GET", "/status.json")[2])["view"] and views[0][0]["members"] == "ant bee cat" and views[0][0]["opened"]
     and [v["view"] for v in views[0]] == sorted((v["view"] for v in views[0]), reverse=True), "the views of this member are those of dibs views, the latest first")
names, cursor = [], 0
while True:
    cursor, rows = ask(me, f"/locks.json?pattern=secret*&cursor={cursor}")
    names += [(row["member"], row["name"], row["algorithm"], row["holders"], row["waiters"]) for row in rows]
    if not cursor:
        break
tell(("ant", "secret-name", "swaroop-singh", 1, 0) in names and ("bee", "secret-name", "swaroop-singh", 0, 1) in names, "locks are found by a pattern, page after page")
tell([m["name"] for m in ask(me, "/members.json")] == ["ant", "bee", "cat"] and all(m["takes_part"] for m in ask(me, "/members.json")), "members, with their incarnations")
tell(call("GET", "/claims.json", headers=me)[0] == 400 and call("GET", "/locks.json?cursor=x", headers=me)[0] == 400, "a question that is none is refused")
many = ask(me, "/claims.json?" + "&".join(f"name=n{k}" for k in range(40)))
tell(len(many) == 16, "a request asks for 16 locks at most")


class Events:
    def __init__(self, me, pattern="*"):
        self.s = socket.socket()
        self.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        self.s.settimeout(60)
        self.s.connect(("127.0.0.1", port))
        head = f"GET /events?pattern={pattern} HTTP/1.1\r\nHost: {HOST}\r\n" + "".join(f"{k}: {v}\r\n" for k, v in me.items())
        self.s.sendall(head.encode() + b"\r\n")
        self.text = b""

    def until(self, words):
        while words.encode() not in self.text:
            some = self.s.recv(65536)
            if not some:
                return False
            self.text += some
        return True


events = Events(me, "secret*")
tell(events.until('["psubscribe", "secret*", 1]'), "a page that has logged in follows events")
holder.send_signal(signal.SIGTERM)
tell(events.until('"secret-name", "released ant') and events.until('"secret-name", "granted bee'), "releases and grants of all members, as they happen")
waiter.wait()
holder.wait()
holder = subprocess.Popen([dibs, "lock", "secret-name", "--socket", f"{home}/cat", "--grace", "0.1", "--", "sleep", "600"], stderr=subprocess.DEVNULL)
events.until('"secret-name", "granted cat')
status, _, body = call("POST", "/force-unlock", b"secret-name", me)
tell(status == 200 and json.loads(body)[0]["member"] == "cat" and events.until('"lost cat') and holder.wait() != 0, "an operator takes a lock away, at another member")
tell(until(lambda: "web page" in open(f"{home}/cat.log").read()), "and the log says by whom")

# ----------------------------------------------------------------------------------------------------------------- bounds

call("POST", "/logout", b"", me)
tell(call("GET", "/locks.json", headers=me)[0] == 401 and events.until("event: over"), "a user that logs out is out, and its events end")
me = log_in(token())
for _ in range(1000):
    last = log_in(token("--connect", f"127.0.0.1:{clients}")) if _ % 50 == 0 else None
    call("POST", "/login", b"0" * 32)
tell(ask(me, "/login.json")["operator"] is True, "a thousand attempts to log in, and many readers, displace no operator")
me = log_in(token())


def reading():
    e = Events(me)
    e.until("\r\n\r\n")
    return e


readers = [reading() for _ in range(16)]
busy = Events(me)
tell(busy.until("503") and all(b" 200 " in r.text for r in readers), "sixteen pages follow events; one more is refused")


def work(count):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(f"{home}/ant")
    name = b"w" * 200
    for _ in range(count):
        s.sendall((b"LOCK " + name + b"\r\nUNLOCK " + name + b"\r\n") * 10 + b"PING\r\n")
        text = b""
        while b"+PONG" not in text:
            text += s.recv(65536)


work(100)  # half a megabyte of events, for pages that do not read
tell(all(r.until("event: dropped") for r in readers),
     "pages that do not read their events are dropped with a note, and an innocent client works on")
tell(until(lambda: b" 200 " in reading().text), "and others find room again")
silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
tell(ask(me, "/login.json")["operator"] is True, "silent callers do not keep a page out")
[s.close() for s in silent]

os.kill(int(open(f"{home}/cat.pid").read()), signal.SIGSTOP)
status, _, body = call("GET", "/claims.json?" + "&".join(f"name=n{k}" for k in range(16)), headers=me)
tell(status == 200 and ("not heard" in body or "too long" in body), "a member that does not answer is named, and delays all locks together only once")
os.kill(int(open(f"{home}/cat.pid").read()), signal.SIGCONT)
last = Events(me)
last.until("psubscribe")
pid = int(open(f"{home}/ant.pid").read())
os.kill(pid, signal.SIGTERM)
tell(not last.until("never"), "a daemon that ends, ends its streams")
