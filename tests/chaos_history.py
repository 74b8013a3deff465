#!/usr/bin/env python3
"""Judges what clients wrote down (see chaos_client.c): did two hold a lock that exclude each other, and did fences grow?

  chaos_history.py check LOG...                    says what is wrong, and ends with 1; else how much there was
  chaos_history.py granted NAME SINCE LOG...       when the lock was granted first after that time; nothing: never
  chaos_history.py waits PATTERN SINCE LOG...      the longest wait (ns) that ended after that time, for such names
  chaos_history.py losses LOG...                   the clients that lost a lock, when they knew, and how: a line each
  chaos_history.py beside TROUBLES LOG...          of these, those whose member was not in trouble then; ends with 1 if there are
                                                   any. A client is called after its member (m1, m1.a); a line of TROUBLES is
                                                   FROM TO MEMBER...

It uses nothing of dibs: it decides by itself, from the times at which each client believed in a lock, all by one clock. A client held a lock at
least from `granted` to `believed`, both included; no other hold that excludes it may touch that span."""

import fnmatch
import sys
from collections import namedtuple

Hold = namedtuple("Hold", "who name mode fence asked granted believed end")


def read(files):
    holds = []
    for file in files:
        with open(file, encoding="ascii") as lines:
            for number, line in enumerate(lines, 1):
                words = line.split()
                if len(words) != 8 or not line.endswith("\n"):
                    sys.exit(f"{file}:{number}: this is no line of a history: {line.strip()}")
                holds.append(Hold(*words[:3], *map(int, words[3:7]), words[7]))
    return holds


def excludes(a, b):
    """May these two not be inside together? (Slots are counted instead.)"""
    return a.mode[0] == "x" or b.mode[0] == "x" or a.mode != b.mode


def overlaps(holds):
    """Of one lock, in the order of their grants."""
    inside = []
    for h in holds:
        inside = [i for i in inside if i.believed >= h.granted]
        for i in inside:
            if excludes(i, h):
                yield f"OVERLAP: both believed to hold it\n  {i}\n  {h}"
        if h.mode[0] == "n" and len(inside) >= int(h.mode[1:]):
            yield f"OVERLAP: there are more than its slots\n  " + "\n  ".join(map(str, inside + [h]))
        inside.append(h)


def fences(holds):
    """A holder's fence is larger than those of all who excluded it and had it before."""
    over = []
    for h in sorted(holds, key=lambda h: h.granted):
        for i in over:
            same = i.who == h.who and i.fence == h.fence and i.end == "doubt"  # it goes on
            if excludes(i, h) and i.believed < h.granted and i.fence >= h.fence and not same:
                yield f"FENCE: it has not grown\n  {i}\n  {h}"
        # of each mode the largest is enough
        over = [i for i in over if i.mode != h.mode or i.fence > h.fence] + [h]


def losses(files):
    return [h for h in read(files) if h.fence and h.end in ("lost", "gone")]


def beside(troubles, files):
    with open(troubles, encoding="ascii") as lines:
        spans = [(int(line.split()[0]), int(line.split()[1]), line.split()[2:]) for line in lines]
    lost = losses(files)
    found = [
        h
        for h in lost
        if not any(begin <= h.believed <= end and h.who.split(".")[0] in members for begin, end, members in spans)
    ]
    for h in found:
        print("LOST:", h)
    print(f"{len(lost)} locks were lost in {len(spans)} troubles, {len(found)} of them beside")
    if not lost:
        print("EMPTY: nobody has lost anything, so nothing has been shown")
    return bool(found) or not lost


def check(files):
    holds = sorted((h for h in read(files) if h.fence), key=lambda h: h.granted)
    wrong = [f"TIME: it ends before it begins\n  {h}" for h in holds if not h.asked <= h.granted <= h.believed]
    names = sorted({h.name for h in holds})
    for name in names:
        of_name = [h for h in holds if h.name == name]
        wrong += overlaps(of_name)
        wrong += fences(of_name)
    for line in wrong[:20]:
        print(line)
    ends = {end: sum(h.end == end for h in holds) for end in sorted({h.end for h in holds})}
    print(f"{len(holds)} holds of {len(names)} locks by {len({h.who for h in holds})} clients: {ends}")
    if not holds:
        print("EMPTY: nobody held anything, so nothing has been shown")
    return bool(wrong) or not holds


def main(what, *args):
    if what == "check":
        sys.exit(check(args))
    if what == "granted":
        times = [h.granted for h in read(args[2:]) if h.fence and h.name == args[0] and h.granted > int(args[1])]
        print(min(times, default=""))
    elif what == "waits":
        of_name = [h for h in read(args[2:]) if h.fence and fnmatch.fnmatch(h.name, args[0])]
        print(max((h.granted - h.asked for h in of_name if h.granted > int(args[1])), default=0))
    elif what == "losses":
        for h in losses(args):
            print(h.who, h.name, h.believed, h.end)
    elif what == "beside":
        sys.exit(beside(args[0], args[1:]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
