"""What a person at a terminal does: an interactive shell on a terminal of its own, keys, and what is to be seen. Each
step waits until it is there; only who waits in vain, for long, has failed. Prints TAP. Usage: terminal.py DIBS SOCKET"""

import os
import pty
import re
import select
import signal
import sys
import time

PATIENCE_S = 120
dibs, socket = sys.argv[1:3]
pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(PS1="@ ", ENV="", DIBS_SOCKET=socket, JOBS=socket + ".jobs",
                      PATH=os.path.dirname(dibs) + ":" + os.environ["PATH"])
    for number in (signal.SIGINT, signal.SIGQUIT):  # ignored where the tests were started in the background
        signal.signal(number, signal.SIG_DFL)
    os.execlp("sh", "sh", "-i")

seen = ""
count = 0


def sees(pattern):
    """Has it been there since the last thing that was seen? It is waited for."""
    global seen
    end = time.monotonic() + PATIENCE_S
    while not (found := re.search(pattern, seen, re.S)):
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        if not ready:
            print("# not seen: %r in %r" % (pattern, seen))
            return False
        try:
            seen += os.read(terminal, 4096).decode(errors="replace").replace("\r", "")
        except OSError:
            print("# the shell has ended: %r" % seen)
            return False
    seen = seen[found.end():]
    return True


def types(keys):
    """A shell says that it continues a job before it gives the terminal to the job, so Ctrl-C and Ctrl-Z wait for that."""
    end = time.monotonic() + PATIENCE_S
    while keys in ("\x03", "\x1a") and os.tcgetpgrp(terminal) == pid and time.monotonic() < end:
        time.sleep(0.001)
    os.write(terminal, keys.encode())


def tell(name, *steps):
    """Texts are typed, patterns in a tuple are to be seen; at the end there is a prompt again."""
    global count
    count += 1
    good = all(sees(s[0]) if isinstance(s, tuple) else types(s) is None for s in steps) and sees("@ $")
    print("%sok %d - %s" % ("" if good else "not ", count, name), flush=True)
    if not good:
        sys.exit(1)  # nothing is where it should be


# A word is put together by the shell, so that it is not seen when it is typed. (Nothing is stopped while a shell starts
# another program: that may be where none can be stopped.)
tell("a shell on a terminal", ("@ $",), "echo sh''ell\n", ("\nshell\n",))
tell("the command reads from the terminal", "dibs lock a -- sh -c 'echo be''gun; exec cat'\n", ("\nbegun\n",), "some\n",
     ("some\nsome\n",), "\x04")
tell("Ctrl-C interrupts it", "dibs lock a -- sh -c 'echo be''gun; exec sleep 1000'\n", ("\nbegun\n",), "\x03", ("@ ",),
     "echo sta''tus $?\n", ("\nstatus 130\n",))
tell("Ctrl-Z stops it, the lock is held, and fg continues it",
     "dibs lock a -- sh -c 'echo be''gun; exec cat'\n", ("\nbegun\n",), "\x1a", ("Stopped.*@ ",), "dibs holders a\n",
     ("mode exclusive.*@ ",), "fg\n", ("dibs lock a.*\n",), "more\n", ("more\nmore\n",), "\x04")
tell("dibs goes on when the stopped command is told to",
     "dibs lock a -- sh -c 'echo $$ >\"$JOBS\"; echo be''gun; exec sleep 1000'\n", ("\nbegun\n",), "\x1a", ("Stopped.*@ ",),
     "read run <$JOBS; parent() { cut -d' ' -f4 /proc/$1/stat; }; keeper=$(parent $(parent $run)); kill -CONT $run\n", ("@ ",),
     "until grep State:.S /proc/$keeper/status; do sleep 0.1; done\n", ("State:.S.*@ ",), "fg\n", ("dibs lock a.*\n",), "\x03")
tell("also if its input is not the terminal", "true | dibs lock a -- sh -c 'echo be''gun; exec sleep 1000'\n", ("\nbegun\n",),
     "\x1a", ("Stopped.*@ ",), "kill %1; fg\n", ("dibs lock a.*\n",), ("@ ",), "jobs; echo sta''tus\n", ("\nstatus\n",))
tell("a command that waits can be stopped, too", "dibs lock a -- sleep 1000 & until dibs holders a | grep exclu''sive; do sleep 0.1; done\n",
     ("exclusive.*@ ",), "sh -c 'echo be''gun; exec dibs lock a -- echo m''ine'\n", ("\nbegun\n",),
     "\x1a", ("Stopped.*@ ",), "kill $!\n", ("@ ",), "fg\n", ("\nmine\n",))
tell("in a script, Ctrl-Z stops the script", "sh -c 'dibs lock a -- sh -c \"echo be''gun; exec cat\"; echo af''ter'\n",
     ("\nbegun\n",), "\x1a", ("Stopped.*@ ",), "fg\n", ("sh -c.*\n",), "\x04", ("after\n",))
tell("and Ctrl-C ends it", "sh -c 'while :; do dibs lock a -- sh -c \"echo be''gun; exec sleep 1000\"; done'\n", ("\nbegun\n",),
     "\x03")
tell("the script has the terminal afterwards", "sh -c 'dibs lock a -- true; echo be''gun; exec cat'\n", ("\nbegun\n",), "mine\n",
     ("mine\nmine\n",), "\x04")
tell("in the background it is stopped for want of the terminal, and fg gives it", "dibs lock a -- cat &\n", ("@ ",),
     "until jobs >\"$JOBS\"; grep Stop''ped \"$JOBS\"; do sleep 0.1; done\n", ("Stopped.*@ ",), "fg\n", ("dibs lock a.*\n",), "here\n",
     ("here\nhere\n",), "\x04")
tell("another one of a pipeline reads from the terminal",
     "dibs lock a -- echo fi''rst | sh -c 'read x; echo \"$x\"; read y </dev/tty; echo then \"$y\"'\n", ("\nfirst\n",),
     "second\n", ("then second\n",))
tell("the command does, and its output goes elsewhere", "dibs lock a -- sh -c 'echo be''gun >&2; read x; echo x $x' | cat\n",
     ("\nbegun\n",), "mine\n", ("x mine\n",))
types("exit\n")
print("1..%d" % count)
