#!/bin/sh
# The alert rules and the dashboard in examples: every metric that they name is one that a daemon has, every expression can be
# read by Prometheus, and the alerts come when they should. promtool is Prometheus' own; ./run extra brings it.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports
openssl req -x509 -newkey ed25519 -nodes -keyout "$dir/key.pem" -out "$dir/cert.pem" -days 10 -subj /CN=solo \
    -addext subjectAltName=DNS:solo >"$dir/out" 2>&1
serve solo --name solo --members solo=127.0.0.1:$((base + 1)) --http 127.0.0.1:$base --cert "$dir/cert.pem" --cert-key "$dir/key.pem" \
    --ca "$dir/cert.pem"
until_true is_ready solo
"$DIBS" lock --socket "$dir/solo" job -- sh -c ": >'$dir/in'; exec sleep 1000" 2>"$dir/err" &
started="$started $!"
until_true test -e "$dir/in"
"$DIBS" lock --socket "$dir/solo" job -- true 2>"$dir/err" &
started="$started $!"
old_enough() {
    python3 tests/metrics.py $base >"$dir/metrics" && awk '
        $1 == "dibs_oldest_wait_seconds" || $1 == "dibs_oldest_hold_seconds" { old += $2 > 0 }
        $1 == "dibs_connections{over=\"unix\"}" { old += $2 >= 2 }
        $1 == "process_cpu_seconds_total" || $1 == "process_start_time_seconds" { old += $2 > 0 }
        END { exit old != 5 }' "$dir/metrics"
}
until_true old_enough
tell $? "a daemon tells of the oldest wait and hold, of connections and of its process"
awk -v now="$(date +%s)" '$1 == "dibs_certificate_end_time_seconds" { d = $2 - now; good = d > 8 * 86400 && d < 11 * 86400 }
    END { exit !good }' "$dir/metrics"
tell $? "and when its certificate ends"

python3 - $base "$dir/expressions.yml" <<'END'
import json, re, sys, urllib.request
metrics = urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/metrics", timeout=30).read().decode()
there = set()
for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", metrics, re.M):
    there |= {name + end for end in ("_bucket", "_sum", "_count")} if kind == "histogram" else {name}
board = json.load(open("examples/grafana.json"))
text = open("examples/dibs.rules.yml").read()
panels = board["panels"]
assert len({p["id"] for p in panels}) == len(panels) and all(p["title"] and p["targets"] for p in panels)
cells = [(x, y) for p in panels for x in range(p["gridPos"]["x"], p["gridPos"]["x"] + p["gridPos"]["w"])
         for y in range(p["gridPos"]["y"], p["gridPos"]["y"] + p["gridPos"]["h"])]
assert len(set(cells)) == len(cells) and max(x for x, _ in cells) == 23, "panels overlap"
expressions = [t["expr"] for p in panels for t in p["targets"]] + re.findall(r"expr: (.*)", text)
named = {n for e in expressions for n in re.findall(r"\b(?:dibs|process)_[a-z_]+", e)}
assert named <= there, named - there
assert "dibs_oldest_wait_seconds" in named and len(expressions) > 30
with open(sys.argv[2], "w") as out: # for promtool, which reads rules
    out.write("groups:\n- name: panels\n  rules:\n")
    for k, e in enumerate(e.replace("$instance", ".*") for e in expressions):
        out.write(f"  - record: panel_{k}\n    expr: {json.dumps(e)}\n")
END
tell $? "rules and dashboard name metrics that there are; no panel covers another"

promtool=build/promtool/usr/bin/promtool
[ -x $promtool ] || promtool=$(command -v promtool)
if [ -z "$promtool" ]; then
    tell 0 "promtool # SKIP it is not here; ./run extra fetches it"
else
    "$promtool" check rules examples/dibs.rules.yml >"$dir/said" 2>&1 && "$promtool" check rules "$dir/expressions.yml" >>"$dir/said" 2>&1
    tell $? "Prometheus reads every rule, and every expression of the dashboard"
    cp examples/dibs.rules.yml tests/alerts.yml "$dir"
    "$promtool" test rules "$dir/alerts.yml" >"$dir/said" 2>&1
    tell $? "alerts come when they should, and not otherwise"
    sed -i 's/dibs_oldest_wait_seconds > 600/dibs_oldest_wait_seconds > 6000/' "$dir/dibs.rules.yml"
    ! "$promtool" test rules "$dir/alerts.yml" >"$dir/said" 2>&1
    tell $? "an alert that does not come is noticed"
fi
echo "1..$number"
