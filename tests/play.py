"""dibs play on a terminal of 80 columns and 24 lines, with arrow keys. Each step waits until the screen shows it. Prints
TAP. Usage: play.py DIBS DIRECTORY"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

PATIENCE_S = 120
dibs, directory = sys.argv[1:3]
os.environ["TERM"] = "xterm"
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.chdir(directory)
    os.execl(dibs, "dibs", "play", "ricart-agrawala", "--sites", "9", "--save", "mine.txt")
seen = ""
count = 0


def screen():
    """The lines of the last screen, without escape sequences."""
    last = seen.split("\033[H\033[J")[-1]
    return re.sub(r"\033\[[0-9?]*[A-Za-z]", "", last).replace("\r", "").split("\n")


def shows(pattern):
    global seen
    end = time.monotonic() + PATIENCE_S
    while not re.search(pattern, "\n".join(screen()), re.S):
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        if not ready:
            print("# not seen: %r in %r" % (pattern, screen()))
            return False
        try:
            seen += os.read(terminal, 65536).decode(errors="replace")
        except OSError:
            print("# it has ended: %r" % screen())
            return False
    return True


def tell(name, *facts):
    global count
    count += 1
    print("%s %d - %s" % ("ok" if all(facts) else "not ok", count, name))


def press(keys):
    os.write(terminal, keys.encode())


KEYS = "q quit"  # the last line
tell("it begins", shows("move 0 of 0.*no move yet.*" + KEYS))
tell("80 columns and 24 lines", len(screen()) <= 24, all(len(line) <= 80 for line in screen()))
press("\033[B\033[B\r")
tell("down, down and Enter: the third move", shows(r"move 1 of 1.*1  2 waits  -> 0 REQUEST.*" + KEYS))
tell("still 80 columns and 24 lines", len(screen()) <= 24, all(len(line) <= 80 for line in screen()))
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 132, 0, 0))
press("j")
tell("a larger terminal: more sites and moves", shows(r"8 idle: .*\n    10  request 1\n.*" + KEYS), len(screen()) <= 40)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
press("k")
tell("and a small one again", shows(r"and 3 more sites.*\(arrow keys: more\).*" + KEYS), len(screen()) <= 24)
press("\033[D")
tell("left: back", shows("move 0 of 1.*no move yet.*" + KEYS))
press("\033[C")
tell("right: again", shows("move 1 of 1.*2 waits.*" + KEYS))
press("e")
tell("e: until a site enters", shows("inside:|more sites"), shows("move [0-9]{2,} of.*" + KEYS))
press("s")
tell("s: saved", shows("saved as mine.txt"))
press("q")
_, status = os.waitpid(pid, 0)
tell("q: quit", status == 0)

seen = ""
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 50, 0, 0))
    os.chdir(directory)
    os.execl(dibs, "dibs", "play", "maekawa")
tell("50 columns: states go on in the next line", shows(r"0 idle: clock[^\n]*\n {6}\S+=[^\n]*\n  1 idle.*up down Enter"), all(len(line) <= 50 for line in screen()))
press("q")
os.waitpid(pid, 0)


def killed(number):
    """Is the terminal as it was before, after this signal?"""
    global seen, terminal
    seen = ""
    terminal, inner = pty.openpty()
    before = termios.tcgetattr(inner)
    process = subprocess.Popen([dibs, "play", "raymond"], stdin=inner, stdout=inner, stderr=inner, start_new_session=True)
    taken = shows("move 0 of 0.*" + KEYS) and termios.tcgetattr(inner)[3] & (termios.ICANON | termios.ECHO) == 0
    process.send_signal(number)
    ended = process.wait() == -number and shows(r"\Z")
    while select.select([terminal], [], [], 0)[0]:
        seen += os.read(terminal, 65536).decode(errors="replace")
    good = taken and ended and termios.tcgetattr(inner) == before and seen.endswith("\033[?1049l")
    os.close(inner)
    os.close(terminal)
    return good


for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    tell("%s leaves the terminal as it was" % number.name, killed(number))
print("1..%d" % count)
sys.exit(0)
