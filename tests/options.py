"""The same option means the same in every command: its parameter, type, range, choices, default and description. The tables come from
"dibs help COMMAND --format json", from which help, manual pages and completions are made, too. tests/options.txt has the exceptions.
Here is also the table of exit statuses: commands name those of the table, and each of them. Prints TAP. Usage: options.py DIBS EXCEPTIONS"""

import json
import re
import subprocess
import sys

KINDS = ["form", "default", "text"]
number = failed = 0


def tell(wrong, name):
    global number, failed
    number += 1
    failed += bool(wrong)
    for line in wrong:
        print("#", line)
    print("%sok %d - %s" % ("not " if wrong else "", number, name))


def help_of(*command):
    return json.loads(subprocess.run([sys.argv[1], "help", *command, "--format", "json"], check=True, capture_output=True, text=True).stdout)


def signature(option):
    """What must be equal, by kind: the form of its value, its default, and the rest."""
    default = re.search(r"\((no default|default)[^()]*(\([^()]*\)[^()]*)*\)", option["help"])
    return {"form": (option["type"], option["parameter"], tuple(option["choices"])), "default": default[0] if default else "",
            "text": (option["help"], option["min"], option["max"])}


def differs(a, b):
    """The first kind in which two signatures differ, or None."""
    return next((kind for kind in KINDS if a[kind] != b[kind]), None)


def compare(tables, exceptions):
    """(what is wrong with options, what is wrong with exceptions)."""
    uses, wrong, idle = {}, [], []
    for command, table in tables.items():
        for option in table["options"]:
            # "dibs sweep" has options of "dibs sim", of which it takes several values.
            like = next((o for o in tables["sim"]["options"] if command == "sweep" and option["repeated"] and o["name"] == option["name"]), None)
            if like:
                option = dict(option, type=like["type"], min=like["min"], max=like["max"])
            uses.setdefault(option["name"], {})[command] = signature(option)
    for name, by_command in uses.items():
        kind, groups = exceptions.get(name, (None, [["*"]]))
        named = [command for group in groups for command in group]
        groups = [[c for c in by_command if c not in named] if group == ["*"] else group for group in groups]
        named = [command for group in groups for command in group]
        if sorted(named) != sorted(by_command) or not all(groups):
            wrong.append("%s: its exception names %s; it is an option of %s" % (name, " ".join(named), " ".join(by_command)))
            continue
        for group in groups:
            others = [c for c in group if differs(by_command[group[0]], by_command[c])]
            wrong += ["%s: the %s of dibs %s differs from that of dibs %s" % (name, differs(by_command[group[0]], by_command[c]), c, group[0]) for c in others]
        found = {differs(by_command[a[0]], by_command[b[0]]) for k, a in enumerate(groups) for b in groups[:k]}
        if kind and (None in found or kind != min(found, key=KINDS.index)):
            idle.append("%s: the exception says that the %s differs; groups differ in: %s" % (name, kind, found))
    idle += ["%s: there is no such option" % name for name in exceptions if name not in uses]
    return wrong, idle


def read_exceptions(path):
    exceptions = {}
    for line in open(path):
        if line.strip() and not line.startswith("#"):
            kind, name, groups, reason = re.split(r"\s{2,}", line.strip())
            assert kind in KINDS and len(reason.split()) > 3, line
            exceptions[name] = (kind, [group.split() for group in groups.split("|")])
    return exceptions


program = help_of()
tables = {command["name"]: help_of(command["name"]) for command in program["commands"]}
exceptions = read_exceptions(sys.argv[2])
wrong, idle = compare(tables, exceptions)
several = sum(sum(o["name"] == n for t in tables.values() for o in t["options"]) > 1 for n in {o["name"] for t in tables.values() for o in t["options"]})
tell(wrong, "each of %d options of several commands is the same in all of them, or an exception" % several)
tell(idle, "each of %d exceptions is needed" % len(exceptions))

options = [(command, option) for command, table in tables.items() for option in table["options"]]
tell(["dibs %s %s %s" % (c, o["name"], o["parameter"]) for c, o in options if (o["type"] == "time") != (o["parameter"] == "T")
      and not (c in ("sim", "sweep", "check") and o["name"] in ("--bound", "--threads"))],
     "a time is called T, and a T is a time; simulated time has no unit")
tell(["dibs %s %s: %s" % (c, o["name"], o["help"]) for c, o in options
      if o["type"] == "time" and re.search(r"default [0-9.]+(?![0-9.]*(ms|s|m|h)\b)", o["help"])], "the default of a time has a unit")
tell(["dibs %s %s: %s" % (c, o["name"], o["help"]) for c, o in options
      if o["type"] == "time" and not re.search(r"with a unit|has a unit", o["help"] + tables[c]["about"])], "the help says how a time is written, with its units")
tell(["dibs %s %s" % (c, o["name"]) for c, o in options if (o["parameter"] is None) != (o["type"] == "flag")], "flags, and only flags, have no parameter")
tell(["dibs %s %s" % (c, o["name"]) for c, o in options if o["name"] == "--json"], "JSON is asked for by --format json")

# The exit statuses: of the list behind "Exit status:", each number before a word.
known = {row["status"] for row in program["exit_statuses"]}
named = {}
for command, table in tables.items():
    text = table["about"].partition("Exit status: ")[2]
    for status in re.findall(r"(?:^|[ \n(])(\d+)(?=[ \t][A-Za-z+])", re.sub(r"\d+ (?:seconds|of|to|bytes)", "", text)):
        named.setdefault(int(status), []).append(command)
tell(["%d, of dibs %s, is not in the table" % (status, " ".join(commands)) for status, commands in named.items() if status not in known]
     + ["%d is in the table, and no command names it" % status for status in known - set(named)], "commands and the table have the same %d exit statuses" % len(known))
failures = open("docs/failures.md").read()
tell(["docs/failures.md lacks: | %(status)d | %(meaning)s |" % row for row in program["exit_statuses"]
      if row["status"] > 100 and "| %(status)d | %(meaning)s |" % row not in failures], "docs/failures.md has the statuses of locks")

# The test can fail.
grace = "time from TERM to KILL when processes are ended (default 5s)"
for what, change in {"form": ("parameter", "X"), "default": ("help", grace.replace("5s", "3s")), "text": ("help", "the " + grace)}.items():
    changed = {c: dict(t, options=[dict(o, **dict([change])) if (c, o["name"]) == ("lead", "--grace") else o for o in t["options"]]) for c, t in tables.items()}
    found = compare(changed, exceptions)[0]
    tell([] if found and found[0].startswith("--grace: the %s of " % what) else ["found: %s" % found], "another %s of an option is found" % what)
tell([] if compare(tables, {**exceptions, "--socket": ("form", [["serve"], ["lock"]])})[0] else ["not found"], "an exception that does not name all commands is found")
tell([] if compare(tables, {**exceptions, "--grace": ("form", [["lock", "try"], ["lead"]])})[1] else ["not found"], "an exception without need is found")
print("1..%d" % number)
sys.exit(failed > 0)
