"""dibs top on a terminal of 80 columns and 24 lines, with keys. Each step waits until the screen shows it. Prints TAP.
Usage: top.py DIBS DIRECTORY, which has the sockets of three members, ant, bee and cat, and the file held.NAME for each job."""

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

PATIENCE_S = 60
dibs, directory = sys.argv[1:3]
os.environ.update(TERM="xterm", DIBS_SOCKET=directory + "/ant")
os.environ.pop("NO_COLOR", None)
count = 0


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, *words, lines=24, columns=80, environment=()):
        self.seen = ""
        self.columns = columns
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            for number in (signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            os.environ.update(environment)
            os.execvp(words[0], words)

    def resize(self, lines, columns):
        self.columns = columns
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)

    def screen(self):
        """The lines of the last complete screen, without escape sequences."""
        last = re.findall(r"\033\[H(.*?\033\[J)", self.seen, re.S)
        return [self.line(text) for text in last[-1].replace("\r", "").split("\n")] if last else []

    def line(self, text):
        """What is seen of a line. Behind as many characters as there are columns, the cursor is in the last column: erasing takes what is there."""
        seen = ""
        for piece in re.findall(r"\033\[[0-9?;]*[A-Za-z]|[^\033]", text):
            if piece[0] != "\033":
                seen += piece
            elif piece[-1] in "KJ":
                seen = seen[:self.columns - 1]
        return seen

    def read(self, wait_s):
        ready, _, _ = select.select([self.fd], [], [], wait_s)
        if ready:
            self.seen += os.read(self.fd, 65536).decode(errors="replace")
        return bool(ready)

    def waits(self, fact, what):
        end = time.monotonic() + PATIENCE_S
        while not fact():
            try:
                if time.monotonic() > end or not self.read(max(0, end - time.monotonic())):
                    print("# not seen: %s in %r" % (what, self.screen() or self.seen))
                    return False
            except OSError:
                print("# it has ended: %r" % self.seen[-400:])
                return False
        return True

    def shows(self, pattern):
        return self.waits(lambda: re.search(pattern, "\n".join(self.screen()), re.S | re.M), pattern)

    def says(self, pattern):
        return self.waits(lambda: re.search(pattern, self.seen, re.S), pattern)

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def end(self):
        while True:
            try:
                self.seen += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                break
        return os.waitpid(self.pid, 0)[1]


def tell(name, *facts):
    global count
    count += 1
    print("%s %d - %s" % ("ok" if all(facts) else "not ok", count, name), flush=True)


def fits(screen, lines, columns):
    return len(screen) <= lines and all(len(line) <= columns for line in screen)


def order(screen):
    """The names of the locks in the table."""
    return [line[42:].split()[0] for line in screen[3:] if re.match(r"[* ] +[0-9ms.-]+ +[0-9]+ ", line)]


t = Terminal(dibs, "top", "--interval", "200ms")
tell("the locks of all members, the longest wait first, with holders",
     t.shows(r"dibs top.*5 locks in use, 2 waited for, by wait"), t.shows(r"^\* .* archive .* cat \S+:[0-9]+ sleep"),
     order(t.screen())[:2] == ["archive", "db"])
tell("the selected lock has its holders and waiters below",
     t.shows(r"^archive\n  held by cat \S+:[0-9]+ sleep, user \S.*, held, fence [0-9]+, for .*\n  waits: bee \S+:[0-9]+ sh, user"))
tell("it fits 80 columns and 24 lines", fits(t.screen(), 24, 80), "\033[7m" in t.seen)
t.press("\033[B")
tell("down: the next lock", t.shows(r"^\* .* db .*^db\n  held by bee .*\n  waits: ant \S+:[0-9]+ report"))
t.press("4")
tell("4: by name; the first is selected", t.shows("by name"), t.shows(r"^\* .* aaa "), order(t.screen()) == sorted(order(t.screen())))
t.press("2")
tell("2: by the time for which they are held", t.shows(r"by hold.*^\* .* archive "), order(t.screen())[-1] == "young")
t.press("s")
tell("s: by the next column", t.shows(r"by waiters.*^\* .* (archive|db) "))
t.press("/you")
tell("/: a filter is typed", t.shows(r"filter .*: you$"))
t.press("x\177\r")
tell("Enter: only locks with that part in their names", t.shows(r"1 lock in use, 0 waited for, by waiters, filter you"), order(t.screen()) == ["young"])
t.press("/[ab]*\r")
tell("or that match a pattern", t.shows(r"filter \[ab\]\*"), t.shows("2 locks in use"), sorted(order(t.screen())) == ["aaa", "archive"])
t.press("/never\033")
tell("Escape: the filter stays", t.shows(r"2 locks in use.*filter \[ab\]\*"))
t.press("/\r1")
tell("without a filter all come back", t.shows(r"5 locks in use, 2 waited for, by wait"), t.shows(r"^\* .* archive "))
t.press("w")
tell("w: why", t.shows(r'1 client waits for "archive":.*"archive" is held \(exclusive\) by.*dibs force-unlock \'archive\''),
     fits(t.screen(), 24, 80))
t.press(" ")
tell("and back", t.shows(r"^\* .* archive .*q quit"))
t.resize(10, 40)
tell("40 columns: the names of locks are there", t.shows(r"WAIT   HELD NAME"), t.shows(r"^\* .* archive"), fits(t.screen(), 10, 40))
t.press("fn")
tell("and what the keys do", t.says("y takes it away from its holders"), t.shows(r"^\* .* archive"))
t.press("w")
t.shows("other keys back")
t.press("\033[B" * 9)
tell("no character is lost where a line is broken", t.shows(r"up down"),
     t.waits(lambda: "wait for that client, or end it" in "".join(t.screen()) and "or take the lock away:" in "".join(t.screen()), "the advice"))
t.press(" ")
t.resize(12, 60)
tell("a smaller terminal", t.waits(lambda: len(t.screen()) == 12 and fits(t.screen(), 12, 60), "12 lines"), t.shows(r"^\* .* archive"))
t.resize(40, 132)
tell("a larger one", t.waits(lambda: len(t.screen()) == 40, "40 lines"), t.shows(r"archive  +cat \S+:[0-9]+ sleep, user"))
t.resize(24, 80)
t.press("fn")
tell("f and another key: nothing is taken away", t.says("y takes it away from its holders, other keys do not: archive"), t.shows(r"^\* .* archive .*q quit"))
t.press("f")
t.shows("y takes it away from its holders, other keys do not: archive")
t.press("y")
tell("f, y: it is taken away, and the others go on", t.shows(r'"archive" was taken away from 1 client'),
     t.waits(lambda: "archive" not in order(t.screen()) and "db" not in order(t.screen()), "no archive, no db"))
t.press("q")
status = t.end()
tell("q: quit, and the terminal is as before", status == 0, t.seen.endswith("\033[?7h\033[?1049l"))

# Names that are wide, and texts that a terminal would obey; the last are refused by the daemon.
t = Terminal(dibs, "top", "young", "--interval", "200ms", environment={"NO_COLOR": "1"})
tell("NO_COLOR: none", t.shows(r"^\* .* young .*q quit"), "\033[7m" not in t.seen and "\033[1m" not in t.seen)
t.press("\x03")
tell("Ctrl-C quits", t.end() == 0)


def killed(number):
    """Is the terminal as it was before, after this signal?"""
    inner, program = pty.openpty()
    before = termios.tcgetattr(program)
    process = subprocess.Popen([dibs, "top"], stdin=program, stdout=program, stderr=program, start_new_session=True)
    seen = b""
    while b"q quit" not in seen and select.select([inner], [], [], PATIENCE_S)[0]:
        seen += os.read(inner, 65536)
    taken = termios.tcgetattr(program)[3] & (termios.ICANON | termios.ECHO) == 0
    process.send_signal(number)
    ended = process.wait() == -number
    while select.select([inner], [], [], 0)[0]:
        seen += os.read(inner, 65536)
    good = taken and ended and termios.tcgetattr(program) == before and seen.endswith(b"\033[?7h\033[?1049l")
    os.close(inner)
    os.close(program)
    return good


for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    tell("%s leaves the terminal as it was" % number.name, killed(number))

# Under a shell with job control: stopped by the key and by the signal, the terminal is the shell's again, and back.
t = Terminal("sh", "-i", environment={"PS1": "@ ", "ENV": "", "PATH": os.path.dirname(dibs) + ":" + os.environ["PATH"]})
t.says("@ $")
t.press("dibs top --interval 200ms\n")
began = t.shows(r"locks in use.*q quit")
t.press("\x1a")
stopped = t.says(r"q quit.*\033\[\?7h\033\[\?1049l.*Stopped.*@ $")
t.press("stty -a | grep -c ' icanon.* echo '; echo sta''te; pgrep -P $$ -x dibs | sed 's/^/pid:/'\n")
as_before = t.says(r"state\r\npid:[0-9]+")
pid = int(re.findall(r"pid:([0-9]+)", t.seen)[-1]) if as_before else 0
t.seen = ""
t.press("fg\n")
tell("Ctrl-Z stops it, the terminal is the shell's, and fg brings the screen back", began, stopped, as_before,
     t.says(r"\033\[\?1049h"), t.shows(r"locks in use.*q quit"))
t.seen = ""
if pid:
    os.kill(pid, signal.SIGTSTP)
stopped = t.says(r"\033\[\?7h\033\[\?1049l.*Stopped.*@ $")
t.press("stty -a | tr ';' '\\n' | grep -o '[-]*icanon'; fg\n")
tell("SIGTSTP and SIGCONT, too", stopped, t.says("\nicanon"), t.says(r"\033\[\?1049h"), t.shows(r"locks in use.*q quit"))
t.press("q")
t.says(r"\033\[\?7h\033\[\?1049l.*@ $")
t.press("stty -a | tr ';' '\\n' | grep -o '[-]*icanon'; echo sta''tus $?\n")
tell("and in the end the shell has it", t.says("\nicanon\r\nstatus 0"))
t.press("exit\n")
t.end()

# A member that does not answer is named, and the screen still obeys.
with open(directory + "/cat.pid") as file:
    cat = int(file.read())
t = Terminal(dibs, "top", "--interval", "200ms")
t.shows(r"locks in use.*q quit")
os.kill(cat, signal.SIGSTOP)
tell("a member that does not answer is named", t.shows(r"cat: not heard"))
t.press("4")
tell("and keys are obeyed", t.shows("by name"))
os.kill(cat, signal.SIGCONT)
tell("until it answers again", t.waits(lambda: "not heard" not in "\n".join(t.screen()), "all heard"))
t.press("q")
tell("quit", t.end() == 0)
print("1..%d" % count)
