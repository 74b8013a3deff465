"""Every command in the documents is executed here, or is in a list with the test that executes it or the reason why none does.

What counts as a command:
  - blocks: ```sh is a script. An indented block (but for a table in a list), ```console, and a plain fence with "$ " in it are transcripts: commands, with a prompt
    ("$ ", or "ant$ " for the machine ant) or without, and what they print. "..." stands for anything, a long number for any number,
    "# status 1" for that status; where no output is shown, any will do. A daemon without "&" is one that goes on running. ```conf is a configuration, which the daemon
    accepts; if its first line is "# dibs.conf", it is that file for the blocks behind it. Of ```crontab the commands are run. All other
    fences name their language.
  - words between backquotes in the text that begin with a program. `dibs lock` alone, or with a placeholder (NAME, FILE), is a mention:
    its command and its options must exist. A whole command is run: it may answer no (status 1), but must be right.
    In a table, a number below "states", "messages per entry" or "waiting time" is one that the command of its row prints.

Scripts and transcripts run in a directory of their own, with daemons that this program starts and ends. Addresses are replaced by ones
of this machine, ports by free ones, and programs of the reader (./backup.sh) by ones that print their arguments.

tests/commands.txt has a rule in each line, with columns that two spaces separate:
  scene  DOCUMENT  LINE      SCENE                 for blocks with this first line: which daemons there are, see Scene. "page SCENE": one
                                                   scene for all blocks of the document, in order
  by     DOCUMENT  COMMAND   FILE WORD [REASON]    FILE runs it: it contains WORD
  night  DOCUMENT  COMMAND   REASON                it takes long; it is run if COMMANDS=all
  not    DOCUMENT  COMMAND   REASON                it is not run
DOCUMENT and COMMAND may have "*". A rule that nothing needs is an error. Prints TAP. Usage: commands.py DIBS DIRECTORY PORT [DOCUMENT...]"""

import atexit
import fnmatch
import os
import re
import shlex
import signal
import subprocess
import sys
import time

DIBS, ROOM, PORT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3])
FIGURES = ("states", "messages per entry", "waiting time")
LANGUAGES = {"c", "python", "php", "js", "ruby", "go", "resp", "scenario"}
PROGRAMS = {"dibs", "./run", ".ci/run", "make", "redis-cli", "eval", "systemctl", "systemd-sysusers", "apt-get", "adduser", "git", "journalctl", "curl",
            "ssh", "man", "pkg-config", "flock"}
NIGHT = os.environ.get("COMMANDS") == "all"
LONG = 7200 if NIGHT else 300  # seconds until a block or command has failed: a bound for those that hang
tests = failed = 0
clock = time.monotonic()


def tell(good, name, text=""):
    global tests, failed, clock
    now = time.monotonic()
    if now - clock > 5:
        print("# it took %.0f s" % (now - clock))
    clock = now
    tests += 1
    failed += not good
    if not good:
        print("".join("# %s\n" % line for line in text.splitlines()[-30:]), end="")
    print("%sok %d - %s" % ("" if good else "not ", tests, name), flush=True)


# ------------------------------------------------------------------------------------------------------- the documents


class Block:
    def __init__(self, path, line, language, lines):
        self.path, self.line, self.language, self.lines = path, line, language, lines
        self.place = "%s:%d" % (path, line)


def read(path):
    """The blocks of a document, and (line, words between backquotes, the cells of its row and their headers)."""
    blocks, spans, lines = [], [], open(path, encoding="utf-8").read().split("\n")
    header, k = [], 0
    while k < len(lines):
        line = lines[k]
        fence = re.match(r"( *)```(\w*)", line)
        begin = k
        if fence:
            k += 1
            while k < len(lines) and not re.match(r" *```", lines[k]):
                k += 1
            body = [one[len(fence[1]):] for one in lines[begin + 1:k]]
            language = fence[2] or ("console" if any(re.match(r"\w*\$ ", one) for one in body) else "text")
            blocks.append(Block(path, begin + 2, language, body))
        elif line.startswith("    ") and not line.lstrip().startswith("|") and (k == 0 or not lines[k - 1].strip()):
            while k < len(lines) and (lines[k].startswith("    ") or not lines[k].strip() and k + 1 < len(lines) and lines[k + 1].startswith("    ")):
                k += 1
            body = lines[begin:k]
            indent = min(len(one) - len(one.lstrip()) for one in body if one.strip())
            blocks.append(Block(path, begin + 1, "indented", [one[indent:] for one in body]))
            k -= 1
        else:
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)][1:-1] if line.lstrip().startswith("|") else []
            if cells and k + 1 < len(lines) and re.match(r" *\|[-| ]+$", lines[k + 1]):
                header = cells
            for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", line):
                spans.append((path, k + 1, span.replace("\\|", "|"), dict(zip(header, cells)) if cells else {}))
        k += 1
    return blocks, spans


# --------------------------------------------------------------------------------------------------------------- rules


class Rule:
    def __init__(self, number, line):
        columns = re.split(r"\s{2,}", line)
        self.kind, self.document, self.number, self.used = columns[0], columns[1], number, False
        self.command, self.reason = columns[2], columns[3]

    def fits(self, path, command):
        return fnmatch.fnmatchcase(path, self.document) and fnmatch.fnmatchcase(command, self.command.replace("[", "[[]"))


def read_rules():
    rules = []
    for number, line in enumerate(open("tests/commands.txt", encoding="utf-8"), 1):
        if line.strip() and not line.startswith("#"):
            rules.append(Rule(number, line.strip()))
    for rule in rules:
        if rule.kind == "by":
            file, word = rule.reason.split()[:2]
            good = os.access(file, os.X_OK) and word in open(file, encoding="utf-8").read()
            if not good:
                tell(False, "tests/commands.txt:%d: %s runs %s" % (rule.number, file, word))
    return rules


def rule_of(path, command):
    for rule in RULES:
        if rule.kind != "scene" and rule.fits(path, command):
            rule.used = True
            return rule
    return None


def scene_of(block):
    for rule in RULES:
        if rule.kind == "scene" and rule.fits(block.path, block.lines[0]):
            rule.used = True
            return rule.reason
    return "none"


pages = {}


def enter(block):
    words = scene_of(block)
    if not words.startswith("page "):
        return Scene(words)
    if block.path not in pages:
        pages[block.path] = Scene(words[5:])
    return pages[block.path]


def leave(scene):
    if scene not in pages.values():
        scene.end()


# -------------------------------------------------------------------------------------------------------------- scenes

ports = {}


def local(text):
    """Addresses of the documents as addresses of this machine."""
    def one(match):
        return "127.0.0.1:%d" % ports.setdefault(match[0], PORT + len(ports))
    return re.sub(r"\b(?:127\.0\.0\.1|10\.0\.0\.\d+):7\d\d\d\b", one, text)


def as_written(text):
    for written, port in ports.items():
        text = text.replace("127.0.0.1:%d" % port, written)
    return text


MEMBERS = {"ant": "10.0.0.1", "bee": "10.0.0.2", "cat": "10.0.0.3"}


class Scene:
    """none: no daemon. alone: one, at $DIBS_SOCKET, with --clients 127.0.0.1:7411 and --http 127.0.0.1:7480. cluster [MEMBER...]: of ant,
    bee and cat at 10.0.0.1 to 3, port 7400, those that are named, or all, with the key dibs.key; $DIBS_SOCKET is that of the last one.
    machines: none yet; a daemon of a transcript is started together with all others of its list."""
    count, all = 0, []

    def __init__(self, words):
        Scene.count += 1
        Scene.all.append(self)
        self.kind, *self.names = words.split()
        self.dir = os.path.join(ROOM, "scene%d" % Scene.count)
        self.daemons, self.groups, self.removed = [], [], set()
        os.makedirs(os.path.join(self.dir, "bin"))
        os.symlink(DIBS, os.path.join(self.dir, "bin", "dibs"))
        for name in ("tests", "examples"):
            os.symlink(os.path.abspath(name), os.path.join(self.dir, name))
        self.env = {"PATH": os.path.join(self.dir, "bin") + ":" + os.environ["PATH"], "HOME": self.dir, "TMPDIR": self.dir,
                    "LANG": "C.UTF-8", "NO_COLOR": "1", "DIBS_SOCKET": os.path.join(self.dir, "dibs.sock")}
        if self.kind == "none":
            del self.env["DIBS_SOCKET"]
        elif self.kind == "alone":
            self.serve("dibs serve --clients 127.0.0.1:7411 --http 127.0.0.1:7480", "dibs")
        elif self.kind == "cluster":
            subprocess.run([DIBS, "keygen", "dibs.key"], cwd=self.dir, check=True)
            names = self.names or list(MEMBERS)
            for name in names:
                self.serve("dibs serve --key dibs.key --name %s --members %s" % (name, ",".join("%s=%s:7400" % m for m in MEMBERS.items())), name)
            self.env["DIBS_SOCKET"] = os.path.join(self.dir, names[-1] + ".sock")
        self.wait()

    def serve(self, command, name):
        command += " --socket %s.sock --data %s.data" % (name, name)
        with open(os.path.join(self.dir, name + ".log"), "ab") as log:
            daemon = subprocess.Popen(["sh", "-c", "exec " + local(command)], cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL, stdout=log,
                                      stderr=log, start_new_session=True)
        self.daemons.append((name, daemon))

    def wait(self, word="ready yes"):
        """Until all daemons are ready, or have ended."""
        for name, daemon in self.daemons:
            for _ in range(400 if name not in self.removed else 0):
                said = subprocess.run([DIBS, "status", "--socket", self.socket(name)], capture_output=True, text=True)
                if "\n" + word in "\n" + said.stdout or daemon.poll() is not None:
                    break
                time.sleep(0.05)

    def socket(self, machine):
        return os.path.join(self.dir, machine + ".sock")

    def serve_as(self, command, machine):
        """A daemon of a transcript; the other members of its list, too, if the scene is "machines". Is it there?"""
        command = command.rstrip(" &")
        name = re.search(r"--name (\w+)", command)
        if machine and not name:
            command += " --name " + machine
        name = name[1] if name else machine or "dibs"
        self.removed.discard(name)
        self.serve(command, name)
        if self.kind == "machines" and "--members" in command:
            for other in re.findall(r"(\w+)=", re.search(r"--members (\S+)", command)[1]):
                if other != name:
                    self.serve(re.sub(r" --clients \S+", "", command.replace("--name " + name, "--name " + other)), other)
        self.wait("ready ")
        return self.daemons[-1][1].poll() is None

    def run(self, text):
        """(status, output) of a script."""
        for name in set(re.findall(r"(?:^|\s)\./([\w.-]+)", text)) - {"run"}:
            path = os.path.join(self.dir, name)
            if not os.path.exists(path):
                with open(path, "w") as stub:
                    stub.write('#!/bin/sh\necho "%s${*:+ }$*"\n' % name)
                os.chmod(path, 0o755)
        with open(os.path.join(self.dir, "script"), "w") as file:
            file.write(local(text).replace("redis-cli -s", "redis-cli --no-raw -s"))  # as on a terminal
        with open(os.path.join(self.dir, "said"), "w+") as said:
            process = subprocess.Popen(["sh", "-e", os.path.join(self.dir, "script")], cwd=self.dir, env=self.env,
                                       stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True)
            self.groups.append(process.pid)
            try:
                status = process.wait(LONG)
            except subprocess.TimeoutExpired:
                status = "none: it has not ended"
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return status, as_written(open(os.path.join(self.dir, "said")).read())

    def logs(self):
        return "".join("%s.log: %s" % (name, line) for name, _ in self.daemons for line in open(os.path.join(self.dir, name + ".log")).readlines()[-3:])

    def end(self):
        for group in self.groups + [daemon.pid for _, daemon in self.daemons]:
            try:
                os.killpg(group, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for _, daemon in self.daemons:
            daemon.wait()
        self.daemons, self.groups = [], []


@atexit.register
def end_all():
    for scene in Scene.all:
        scene.end()


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))

# -------------------------------------------------------------------------------------------------------------- blocks


def transcript(lines):
    """[(machine, command, expected lines or None, status)]."""
    steps, prompted = [], any(re.match(r"\w*\$ ", line) for line in lines)
    for line in lines:
        prompt = re.match(r"(\w*)\$ (.*)", line)
        if steps and steps[-1][1].endswith("\\"):
            steps[-1][1] = steps[-1][1][:-1] + " " + line.strip()
        elif prompt or not prompted and line.strip():
            steps.append([prompt[1] if prompt else "", prompt[2] if prompt else line, []])
        elif line.strip() or steps:
            steps[-1][2].append(line)
    result = []
    for machine, command, expected in steps:
        status = re.search(r"# status (\d+)", command)
        while expected and not expected[-1].strip():
            expected.pop()
        result.append((machine, re.sub(r"\s+# .*", "", command).strip(), expected or None, int(status[1]) if status else 0))
    return result


def differs(expected, said):
    """Is `said` not what the document shows?"""
    pattern = "".join("(?:.*\n)*" if line == "..." else re.escape(line).replace(re.escape("..."), ".*") + " *\n" for line in expected)
    pattern = re.sub(r"\d{12,}", r"\\d{12,}", pattern)
    return not re.fullmatch(pattern, said.rstrip() + "\n")


def run_transcript(block):
    scene = enter(block)
    try:
        for machine, command, expected, status in transcript(block.lines):
            rule = rule_of(block.path, command)
            if rule and (rule.kind != "night" or not NIGHT):
                continue
            if re.match(r"dibs serve\b", command) and "--check-config" not in command:
                tell(scene.serve_as(command, machine), "%s: %s" % (block.place, command), scene.logs())
                continue
            scene.wait()
            scene.removed |= set(re.findall(r"^dibs member remove (\w+)", command))
            # Each command is a shell of its own, with the variables of those before.
            keep = os.path.join(scene.dir, "kept")
            socket = "export DIBS_SOCKET=" + scene.socket(machine) if machine else ""
            text = "set +e\n[ ! -e %s ] || . %s\n%s\n%s\ndibs_status=$?\nexport -p >%s\nexit $dibs_status\n" % (keep, keep, socket, command, keep)
            got, said = scene.run(text)
            good = (got == status or expected and got == 1) and not (expected and differs(expected, said))
            tell(good, "%s: %s" % (block.place, command), "status %s, not %s\n%s%s" % (got, status, said, scene.logs()))
    finally:
        leave(scene)


def run_script(block):
    rule = rule_of(block.path, "\n".join(block.lines))
    if rule and (rule.kind != "night" or not NIGHT):
        return
    scene = enter(block)
    try:
        status, said = scene.run("\n".join(block.lines) + "\n")
        tell(status == 0, "%s: %s ..." % (block.place, block.lines[0]), "status %s\n%s%s" % (status, said, scene.logs()))
        with open(os.path.join(ROOM, "said." + os.path.basename(block.path)), "a") as file:
            file.write(said)
    finally:
        leave(scene)


def run_conf(block):
    scene = enter(block)
    try:
        name = re.match(r"# ([\w.]+)$", block.lines[0])
        file = os.path.join(scene.dir, name[1] if name else "block.conf")
        with open(file, "w") as out:
            out.write(local("\n".join(block.lines)) + "\n")
        member = re.search(r"^member +(\w+)=", "\n".join(block.lines), re.M)
        said = subprocess.run([DIBS, "serve", "--check-config", "--config", file, *(["--name", member[1]] if member else [])], cwd=scene.dir,
                              capture_output=True, text=True)
        tell(said.returncode == 0, "%s: a configuration" % block.place, said.stdout + said.stderr)
    finally:
        leave(scene)


def run_block(block):
    starts = [line for line in block.lines if re.split(r"[\s;]", line.strip())[0] in PROGRAMS]
    if block.language == "sh":
        run_script(block)
    elif block.language in ("console", "indented"):
        run_transcript(block)
    elif block.language == "crontab":
        lines = [line for line in block.lines if not re.match(r"#|$|\w+=", line)]
        run_transcript(Block(block.path, block.line, "console", [line.split(None, 5)[5].replace("\\%", "%") for line in lines]))
    elif block.language == "conf":
        run_conf(block)
    elif block.language in LANGUAGES:
        if not rule_of(block.path, "```" + block.language):
            tell(False, "%s: no test is said to run this %s" % (block.place, block.language))
    elif block.language != "text" or starts:
        tell(False, "%s: commands in a block of %s" % (block.place, block.language), "\n".join(starts))


# ------------------------------------------------------------------------------------------------- commands in the text

helps = {}


def help_of(command):
    """(options: does it take a value?, the number of words that are required) of a command of dibs; None if there is no such command."""
    if command not in helps:
        said = subprocess.run([DIBS, "help", command], capture_output=True, text=True)
        options = {name: bool(value) for name, value in re.findall(r"^  (--[\w-]+)(?: (\S+))?", said.stdout, re.M)}
        usage = re.match(r"usage: dibs \S+(.*(?:\n .*)*)", said.stdout)
        bare = re.sub(r"\[[^]]*\]|--[\w-]+ [A-Z]+|\(--[^)]*\)|\|\w+", "", usage[1]) if usage else ""
        words = re.findall(r"\b[A-Z]+\b", re.sub(r"\([^)]*\)", " WORD ", bare))
        helps[command] = (options, 1 if " | " in bare else len(words)) if said.returncode == 0 else None
    return helps[command]


def look(words):
    """What is wrong with a command of dibs, or ""; and whether it is whole."""
    if words[1].startswith("-"):
        return ("", words[1] == "--version") if words[1] in ("--version", "--help") else ("dibs has no option " + words[1], False)
    if not re.fullmatch(r"[a-z-]+", words[1]):
        return "", False
    known = help_of(words[1])
    if known is None:
        return "dibs has no command " + words[1], False
    options, required = known
    found, k, whole = 0, 2, True
    while k < len(words) and words[k] != "--":
        word = words[k].split("=")[0]
        if word.startswith("--"):
            if word not in options and word != "--help":
                return "dibs %s has no option %s" % (words[1], word), False
            if options.get(word) and "=" not in words[k]:
                k += 1
                whole = whole and k < len(words)
        else:
            found += 1
        k += 1
    found += len(words) - k - 1 if k < len(words) else 0
    placeholder = any(re.search(r"(^|[^\w%$\"'{])[A-Z][A-Z]+\b|\.\.|^[A-Z]$|[\[|<…]", word) for word in words[2:])
    return "", whole and not placeholder and found >= required


def has_target(program, target):
    text = open("run" if program == "./run" else "Makefile", encoding="utf-8").read()
    return re.search(r"^([\w |]+ )?%s( [\w |-]+)?\)" % target if program == "./run" else r"^([\w/.-]+ )*%s:" % re.escape(target), text, re.M)


def run_spans(spans):
    scenes, done = {}, set()
    for path, line, span, row in spans:
        words = span.split()
        while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
            words.pop(0)
        if not words or "(" in words[0] or re.search(r"\.(txt|md|c|h|json|html|py)$|\*|NAME|MACHINE", words[0]):
            continue
        file = re.match(r"(docs|bench|tests|packaging)/", words[0]) and os.path.isfile(words[0]) and os.access(words[0], os.X_OK)
        if words[0] not in PROGRAMS and not file and not words[0].startswith("build/release/bench/"):
            continue
        if len(words) == 1 and words[0] not in ("./run", ".ci/run") and (words[0] in PROGRAMS or words[0].startswith("tests/")):
            continue  # the name of a program
        place = "%s:%d: %s" % (path, line, span)
        whole = False
        if words[0] == "dibs":
            wrong, whole = look(words)
            if wrong:
                tell(False, place, wrong)
            if not whole:
                continue
        elif words[0] in ("./run", "make") and len(words) > 1 and not has_target(*words[:2]):
            tell(False, place, "%s has no target %s" % tuple(words[:2]))
        rule = rule_of(path, span)
        if rule and (rule.kind != "night" or not NIGHT):
            continue
        if not whole:
            tell(False, place + ": no rule of tests/commands.txt says who runs this")
            continue
        figures = [row.get(column, "").replace(",", "") for column in FIGURES]
        figures = [figure for figure in figures if re.fullmatch(r"[\d.]+", figure)]
        if (span, *figures) in done:
            continue
        done.add((span, *figures))
        needs = "alone" if words[1] in SERVICE else "none"
        if needs not in scenes:
            scenes[needs] = Scene(needs)
        command = span + " --check-config" if words[1] == "serve" and "--check-config" not in words else span
        status, said = scenes[needs].run(command + "\n")
        good = status in (0, 1)
        printed = re.findall(r"[\d.]*\d", said.replace(",", ""))
        good = good and all(figure in printed for figure in figures)
        tell(good, place, "status %s\n%s" % (status, said))
    for scene in scenes.values():
        scene.end()


# ---------------------------------------------------------------------------------------------------------------- main

SERVICE = {"lock", "try", "hold", "renew", "release", "holders", "waiters", "locks", "why", "status", "views", "watch", "replay", "force-unlock",
           "page-token", "drain", "member", "may"}
RULES = read_rules()
documents = sys.argv[4:]
everything = [read(path) for path in documents]
for blocks, _ in everything:
    for block in blocks:
        run_block(block)
    for scene in pages.values():
        scene.end()
    pages.clear()
run_spans([span for _, spans in everything for span in spans])
for rule in RULES:
    if not rule.used and not os.environ.get("COMMANDS_SOME"):
        tell(False, "tests/commands.txt:%d: nothing needs this rule" % rule.number)
print("%d blocks of %d documents" % (sum(len(blocks) for blocks, _ in everything), len(documents)), file=sys.stderr)
sys.exit(failed > 0)
