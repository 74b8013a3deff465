#!/bin/sh
# The documents: every link resolves, in the repository and in the site that docs/make-site makes; a new user's questions are answered
# within two clicks from the README; the search of the site finds what it should.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if [ "$MODE" != release ]; then
    echo "ok 1 - documents # SKIP they are the same in every mode"
    echo "1..1"
    exit
fi

find . -name '*.md' -not -path './build/*' -not -path './.git/*' -not -path '*/node_modules/*' | sed 's|^\./||' | sort >"$dir/documents"
# shellcheck disable=SC2046 # a list of files
python3 tests/links.py $(cat "$dir/documents") >"$dir/out" 2>"$dir/links"
[ ! -s "$dir/out" ] && [ "$(cut -d ' ' -f 1 "$dir/links")" -gt 400 ]
tell $? "every link of the documents resolves: $(cat "$dir/links")"
rm -f "$dir/out"
printf '# One\n\n[a](#one) [b](#two) [c](none.md)\n' >"$dir/bad.md"
[ "$(python3 tests/links.py "$dir/bad.md" 2>/dev/null | wc -l)" = 2 ]
tell $? "a link without its heading is found, and one without its file"

grep -q '(docs/questions.md)' README.md && [ "$(grep -cE '^[0-9]+\. \*\*.*\?\*\* .*\]\([^)]*\)' docs/questions.md)" = 40 ]
tell $? "forty questions are one click from the README, each with a link to its answer"

docs/make-overview | cmp -s - docs/overview.svg
tell $? "the README's picture is what docs/make-overview draws"

if ! command -v lowdown >/dev/null || ! command -v mandoc >/dev/null; then
    tell 0 "the site # SKIP lowdown or mandoc is not installed"
    echo "1..$number"
    exit
fi
docs/make-site "$DIBS" "$dir/site" >"$dir/out" 2>&1
tell $? "docs/make-site: $(tail -n 1 "$dir/out" | sed 's/.*: //')"
rm -f "$dir/out"

# Each href and src leads to a file, and each "#" to an id; nothing is loaded from elsewhere.
python3 - "$dir/site" >"$dir/out" 2>&1 <<'END'
import html, os, re, sys, urllib.parse
site, ids, bad, count = sys.argv[1], {}, 0, 0
pages = [os.path.join(d, f) for d, _, fs in os.walk(site) for f in fs if f.endswith(".html")]
for page in pages:
    ids[page] = set(map(html.unescape, re.findall(r' id="([^"]*)"', open(page).read())))
for page in pages:
    for kind, target in re.findall(r'(href|src)="([^"]*)"', open(page).read()):
        target = html.unescape(target)
        count += 1
        if re.match(r"[a-z]+:|//", target):
            if kind == "src":
                print(page, "loads", target); bad = 1
            continue
        file, _, anchor = target.partition("#")
        where = os.path.normpath(os.path.join(os.path.dirname(page), urllib.parse.unquote(file))) if file else page
        if not os.path.isfile(where):
            print(os.path.relpath(page, site), "->", target, ": no file"); bad = 1
        elif anchor and where.endswith(".html") and anchor not in ids[where]:
            print(os.path.relpath(page, site), "->", target, ": no id"); bad = 1
print(count, "links of", len(pages), "pages", file=sys.stderr)
sys.exit(bad or count < 1000 or len(pages) < 100)
END
tell $? "every link of the site resolves, and nothing is loaded from elsewhere: $(tail -n 1 "$dir/out")"
rm -f "$dir/out"

if [ -e "$(dirname "$DIBS")/dibs-lab.html" ]; then
    grep -q '<a href="dibs-lab.html">laboratory</a>' "$dir/site/index.html" && grep -q '<a href="index.html">All documents</a>' "$dir/site/dibs-lab.html"
    tell $? "the site and the page of the laboratory have links to each other"
else
    tell 0 "the page of the laboratory # SKIP it is not built"
fi

# Each algorithm has a page, from "dibs explain", with its costs and a picture.
"$DIBS" list --format json | python3 -c 'import json, sys; print(*(row["name"] for row in json.load(sys.stdin)), sep="\n")' >"$dir/algorithms"
while read -r name; do
    page=$dir/site/algorithms/$name.html
    for part in '<h2 id="idea">' '<h2 id="messages">' '<h2 id="what-it-assumes">' '<h2 id="what-it-costs">' "<img src=\"$name.svg\""; do
        grep -q "$part" "$page" || echo "$name: no $part"
    done
    grep -q '<svg' "$dir/site/algorithms/$name.svg" || echo "$name: no picture"
done <"$dir/algorithms" >"$dir/out" 2>&1
[ ! -s "$dir/out" ] && [ "$(wc -l <"$dir/algorithms")" -gt 30 ]
tell $? "each algorithm has a page with its idea, messages, assumptions, costs and a picture"
rm -f "$dir/out"

# The link graph of the site: how many clicks is it from the front page to each answer of questions.html?
python3 - "$dir/site" >"$dir/out" 2>&1 <<'END'
import html, os, re, sys
site = sys.argv[1]
def links(text, page):
    for target in map(html.unescape, re.findall(r'<a [^>]*?href="([^"]*)"', text)):
        file, _, anchor = target.partition("#")
        if not re.match(r"[a-z]+:", target):
            yield os.path.normpath(os.path.join(os.path.dirname(page), file)) if file else page
clicks, edge = {"index.html": 0}, ["index.html"]
while edge:
    page = edge.pop(0)
    for target in links(open(os.path.join(site, page)).read(), page) if page.endswith(".html") else []:
        if target not in clicks:
            clicks[target] = clicks[page] + 1
            edge.append(target)
questions = open(os.path.join(site, "docs/questions.html")).read()
answers = re.findall(r"<li>(.*?)</li>", questions[questions.index("<main>"):], re.S)
far = 0
for number, answer in enumerate(answers, 1):
    for target in links(answer, "docs/questions.html"):
        if clicks.get(target, 99) > 2:
            print("question %d: %s is %s clicks away" % (number, target, clicks.get(target, "no"))); far = 1
lost = [f for d, _, fs in os.walk(site) for f in (os.path.relpath(os.path.join(d, f), site) for f in fs) if f.endswith(".html") and f not in clicks]
print(*("no link leads to " + page for page in lost), sep="\n")
sys.exit(far or len(answers) != 40 or not all(list(links(answer, "docs/questions.html")) for answer in answers) or bool(lost))
END
tell $? "each of the forty answers is at most two clicks from the front page of the site, and no page is without a link to it"
rm -f "$dir/out"

if command -v node >/dev/null; then
    cat >"$dir/search.js" <<'END'
const element = () => ({ append() {}, set textContent(t) { this.text = t; } });
const box = { addEventListener: (_, f) => (box.ask = f) }, list = { replaceChildren: (...items) => (list.count = items.length) };
const links = [];
globalThis.ROOT = "";
globalThis.document = { querySelector: (s) => (s === "#search" ? box : list),
  createElement: (name) => { const e = element(); if (name === "a") links.push(e); return e; } };
(0, eval)(require("fs").readFileSync(process.argv[2], "utf8"));
for (const [question, page] of [["kept sessions", "docs/failures.html#kept-sessions"], ["NOQUORUM", "docs/protocol.html#error-words"],
  ["force-unlock", "man/dibs-force-unlock.1.html"], ["suzuki", "algorithms/suzuki-kasami.html"]]) {
  links.length = 0;
  box.value = question;
  box.ask();
  if (!links.some((l) => l.href.startsWith(page))) { console.log(question, links.map((l) => l.href)); process.exit(1); }
}
box.value = "no such words anywhere xyzzy";
box.ask();
process.exit(list.count ? 1 : 0);
END
    node "$dir/search.js" "$dir/site/search.js" >"$dir/out" 2>&1
    tell $? "the search finds sections, error words, manual pages and algorithms, and nothing for nonsense"
fi
echo "1..$number"
