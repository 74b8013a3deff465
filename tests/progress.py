"""What long commands show on a terminal: a line of progress with an estimate, and colours for verdicts; and that nothing
of it is there if there is no terminal. Each step waits until it sees what it waits for. Prints TAP.
Usage: progress.py DIBS DIRECTORY"""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

PATIENCE_S = 120
dibs, directory = sys.argv[1:3]
os.environ.pop("NO_COLOR", None)
os.environ["TERM"] = "xterm"
count = 0


def tell(name, good, seen=""):
    global count
    count += 1
    if not good:
        print("# seen: %r" % seen[-400:])
    print("%sok %d - %s" % ("" if good else "not ", count, name), flush=True)


def on_terminal(words, pattern, number=None, **more):
    """All that the command writes to a terminal until the pattern is seen; then it gets the signal, if there is one, and
    what it writes until its end is read as well."""
    terminal, inner = pty.openpty()
    environment = dict(os.environ, **more)
    process = subprocess.Popen([dibs] + words.split(), stdin=subprocess.DEVNULL, stdout=inner, stderr=inner, cwd=directory,
                               env=environment, start_new_session=True)
    os.close(inner)
    seen, found, end = "", False, time.monotonic() + PATIENCE_S
    while select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
        try:
            seen += os.read(terminal, 65536).decode(errors="replace")
        except OSError:
            break
        if not found and re.search(pattern, seen, re.S):
            found = True
            if number:
                process.send_signal(number)
    if process.poll() is None and not found:
        process.kill()
    process.wait()
    os.close(terminal)
    return found, seen


# A line with an estimate, long before the end.
for words, line in (
        ("sim ricart-agrawala --sites 50 --closed --entries 1G", r"\d+ of 1100000000 entries, \d+ s, about [\d.]+ (s|min|h) left"),
        ("sweep raymond --sites 50 --rate 0.0001..0.01/300 --entries 100k", r"\d+ of 300 runs, \d+ s, about [\d.]+ (s|min|h) left"),
        ("paper all", r"\d+ of \d+ runs, \d+ s, about"),
        ("check all --sites 3 --requests 3", r"\d+ of \d+ systems, \d+ s"),
        ("check mistakes", r"\d+ of \d+ mistakes, \d+ s"),
        ("check ricart-agrawala --sites 4 --requests 3 --random 10M", r"\d+ of 10000000 random runs, \d+ s, about [\d.]+ (s|min|h) left"),
        ("soak --seeds 100k", r"\d+ of 100000 seeds, \d+ s, about [\d.]+ (s|min|h) left")):
    tell("progress: dibs " + words, *on_terminal(words, line, signal.SIGKILL))
found, seen = on_terminal("check ricart-agrawala --sites 4 --requests 3", r"\d+ states, \d+ to look at, \d+ s, ", signal.SIGINT)
tell("progress of a search, which is erased at its end", found and re.search("\r\033\\[K[^\r]*ricart-agrawala, 4 sites.*\033\\[33mINTERRUPTED", seen, re.S), seen)

# Colours
RED, GREEN, YELLOW = "\033\\[1;31m", "\033\\[32m", "\033\\[33m"
for words, line in (
        ("check lamport --sites 2", GREEN + "mutual exclusion.*hold\033\\[0m \\("),
        ("check lamport --sites 2 --without fifo", RED + "EXCLUSION BROKEN"),
        ("check lamport --sites 2 --random 3", YELLOW + "NO VIOLATION FOUND"),
        ("quiz 1 --guess nothing", RED + "not solved\033\\[0m:"),
        ("soak --seeds 1 --seconds 1", "1 seeds, " + GREEN + "0 failed\033\\[0m"),
        ("paper lamport --quick", "Verdict: (%s|%s)" % (GREEN, YELLOW))):
    found, seen = on_terminal(words, line)
    plain = on_terminal(words, "$", NO_COLOR="1")[1] + on_terminal(words, "$", TERM="dumb")[1]
    tell("colours: dibs " + words, found and "\033[3" not in plain and "\033[1;" not in plain, seen + plain)

# No terminal: no line, no colours.
for words in ("check lamport --sites 2 --without fifo", "soak --seeds 40", "paper lamport --quick"):
    done = subprocess.run([dibs] + words.split(), cwd=directory, capture_output=True, stdin=subprocess.DEVNULL)
    tell("plain without a terminal: dibs " + words, done.stdout and b"\033" not in done.stdout + done.stderr and b"\r" not in done.stdout + done.stderr,
         str(done.stdout + done.stderr))
print("1..%d" % count)
