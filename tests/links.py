"""Every link of the documents resolves: files exist, and so do the headings behind a "#", by the rule of GitHub's anchors. Prints each
that does not. Usage: links.py FILE..."""

import os
import re
import sys


def text_of(path):
    """The document without code."""
    text = re.sub(r"^```.*?^```", "", open(path, encoding="utf-8").read(), flags=re.S | re.M)
    return re.sub(r"^    .*$", "", text, flags=re.M)


def anchors(path):
    found = set()
    for title in re.findall(r"^#+ +(.*?) *$", text_of(path), re.M):
        title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).replace("`", "").replace("*", "")
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        number = 0
        while slug + ("-%d" % number if number else "") in found:
            number += 1
        found.add(slug + ("-%d" % number if number else ""))
    return found


count = 0
for path in sys.argv[1:]:
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text_of(path))):
        if re.match(r"[a-z]+:", target):
            continue
        count += 1
        file, _, anchor = target.partition("#")
        where = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if not os.path.exists(where):
            print("%s: %s: there is no %s" % (path, target, where))
        elif anchor and where.endswith(".md") and anchor not in anchors(where):
            print("%s: %s: there is no such heading" % (path, target))
print("%d links" % count, file=sys.stderr)
