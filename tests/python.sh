#!/bin/sh
# python/dibs: the functions return what the program says, and the cells of the example notebook run.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"
export DIBS PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1

test_that "the cells of the example notebook run" python3 -c '
import json
cells = json.load(open("python/examples/messages.ipynb"))["cells"]
code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
assert len(code) >= 4
scope = {}
for text in code:
    exec(text, scope)'
test_that "options become words of the command line" python3 -c '
import dibs
r = dibs.sim("raymond", sites=7, closed=True, entries="1k", set={"tree": "star"}, seed=3)
assert (r["sites"], r["entries"], r["seed"]) == (7, 1000, 3), r'
test_that "what the program refuses is an error with its own text" python3 -c '
import dibs
try:
    dibs.sim("suzuki")
    raise SystemExit("no error")
except dibs.Error as e:
    assert "did you mean \"suzuki-kasami\"" in str(e), e'
test_that "all algorithms are a table" python3 -c '
import dibs
rows = dibs.algorithms()
assert len(rows) >= 36 and all(r["name"] and r["kinds"] for r in rows)
assert len(dibs.algorithms(all=True)) > len(rows)'
echo "1..$number"
