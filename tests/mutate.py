#!/usr/bin/env python3
"""tests/mutate.py [--part K] [--jobs J] [--list] [--fresh] [--seconds S] [--programs] [--checks WORD] [--reasons] [FILE...]: systematic mutants of the checker.

Each mutant changes one place of one file of src/check: a condition is negated, a comparison is off by one, "and" becomes "or",
a constant is swapped, or a statement is deleted. A mutant is caught if a test of a test program of the checker fails or does not end, or if one of
the checks of tests/checker.txt, tests/golden (those of few states), tests/check.sh (those of threads) and `dibs prove` reports something else than the right program. A mutant whose
machine code is that of the right program is the same program. A survivor is caught by no test: it changes no verdict, for the reason
that tests/mutate.txt gives, or a test is missing.

All mutants are in one program, build/mutate/dibs: each function of src/check has a copy for each of its mutants, and MUTANT=NUMBER in the
environment says which copy is called (0 or nothing: the right one). A test is tried only on mutants of lines that it runs, by a
build that counts them; tests that have caught many mutants in little time come first. Verdicts are kept in build/mutate/judged.txt: a
mutant that was caught is not tried again, as long as its function is the same. --fresh forgets that. --seconds S tries, for each mutant, only tests
that take S seconds of processor time together, and --programs tries the test programs only: what they do not catch is left, to be tried without that option. --checks WORD, as in --checks=--reduce src/check/reduce.c,
tries the test programs and those checks that have this word.

Tests that take less than a second come first. A longer test is run, and its lines are counted, only if a mutant is left that has no reason. --reasons tries
mutants that have a reason with all tests, too.

There are more than 2,000 mutants. All of them take some seven minutes of one processor, of which the tests that are learnt take two. --part K takes one of
20 parts, from 0 on; a mutant stays in its part when other lines change. MUTATE=-v in the environment tells what catches each,
and MUTATE_MOST=N allows N survivors without a reason (default 0). MUTATE_UNTIL=SECONDS ends after that time; what is left is told, and is no failure.

Exit status: 0 if every other survivor is in tests/mutate.txt, 1 if not, 2 if the command line is wrong."""
import argparse
import hashlib
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
RELEASE = "build/release"
PLACE = "build/mutate"
PARTS = 20
TESTS = ("test_checker", "test_checker_crowd", "test_checker_reduce", "test_checker_search", "test_checker_stop", "test_checker_tasks", "test_checker_walk", "test_canon")  # programs
FEW = 6000  # states of a check that every mutant has to pass
STAGES = (1, 1), (1, 60), (10, 60), (float("inf"), float("inf"))  # seconds of a test, and of all that a mutant is tried with: what takes long is for the rest
CC = shlex.split(os.environ.get("CC", "cc"))
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-DDIBS_VERSION=\"mutant\"", "-Isrc", "-Iinclude", "-isystem", "build/libraft/usr/include", "-Isrc/check", "-O1", "-g0", "-w", "-pthread"]

# What is left alone: memory that is given back or read ahead, times, and texts of assertions. None of these is part of a verdict.
LEFT_ALONE = re.compile(r"\bfree\(|_free\(|space_forget\(|_destroy\(|prefetch|AHEAD|progress|seconds|steps|memory|assert\(|clock_gettime|munmap|madvise|fprintf|snprintf")
SWAPS = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ 1\b", " + 0"), (r" - 1\b", " - 0"), (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"), (r" = 0;", " = 1;"), (r" = 0, ", " = 1, "), (r" = 1;", " = 0;"), (r"\breturn 0;", "return 1;"),
    (r"\breturn 1;", "return 0;"), (r"\+\+;", ";"), (r"--;", ";"), (r" \+= ", " -= "), (r" \| ", " & "), (r" & ", " | "),
]
STATEMENT = re.compile(r"^ +(?!return\b|case\b|default\b|else\b|if\b|for\b|while\b|do\b|struct\b|static\b|const\b|enum\b|goto\b)"
                       r"(?:[a-z_]+\(|\*?[a-z_][\w>.\[\]*-]*(?:\[[^=]*\])?[\w>.\[\]-]* (?:[-+|&^]|<<|>>)?= |[\w>.\[\]-]+(?:\+\+|--);"
                       r"|--|\+\+|break;|continue;).*;$")
DECLARATION = re.compile(r"^ +(?:const |struct |static |unsigned |u?int\d+_t|size_t|bool|dme_id|char|double|void|int|long)\b.*;")


# --------------------------------------------------------------------------------------------------------- the mutants

class Mutant:
    """One change of one line. `key` names it, though other lines come and go."""

    def __init__(self, path, lines, number, what, line):
        self.path, self.number, self.what, self.line = path, number, what, line
        self.key = "%s: %s: %s" % (path, lines[number].strip(), what)
        self.part = int(hashlib.sha1(self.key.encode()).hexdigest(), 16) % PARTS
        self.id = 0  # in the program; from 1 on
        self.passed = set()  # tests that have not caught it
        self.function = None

    def place(self):
        """The key and the function: the same line may be in several."""
        return "%s (%s)" % (self.key, self.function.name if self.function else "")

    def key_now(self):
        """The key, and the text of the function."""
        return "%s %s" % (self.function.text if self.function else "", self.key)

    def told(self):
        return "%s:%d: %s: %s" % (self.path, self.number + 1, self.what, self.line.strip())


class Function:
    """A function of a file: the lines from `first` to `last`, of which those before `body` are its head."""

    def __init__(self, lines, first, body, last):
        self.first, self.body, self.last = first, body, last
        self.head = " ".join(line.strip() for line in lines[first:body])
        self.name = re.search(r"(\w+)\(", self.head).group(1)
        parameters = self.head[self.head.index("(") + 1:self.head.rindex(")")]
        self.arguments = [] if parameters == "void" else [self.argument(p) for p in split_parameters(parameters)]
        self.text = hashlib.sha1("\n".join(lines[first:last + 1]).encode()).hexdigest()
        self.mutants = []

    @staticmethod
    def argument(parameter):
        pointer = re.search(r"\(\*(\w+)\)", parameter)  # to a function
        return pointer.group(1) if pointer else re.search(r"(\w+)(?:\[\w*\])?$", parameter.strip()).group(1)


def split_parameters(text):
    depth, at = 0, 0
    for k, c in enumerate(text + ","):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            yield text[at:k]
            at = k + 1


def functions_of(lines):
    first = None
    for k, line in enumerate(lines):
        if re.match(r"[a-z].*\w\(", line) and not line.endswith(";"):
            first = k
        elif line == "{" and first is not None:
            yield Function(lines, first, k, lines.index("}", k))
            first = None
        elif line and not line.startswith(" "):
            first = None


def code_lines(lines):
    """The lines that are code: (number, line)."""
    comment = False
    for number, line in enumerate(lines):
        begins = line.lstrip()
        if comment or begins.startswith("/*") or begins.startswith("#") or begins.startswith("//"):
            comment = "*/" not in line if (comment or begins.startswith("/*")) else False
            continue
        if not LEFT_ALONE.search(line):
            yield number, line


def changes_of(lines):
    """All changes of a file: (line number, what is done, new line)."""
    for number, line in code_lines(lines):
        comment = line.find("/*")
        end = len(line) if comment < 0 else comment
        if not line.startswith(" "):
            continue
        for old, new in SWAPS:
            for found in re.finditer(old, line[:end]):
                if old == r" & " and "(" not in line:
                    continue
                yield number, "%s becomes %s" % (found.group().strip(), new.strip()), line[:found.start()] + new + line[found.end():]
        condition = re.match(r"^( +(?:\} else )?if \()(.*)(\)(?: \{)?)$", line[:end])
        if condition and condition.group(2).count("(") == condition.group(2).count(")"):
            yield number, "negated", "%s!(%s)%s" % condition.groups()
        if STATEMENT.match(line[:end].rstrip()) and not DECLARATION.match(line) and line.count("(") == line.count(")"):
            yield number, "deleted", re.match(" *", line).group() + ";"


class File:
    def __init__(self, path):
        self.path = path
        self.lines = open(path).read().split("\n")
        self.functions = list(functions_of(self.lines))
        self.mutants, times = [], {}
        for number, what, line in changes_of(self.lines):
            m = Mutant(path, self.lines, number, what, line)
            m.function = next((f for f in self.functions if f.body < number <= f.last), None)
            times[m.place()] = times.get(m.place(), 0) + 1
            if times[m.place()] > 1:  # the same change at another place of the line, or of an equal line of the function
                m = Mutant(path, self.lines, number, "%s, place %d" % (what, times[m.place()]), line)
                m.function = next((f for f in self.functions if f.body < number <= f.last), None)
            self.mutants.append(m)
            if m.function:
                m.function.mutants.append(m)

    def leave_out(self, mutants):
        """These are no programs."""
        for m in mutants:
            m.function.mutants.remove(m)
            m.function = None

    def with_copies(self):
        """The text of the file with all mutants, and for each of its lines the mutant that it is of, or None."""
        text, whose = [], []

        def add(lines, mutant=None):
            text.extend(lines)
            whose.extend([mutant] * len(lines))

        add(["extern unsigned mutant_now;"])
        at = 0
        for f in self.functions:
            add(self.lines[at:f.first])
            add([f.head.replace("inline ", "") + ";"])  # it may call itself
            for m in [None] + f.mutants:
                body = self.lines[f.body:f.last + 1]
                if m:
                    body[m.number - f.body] = m.line
                head = re.sub(r"\b%s\(" % f.name, "%s__%d(" % (f.name, m.id if m else 0), re.sub(r"\b(static|inline) ", "", f.head), count=1)
                add(["static __attribute__((noinline)) " + head] + body, m)
            back = "" if re.match(r"(static )?(inline )?void \w+\(", f.head) else "return "
            calls = ["    case %d: %s%s__%d(%s); break;" % (m.id if m else 0, back, f.name, m.id if m else 0, ", ".join(f.arguments))
                     for m in f.mutants]
            add([f.head.replace("inline ", ""), "{", "    switch (mutant_now) {"] + calls +
                ["    default: %s%s__0(%s);" % (back, f.name, ", ".join(f.arguments)), "    }", "}"])
            at = f.last + 1
        add(self.lines[at:])
        return text, whose


# --------------------------------------------------------------------------------------------------------- the program

def shell(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, **more)


def compile_copies(f):
    """Compiles the file with its mutants, without those that are no program. Returns the object file."""
    base = "%s/%s" % (PLACE, os.path.basename(f.path)[:-2])
    if os.path.exists(base + ".wrong"):
        known = open(base + ".wrong").read().split("\n")
        f.leave_out([m for m in f.mutants if m.key in known])
    while True:
        text, whose = f.with_copies()
        if not os.path.exists(base + ".c") or open(base + ".c").read() != "\n".join(text):
            with open(base + ".c", "w") as to:
                to.write("\n".join(text))
        elif os.path.exists(base + ".o"):
            return base + ".o"
        done = shell(CC + FLAGS + ["-ffunction-sections", "-c", "-o", base + ".o", base + ".c"])
        if done.returncode == 0:
            return base + ".o"
        wrong = {whose[int(n) - 1] for n in re.findall(r"^%s\.c:(\d+):\d+: error" % re.escape(base), done.stderr, re.M)} - {None}
        if not wrong:
            sys.exit("mutate: %s does not compile:\n%s" % (base, done.stderr))
        f.leave_out(wrong)
        with open(base + ".wrong", "a") as to:
            to.write("".join(m.key + "\n" for m in wrong))


def code_of(obj):
    """The machine code of each function: name -> lines."""
    code, name = {}, None
    for line in shell(["objdump", "-dr", "--no-addresses", "--no-show-raw-insn", obj]).stdout.split("\n"):
        begins = re.match(r"^<(\w+)[\w.]*>:$", line)  # the compiler may add to the name, and may put parts elsewhere
        if begins:
            name = begins.group(1)
            code.setdefault(name, [])
        elif name and line and not line.startswith("Disassembly"):
            code[name].append(re.sub(r"\b%s\b[\w.]*" % re.escape(name), "HERE", line.strip()))
    return code


def link(objects, to, test=None):
    rest = [o for o in lab_objects() if "/src/check/" not in o]
    if test:
        rest = ["%s/tests/%s.o" % (RELEASE, test)] + [o for o in rest if re.search("/src/(lab|base|core|alg)/", o)]
    done = shell(CC + ["-pthread", "-o", to] + objects + rest + (["-lcmocka"] if test else []) + ["-lm"])
    if done.returncode:
        sys.exit("mutate: " + done.stderr)


def lab_objects(known=[]):
    """What `make lab` links."""
    if not known:
        known += shell(["make", "-s", "--eval", "mutate-objects: ; @echo $(call obj,$(sort $(LAB_SOURCES))) "
                        "$(patsubst %.c,$(B)/lab-only/%.o,$(LAB_SPECIAL))", "mutate-objects"]).stdout.split()
    return known


NOW = """#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
unsigned mutant_now;
void cmocka_set_test_filter(const char *pattern) __attribute__((weak)); /* a test program has it */
__attribute__((constructor)) static void mutant_choose(void)
{
    const char *number = getenv("MUTANT"), *limit = getenv("MUTANT_MS"), *test = getenv("MUTANT_TEST");
    long ms = limit ? atol(limit) : 600000;
    struct itimerval time = {.it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000}};
    struct rlimit bytes = {8ul << 30, 8ul << 30}, none = {0, 0};

    mutant_now = number ? (unsigned)atoi(number) : 0;
    if (test)
        cmocka_set_test_filter(test);
    setitimer(ITIMER_PROF, &time, NULL);
    setrlimit(RLIMIT_AS, &bytes);
    setrlimit(RLIMIT_CORE, &none);
}
"""


def make_programs(files):
    """The program with all mutants, and the one that counts lines; each of them also with the tests."""
    os.makedirs(PLACE + "/count", exist_ok=True)
    subprocess.run(["make", "-s", RELEASE + "/dibs-lab"] + ["%s/tests/%s.o" % (RELEASE, t) for t in TESTS], check=True)
    with open(PLACE + "/now.c", "w") as to:
        to.write(NOW)
    subprocess.run(CC + FLAGS + ["-c", "-o", PLACE + "/now.o", PLACE + "/now.c"], check=True)
    copies, counting = [PLACE + "/now.o"], [PLACE + "/now.o"]
    for f in files:
        copies.append(compile_copies(f))
        name = os.path.basename(f.path)[:-2]
        counting.append("%s/count/%s.o" % (PLACE, name))
        if not os.path.exists(counting[-1]) or os.path.getmtime(counting[-1]) < os.path.getmtime(f.path):
            subprocess.run(CC + FLAGS + ["--coverage", "-c", "-o", counting[-1], f.path], check=True)
    for test in (None,) + TESTS:
        link(copies, "%s/%s" % (PLACE, test or "dibs"), test)
        link(counting + ["--coverage"], "%s/count/%s" % (PLACE, test or "dibs"), test)


# --------------------------------------------------------------------------------------------------------- the tests

VARIES = re.compile(r'"(seconds|memory|steps)"')  # from run to run, or from machine to machine
FOUND = re.compile(r'"(verdict|depth)"')  # of what threads find: which of several violations may vary


def is_stuck(pid):
    """Do all threads of the process sleep?"""
    try:
        return all(open("/proc/%d/task/%s/stat" % (pid, t)).read().rsplit(")", 1)[1].split()[0] == "S" for t in os.listdir("/proc/%d/task" % pid))
    except OSError:
        return False


def run(command, limit, mutant=0, single=None):
    """The exit status and the output. The limit is processor time, in seconds: the machine may be busy. A process of which all threads
    sleep, each time when it is looked at, will not end: its status is None. `single` is the only test that a test program runs."""
    more = {"MUTANT_TEST": single} if single else {}
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                             env=dict(os.environ, MALLOC_PERTURB_="165", CMOCKA_TEST_ABORT="1", MUTANT=str(mutant), MUTANT_MS=str(int(1000 * limit)), **more))  # new memory is not 0
    stuck = 0
    while True:
        try:
            said = child.communicate(timeout=1)[0]
            return child.returncode, said.decode(errors="replace")
        except subprocess.TimeoutExpired:
            stuck = stuck + 1 if is_stuck(child.pid) else 0
            if stuck > 5:
                child.kill()
                child.communicate()
                return None, ""


class Test:
    """A test of a test program, or a check whose report is to be that of the right program."""

    def __init__(self, words, program=None, single=None):
        self.words, self.program, self.single = [w for w in words or [] if w != "FOUND"], program, single
        self.found = "FOUND" in (words or [])
        self.name = "%s %s" % (program, single) if program else "dibs check " + " ".join(words)
        self.kills = {}  # how many mutants of each file and function, and of all ("")

    def report(self, place, limit, mutant=0):
        if self.program:
            return run(["%s/%s" % (place, self.program)], limit, mutant, self.single)[0], []
        status, said = run(["%s/dibs" % place, "check"] + self.words + ["--format", "json"], limit, mutant)
        return status, [line for line in said.split("\n") if (FOUND.search(line) if self.found else not VARIES.search(line))]

    def learn(self, known, program, most):
        """What the right program says, how long that takes, and which lines it runs; all that may be known already, of this checker and
        this test program. A test that takes more seconds than `most` is not for now."""
        text = open("%s/tests/%s.o" % (RELEASE, self.program), "rb").read() if self.program else b""
        self.key = "%s %s" % (hashlib.sha1(program.encode() + text).hexdigest(), self.name)
        if self.key not in known or (known[self.key][0] is None and known[self.key][1] < most):
            began = os.times().children_user
            right = self.report(PLACE, min(600, most))
            seconds = os.times().children_user - began
            if seconds > most - 0.1 or (right[0] == -signal.SIGPROF and most < 600):
                known[self.key] = None, most, None
            elif self.program and right[0] != 0:
                sys.exit("mutate: %s fails without a mutant" % self.name)
            else:
                known[self.key] = right, seconds, self.count_lines()
            with open(PLACE + "/learned.txt", "a") as to:
                to.write(json.dumps([self.key, known[self.key]]) + "\n")
        self.right, self.seconds, lines = known[self.key]
        if lines is None:  # it takes longer than that
            return False
        self.lines = {f: (frozenset(idle), frozenset(busy)) for f, (idle, busy) in lines.items()}
        return self.seconds < most

    def count_lines(self):
        """Of each file the lines that it does not run, and those that it runs."""
        place = PLACE + "/count"
        for name in os.listdir(place):
            if name.endswith(".gcda"):
                os.remove("%s/%s" % (place, name))
        self.report(place, 600)
        said = shell(["gcov", "-i", "-t"] + [n for n in os.listdir(place) if n.endswith(".gcda")], cwd=place).stdout
        files = [f for line in said.split("\n") if line.startswith("{") for f in json.loads(line)["files"]]
        return {f["file"]: [[l["line_number"] for l in f["lines"] if (l["count"] > 0) == busy] for busy in (False, True)] for f in files}

    def runs(self, m):
        """Does it run the mutant's line? A line that has no code of its own belongs to the one before."""
        idle, busy = self.lines.get(m.path, ((), ()))
        number = m.number + 1
        while number > m.function.first and number not in idle and number not in busy:
            number -= 1
        return number in busy

    def cost(self, m):
        """The less it takes and the more mutants of this function, this file and all files it has caught, the sooner it is tried."""
        kills = self.kills.get("", 0) + 5 * self.kills.get(m.path, 0) + 50 * self.kills.get(m.function.name, 0)
        return (self.seconds + 0.02) / (1 + kills)

    def has_caught(self, m):
        for of in ("", m.path, m.function.name):
            self.kills[of] = self.kills.get(of, 0) + 1

    def catches(self, m):
        return list(self.report(PLACE, 0.5 + 8 * self.seconds, m.id)) != list(self.right)


def learn_all(tests, files, most, ends):
    """The tests that take at most `most` seconds. What they say of this program is kept, in build/mutate/learned.txt."""
    program, known = hashlib.sha1("".join(open(f.path).read() for f in files).encode()).hexdigest(), {}
    if os.path.exists(PLACE + "/learned.txt"):
        known = dict(json.loads(line) for line in open(PLACE + "/learned.txt"))
    return [t for t in tests if time.monotonic() < ends and t.learn(known, program, most)]


def golden_commands(path):
    """The checks of few states, and of each word the largest one that is not slow."""
    larger = {}
    for line in open(path):
        w = line.split()
        if len(w) > 7 and not line.startswith("#") and "slow" not in w:
            for word in w[7:]:
                if FEW < int(w[5]) <= 10 * FEW and int(w[5]) > larger.get(word, (0, ""))[0]:
                    larger[word] = int(w[5]), line
    more = {line for _, line in larger.values()}
    words = {"set", "without", "lose", "duplicate", "crash", "restart", "resume", "cut", "join", "leave", "in-flight"}
    for line in open(path):
        w = line.split()
        if len(w) < 7 or line.startswith("#") or (int(w[5]) > FEW and line not in more):
            continue
        command = [w[0], "--rule", w[1], "--sites", w[2][2:], "--requests", w[3].split("=")[1], "--order", w[4]]
        k = 7
        while k < len(w):
            if w[k] in words:
                command += ["--" + w[k], w[k + 1]]
                k += 1
            elif w[k] == "messages":
                command += ["--messages"]
            elif w[k] == "overtaken":
                command += ["--overtakes", "200"]
            elif w[k] == "starvation":
                command += ["--starvation"]
            k += 1
        yield command


def single_tests():
    for program in TESTS:
        for name in re.findall(r"cmocka_unit_test\((\w+)\)", open("tests/%s.c" % program).read()):
            yield Test(None, program, name)


def commands():
    """The checks that each mutant has to pass: those that are written down for broken checkers first."""
    found = []
    for line in open("tests/checker.txt"):
        w = line.split()
        if len(w) > 3 and re.match(r"[a-z]+ \d+ [a-z]", line) and int(w[1]) <= 60000:
            found.append(w[2:])
    for line in open("tests/check.sh"):
        w = line.split()
        at = [k for k, word in enumerate(w) if word in ("threads_agree", "threads_find_it")]
        if line.startswith("test_that") and at:
            found.append(w[at[0] + 1:] + ["--threads", "2"] + ["FOUND"] * (w[at[0]] == "threads_find_it"))
    for path in ("tests/golden/states.txt", "tests/golden/bounds.txt"):
        found += golden_commands(path)
    found += [line.split("\t")[0].split()[1:] for line in shell([RELEASE + "/dibs-lab", "prove", "--list"]).stdout.split("\n") if line.startswith("check ")]
    return [list(c) for c in dict.fromkeys(tuple(c) for c in found)]


# --------------------------------------------------------------------------------------------------------- all of them

def known_survivors():
    """FILE: line as it is: what is done (function, where other functions have the same line) -> why nothing changes."""
    known, reason = {}, ""
    for line in open("tests/mutate.txt") if os.path.exists("tests/mutate.txt") else []:
        line = line.rstrip("\n")
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            known[line] = reason
    return known


def take_passed(mutants, tests, fresh):
    """A mutant that has passed a test of this checker is not tried on that again."""
    of_name, of_key = {m.key_now(): m for m in mutants}, {t.key: t for t in tests}
    if fresh or not os.path.exists(PLACE + "/passed.txt"):
        return
    for line in open(PLACE + "/passed.txt"):
        name, key = line.rstrip("\n").split("\t", 1)
        if name in of_name and key in of_key:
            of_name[name].passed.add(of_key[key])


class Judge:
    def __init__(self, files, tests, ends):
        self.code = {f.path: code_of("%s/%s.o" % (PLACE, os.path.basename(f.path)[:-2])) for f in files}
        self.tests, self.all_tests = tests, False
        self.ends = ends

    def judge(self, m, most):
        """(verdict, by what); "pending" if there are tests that were not tried, since they take more seconds than that."""
        if not m.function:
            return "no program", ""
        code = self.code[m.path]
        if code.get("%s__%d" % (m.function.name, m.id)) == code.get(m.function.name + "__0"):  # none: it does nothing, and is left out
            return "same program", ""
        spent = 0
        if time.monotonic() > self.ends:
            return "left", ""
        for test in sorted((t for t in self.tests if t.runs(m) and t not in m.passed), key=lambda t: t.cost(m)):
            if time.monotonic() > self.ends:
                return "left", ""
            spent += test.seconds + 0.01
            if spent > most:
                return "pending", ""
            if test.catches(m):
                test.has_caught(m)
                return "caught", test.name
            m.passed.add(test)
            with open(PLACE + "/passed.txt", "a") as to:
                to.write("%s\t%s\n" % (m.key_now(), test.key))
        return "survived" if self.all_tests else "pending", ""


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--part", default="all", choices=[str(k) for k in range(PARTS)] + ["all"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--programs", action="store_true")
    parser.add_argument("--checks")
    parser.add_argument("--reasons", action="store_true")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    ends = float(os.environ.get("MUTATE_UNTIL", "inf")) + time.monotonic()
    files = [File(f) for f in sorted("src/check/" + f for f in os.listdir("src/check") if f.endswith(".c"))]
    for k, m in enumerate(m for f in files for m in f.mutants):
        m.id = k + 1
    mutants = [m for f in files for m in f.mutants if options.part in ("all", str(m.part)) and (f.path in options.files or not options.files)]
    known = known_survivors()
    gone = set(known) - {name for f in files for m in f.mutants for name in (m.key, m.place())}
    if gone:
        print("not ok - tests/mutate.txt explains what is no mutant (any more):\n" + "\n".join(sorted(gone)))
        return 1
    if options.list:
        for m in mutants:
            print(m.told())
        return 0
    make_programs(files)
    some = options.programs or options.checks or options.seconds < 1e9  # of the tests: a mutant that they do not catch has not survived
    tests = list(single_tests())
    tests += [Test(c) for c in ([] if options.programs else commands()) if options.checks is None or options.checks in c]
    judge, counts, unknown = Judge(files, [], ends), {}, 0
    judged = {}
    if os.path.exists(PLACE + "/judged.txt") and not options.fresh:
        judged = dict(line.rstrip("\n").split("\t", 1) for line in open(PLACE + "/judged.txt"))
    random.Random(1).shuffle(mutants)  # a sample of all files comes first
    lock = threading.Lock()

    def one(m, most):
        nonlocal unknown
        name = m.key_now()
        if name in judged:
            verdict, by = "caught", judged[name]
        elif some and (m.key in known or m.place() in known):
            verdict, by = "survived", ""
        else:
            verdict, by = judge.judge(m, most)
        with lock:
            if verdict == "pending" and not options.reasons and (m.key in known or m.place() in known):
                verdict = "survived"
            if verdict == "pending":
                pending.append(m)
                return
            if verdict == "survived":
                verdict = "no other verdict" if m.key in known or m.place() in known else "left" if some else verdict
                unknown += verdict == "survived"
            of = counts.setdefault(m.path, {})
            of[verdict] = of.get(verdict, 0) + 1
            if verdict == "caught" and name not in judged:
                judged[name] = by
                with open(PLACE + "/judged.txt", "a") as to:
                    to.write("%s\t%s\n" % (name, by))
            if verdict in ("survived", "left"):
                print(verdict + ", line %d:\n%s" % (m.number + 1, m.place()), flush=True)
            elif "-v" in os.environ.get("MUTATE", ""):
                print("# %s: %s %s" % (m.told(), verdict, by), flush=True)

    for longest, most in sorted({(min(t, options.seconds), min(s, options.seconds)) for t, s in STAGES}):
        if not mutants:
            break
        judge.tests, judge.all_tests, pending = learn_all(tests, files, longest, ends), longest == options.seconds, []
        take_passed(mutants, judge.tests, options.fresh)
        print("# %d mutants, %d of %d tests, which take %.0f s" % (len(mutants), len(judge.tests), len(tests), sum(t.seconds for t in judge.tests)), flush=True)
        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(lambda m: one(m, most), mutants))
        print("# after tests of up to %s s, %s s together: %d are left" % (longest, most, len(pending)), flush=True)
        mutants = pending
    for m in mutants:  # of these seconds too many
        with lock:
            of = counts.setdefault(m.path, {})
            of["left"] = of.get("left", 0) + 1
            print("left, line %d:\n%s" % (m.number + 1, m.place()))
    verdicts = sorted({v for of in counts.values() for v in of})
    for path, of in sorted(counts.items()):
        print("%s: %s" % (path, ", ".join("%d %s" % (of[v], v) for v in verdicts if v in of)))
    print(", ".join("%d %s" % (sum(of.get(v, 0) for of in counts.values()), v) for v in verdicts))
    if unknown > int(os.environ.get("MUTATE_MOST", "0")):
        print("not ok - %d mutants survived that tests/mutate.txt does not explain" % unknown)
        return 1
    return 0


sys.exit(main())
