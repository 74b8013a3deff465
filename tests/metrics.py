# metrics.py PORT: reads /metrics of the daemon at this port, as strictly as the description of the text format (version
# 0.0.4 of Prometheus) has it, and prints "name{labels} value" lines, sorted. Ends with 1, and a line, at the first mistake.
import http.client
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABELS = r'\{[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\.)*"(?:,[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\.)*")*\}'
SAMPLE = re.compile(rf"({NAME})({LABELS})? (\+Inf|-?[0-9]+(?:\.[0-9]+)?)")


def mistake(what, line):
    sys.exit(f"{what}: {line!r}")


connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=30)
connection.request("GET", "/metrics")
response = connection.getresponse()
text = response.read().decode()
if response.status != 200 or response.getheader("Content-Type") != "text/plain; version=0.0.4; charset=utf-8":
    mistake("not metrics", response.getheader("Content-Type"))
if not text.endswith("\n"):
    mistake("the last line does not end", text[-40:])

family, kind, described, samples = None, None, {}, {}
for line in text.splitlines():
    if m := re.fullmatch(rf"# HELP ({NAME}) (\S.*)", line):
        if m[1] in described:
            mistake("a family in two places", line)
        family, kind = m[1], None
        described[family] = None
    elif m := re.fullmatch(rf"# TYPE ({NAME}) (counter|gauge|histogram)", line):
        if m[1] != family or described[family]:
            mistake("a type that does not follow its help", line)
        described[family] = kind = m[2]
    elif m := SAMPLE.fullmatch(line):
        base = re.sub("_(bucket|sum|count)$", "", m[1]) if kind == "histogram" else m[1]
        if base != family or not kind:
            mistake("a sample outside its family", line)
        if kind == "counter" and not m[1].endswith("_total"):
            mistake("a counter that is not called _total", line)
        if (m[1], m[2]) in samples:
            mistake("a sample that was there already", line)
        samples[m[1], m[2]] = float(m[3])
    else:
        mistake("no such line", line)

for name, kind in described.items():
    if kind != "histogram":
        continue
    buckets = [(float(re.fullmatch(r'\{le="(.*)"\}', labels)[1]), value)
               for (n, labels), value in samples.items() if n == name + "_bucket"]
    if buckets != sorted(buckets) or [v for _, v in buckets] != sorted(v for _, v in buckets):
        mistake("buckets that do not grow", name)
    if buckets[-1] != (float("inf"), samples[name + "_count", None]) or (name + "_sum", None) not in samples:
        mistake("a histogram that does not add up", name)

for (name, labels), value in sorted(samples.items(), key=str):
    print(f"{name}{labels or ''} {value:g}")
