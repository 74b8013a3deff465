"""dibs from Python: the laboratory's commands as functions. Each runs the program and returns what it says.

    import dibs
    dibs.sim("ricart-agrawala", sites=10, closed=True)["messages_per_entry"]
    dibs.check("lamport", sites=2, without="fifo")["verdict"]
    dibs.sweep("suzuki-kasami", "raymond", closed=True, sites="5,10,20")

Options are keyword arguments: sites=10 is --sites 10, closed=True is --closed, set={"tree": "star"} is --set tree=star. The
program is $DIBS, or "dibs". There is no dependency but the standard library; a table is a list of dictionaries, or a
pandas.DataFrame if pandas is there and `frame=True`.
"""

import csv
import io
import json
import os
import subprocess

__all__ = ["Error", "algorithms", "check", "paper", "sim", "sweep"]


class Error(Exception):
    """The program refused the command line; the text is its own."""


def _words(options):
    for key, value in options.items():
        name = "--" + key.rstrip("_").replace("_", "-")
        if value is True:
            yield name
        elif isinstance(value, dict):
            for k, v in value.items():
                yield from (name, f"{k}={v}")
        elif value is not None and value is not False:
            yield from (name, str(value))


def _run(*words, **options):
    command = [os.environ.get("DIBS", "dibs"), *words, *_words(options)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):  # 1: the answer is no, and it is in the output
        raise Error(done.stderr.strip() or f"{command[0]} ended with status {done.returncode}")
    return done.stdout


def _json(*words, **options):
    return json.loads(_run(*words, format="json", **options))


def _number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _table(rows, frame):
    if not frame:
        return rows
    import pandas  # only where a frame is asked for

    return pandas.DataFrame(rows)


def algorithms(all=False, frame=False):
    """The algorithms, a row each; with all=True also those that are kept because they are wrong."""
    return _table(_json("list", all=all), frame)


def sim(algorithm, **options):
    """One simulation: a dictionary of figures, with their 95% intervals (..._ci95)."""
    return _json("sim", algorithm, **options)


def check(algorithm, **options):
    """Every interleaving of a small system: a dictionary with "verdict", "states" and, if it fails, "trace"."""
    return _json("check", algorithm, **options)


def sweep(*algorithms, frame=False, **options):
    """Many simulations: a table with a row for each."""
    text = "".join(line for line in _run("sweep", *algorithms, **options).splitlines(True) if not line.startswith("#"))
    return _table([{k: _number(v) for k, v in row.items()} for row in csv.DictReader(io.StringIO(text))], frame)


def paper(name="all", frame=False, **options):
    """Published claims beside what is measured: a table with a row for each piece of evidence."""
    found = _json("paper", name, **options)
    experiments = found if isinstance(found, list) else [found]
    return _table([{"experiment": e["name"], **row} for e in experiments for row in e["rows"]], frame)
