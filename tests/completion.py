"""Types into an interactive shell, with the tab key, and looks at what the shell has made of it. Each case is a line to type,
and the words that the program must get. Prints TAP, from number NUMBER on. Usage: completion.py SHELL NUMBER DIRECTORY, where
DIRECTORY/bin/dibs completes, or else prints its words as <word><word>; DIRECTORY/script is the shell's completion."""

import os
import pty
import re
import select
import sys
import time

PATIENCE_S = 60
shell, number, directory = sys.argv[1], int(sys.argv[2]), sys.argv[3]
start = {
    "bash": ["bash", "--noprofile", "--norc", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}[shell]
setup = {
    "bash": "bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; PS1='@ '; . %s/script",
    "zsh": "PS1='@ '; autoload -U compinit && compinit -D -u; zstyle ':completion:*' menu no; unsetopt beep; . %s/script",
    "fish": "function fish_prompt; echo -n '@ '; end; . %s/script",
}[shell] % directory

cases = [
    ("statu\t", ["status"]),
    ("check ricart-agrawala-sequenced\t --requ\t2", ["check", "ricart-agrawala-sequenced", "--requests", "2"]),
    ("sim central --format j\t", ["sim", "central", "--format", "json"]),
    ("sim central --format=j\t", ["sim", "central", "--format=json"]),
    ("holders nightly-b\t", ["holders", "nightly-backup"]),
    ("why db:\t", ["why", "db:orders"]),
    ("member remove al\t", ["member", "remove", "alone"]),
    ("trace %s/story-\t" % directory, ["trace", directory + "/story-1.txt"]),
    ("trace --out=%s/story-\t" % directory, ["trace", "--out=%s/story-1.txt" % directory]),
    ("lock x -- uname-of-te\t", ["lock", "x", "--", "uname-of-test"]),
]

pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(PATH=directory + "/bin:" + os.environ["PATH"], TERM="dumb" if shell != "fish" else "xterm",
                      HOME=directory, COLUMNS="200", LINES="50", XDG_CONFIG_HOME=directory)
    os.execvp(start[0], start)

seen = ""


def sees(pattern):
    """Has it been printed since the last thing that was seen? It is waited for."""
    global seen
    end = time.monotonic() + PATIENCE_S
    while not (found := re.search(pattern, seen, re.S)):
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        if not ready:
            print("# not seen: %r in %r" % (pattern, seen[-400:]))
            return False
        data = os.read(terminal, 4096).decode(errors="replace").replace("\r", "")
        if "\x1b[c" in data or "\x1b[0c" in data:  # what sort of terminal is this?
            os.write(terminal, b"\x1b[?1;2c")
        seen += re.sub(r"\x1b(\[[0-9;?=>]*[a-zA-Z]|\][^\x07]*\x07|[=>()][A-Z0-9]?)", "", data)
    seen = seen[found.end():]
    return True


def type_keys(text):
    """A shell takes text that comes at once for pasted text, in which a tab is a tab."""
    for piece in re.split("(\t)", text):
        os.write(terminal, piece.encode())
        time.sleep(0.05)


type_keys(setup + "\n")
type_keys("dibs rea''dy\n")
if not sees("<ready>"):
    sys.exit(1)
for line, words in cases:
    number += 1
    type_keys("dibs " + line + "\n")
    good = sees(re.escape("".join("<%s>" % w for w in words) + "<end>"))
    print("%sok %d - %s: dibs %s" % ("" if good else "not ", number, shell, line.replace("\t", "[tab]").replace(directory, "DIR")))
os.write(terminal, b"exit\n")
