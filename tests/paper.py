"""paper.py - what "dibs paper all --format json" says, for tests/paper.sh.

    paper.py verdicts JSON                 NAME | ROW | VERDICT, a line for each row, and the verdict on each experiment
    paper.py reasons JSON                  fails unless whatever is in error cites its claim and says why
    paper.py commands JSON DOC DIBS FULL   runs every command that DOC prints, and compares what it finds with JSON
"""

import json
import re
import shlex
import subprocess
import sys

QUICK, LONG = 20, 10000  # dibs paper --quick makes a run of at least 10,000 entries 20 times shorter


def rows(experiments):
    for e in experiments:
        for row in e["rows"]:
            yield e["name"], row


def verdicts(experiments):
    for e in experiments:
        for row in e["rows"]:
            if "verdict" in row:  # a row of a table is judged with the others
                print(e["name"], row["what"], row["verdict"], sep=" | ")
        print(e["name"], "Verdict", e["verdict"], sep=" | ")


def reasons(experiments):
    for name, row in rows(experiments):
        if row.get("verdict") in ("in error", "differs") and not (row["where"] and row["claim"] and row["because"]):
            sys.exit(f"{name}: {row['what']}: no reason is given")


def run(dibs, words):
    done = subprocess.run([dibs] + words, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr


def simulated(dibs, words, row, full):
    """What differs, or None."""
    if not full:
        at = words.index("--entries") if "--entries" in words else None
        entries = int(words[at + 1].replace("k", "000")) if at else 100000
        if entries >= LONG:
            words = (words[:at] + words[at + 2 :] if at else words) + ["--entries", str(entries // QUICK)]
            if "--warmup" not in words:
                words += ["--warmup", str(entries // 10)]
    status, out, err = run(dibs, ["sim"] + words + ["--format", "json"])
    if status != 0:
        return err or f"status {status}"
    got = json.loads(out)
    if row["figure"] == "bytes_per_message":
        value = got["bytes_per_entry"] / got["messages_per_entry"]
    else:
        value = got[row["figure"]] + row["own_messages"]
    # The command has the seed and the length of the experiment, so it finds the same figure.
    return None if abs(value - row["measured"]) <= 1e-6 * abs(value) else f"{row['figure']} {value}, not {row['measured']}"


def checked(dibs, words, row):
    status, out, err = run(dibs, ["check"] + words + ["--states", "3M", "--format", "json"])
    if not out:
        return err or f"status {status}"
    got = json.loads(out)
    if row["figure"] == "verdict":
        return None if got["verdict"] == row["found"] else f"{got['verdict']}, not {row['found']}"
    return None if got[row["figure"]] == row["measured"] else f"{got[row['figure']]}, not {row['measured']}"


def commands(experiments, doc, dibs, full):
    wanted = {}
    for _, row in rows(experiments):
        for kind in ("run", "check", "scenario"):
            if row.get(kind):
                wanted.setdefault((kind, row[kind]), row)
    names = {e["name"] for e in experiments} | {"all", "NAME"}
    failed, count = False, 0
    for command in sorted(set(re.findall(r"`dibs ([^`]*)`", open(doc, encoding="utf-8").read()))):
        verb, _, rest = command.partition(" ")
        count += 1
        if verb == "paper":
            wrong = None if rest.split()[0] in names else "no such experiment"
        elif verb == "scenario":
            status, out, err = run(dibs, ["scenario", rest])
            wrong = None if status == 0 else out + err
        elif verb == "sim":
            row = wanted.get(("run", rest))
            wrong = simulated(dibs, shlex.split(rest), row, full) if row else "no row has this command"
        elif verb == "check":
            row = wanted.get(("check", rest))
            wrong = checked(dibs, shlex.split(rest), row) if row else "no row has this command"
        else:
            wrong = "not a command that this test knows"
        if wrong:
            print(f"dibs {command}: {wrong}")
            failed = True
    print(f"{count} commands")
    sys.exit(failed or count == 0)


def main():
    with open(sys.argv[2], encoding="utf-8") as f:
        experiments = json.load(f)
    if sys.argv[1] == "verdicts":
        verdicts(experiments)
    elif sys.argv[1] == "reasons":
        reasons(experiments)
    else:
        commands(experiments, sys.argv[3], sys.argv[4], sys.argv[5] == "full")


main()
