"""Follows a tutorial in a copy of the project: writes and changes the files as it says, types its commands, and compares
what they print with what is printed there. Prints TAP. Usage: tutorial.py PAGE TREE MODE

  <!-- write: FILE -->                  the block that follows is the file
  <!-- replace: FILE --> ... <!-- by -->   the first block, which is in the file once, is replaced by the second
  ```console                            lines "$ COMMAND", each followed by its output; "..." stands for any text,
                                        alone in a line for any lines
"""

import os
import pathlib
import re
import subprocess
import sys

page, tree, mode = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
environment = dict(os.environ, MODE=mode, PATH=f"{tree}/build/{mode}:" + os.environ["PATH"])
for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"): # of the make that runs the tests
    environment.pop(name, None)
BLOCK = r"```\w*\n(.*?)```\n"
STEPS = re.compile(
    r"<!-- write: (?P<write>\S+) -->\n" + BLOCK
    + r"|<!-- replace: (?P<replace>\S+) -->\n" + BLOCK + r"<!-- by -->\n" + BLOCK
    + r"|```console\n(?P<console>.*?)```\n", re.S)
count = 0


def tell(name, good, output=""):
    global count
    count += 1
    if not good:
        print("".join("# %s\n" % line for line in output.splitlines()), end="")
    print("%sok %d - %s" % ("" if good else "not ", count, name), flush=True)


def pattern(lines):
    """A regular expression for the output that these lines show."""
    text = ""
    for line in lines:
        text += "(?:.*\n)*?" if line == "..." else ".*".join(re.escape(part) for part in line.split("...")) + "\n"
    return text


def type_in(command, shown):
    command = command.replace("build/release/", f"build/{mode}/")
    done = subprocess.run(["sh", "-c", command], cwd=tree, env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    tell("$ " + command, re.fullmatch(pattern(shown), done.stdout), done.stdout)


for step in STEPS.finditer(pathlib.Path(page).read_text()):
    blocks = [g for g in step.groups()]
    if step["write"]:
        (tree / step["write"]).write_text(blocks[1])
        tell("write " + step["write"], True)
    elif step["replace"]:
        old, new = blocks[3].rstrip("\n"), blocks[4].rstrip("\n")
        text = (tree / step["replace"]).read_text()
        (tree / step["replace"]).write_text(text.replace(old, new))
        tell("replace in %s: %s" % (step["replace"], old.split("\n")[0].strip()), text.count(old) == 1)
    else:
        parts = re.split(r"^\$ ", step["console"], flags=re.M)[1:]
        for part in parts:
            lines = part.splitlines()
            type_in(lines[0], lines[1:])
print("1..%d" % count)
