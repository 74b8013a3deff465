#!/bin/sh
# Failures in simulated time. Within what they assume, the algorithms that outlive failures keep the rule and serve every
# request of who lives, whatever the seed; others do not, and that is noticed. Runs with failures are scenarios, too.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

seeds="1 2 3 4 5 6 7 8"
[ "$MODE" = release ] || seeds="1 2"

figure() { # KEY: its value in the JSON on stdin
    sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*\$/\1/p"
}

# Every seed: 3000 entries are made, none is forbidden, nobody waits for ever, and there were failures to survive.
survives() { # NAME SIM-ARGUMENT...
    name=$1
    shift
    bad=
    for seed in $seeds; do
        (cd "$dir" && "$DIBS" sim "$@" --entries 3000 --seed "$seed" --format json) >"$dir/json" 2>"$dir/err" &&
            [ "$(figure measured <"$dir/json")" = 3000 ] &&
            [ $(($(figure crashes <"$dir/json") + $(figure cuts <"$dir/json") + $(figure leaves <"$dir/json"))) -gt 9 ] ||
            bad="$bad $seed"
    done
    [ -z "$bad" ] || sed 's/^/# /' "$dir/err"
    [ -z "$bad" ]
    tell $? "$name${bad:+: not with seed}$bad"
}

r=ricart-agrawala-robust
survives "$r: crashes, light load" $r --sites 5 --rate 0.02 --crash-rate 0.005 --delay uniform:0,1
survives "$r: crashes, full load" $r --sites 5 --closed --crash-rate 0.02 --delay uniform:0,1 --set hold=2
survives "$r: crashes, with memory" $r --sites 4 --rate 0.05 --crash-rate 0.01 --with-memory --delay uniform:0,1
survives "$r: short absences" $r --sites 4 --rate 0.05 --crash-rate 0.02 --absence uniform:0,5 --delay uniform:0,1
survives "$r: a restart interval" $r --sites 4 --rate 0.05 --crash-rate 0.01 --delay const:1 --set restart-interval=9
survives "$r: leaves and joins" $r --sites 6 --rate 0.03 --leave-rate 0.01 --delay uniform:0,1
survives "$r: all of that, 20 sites" $r --sites 20 --rate 0.005 --leave-rate 0.004 --crash-rate 0.004 --delay uniform:0,1
survives "$r: leaves and joins, by broadcast" $r --sites 6 --rate 0.03 --leave-rate 0.01 --delay uniform:0,1 --set join=broadcast
survives "$r: crashes, joins by broadcast" $r --sites 4 --rate 0.05 --crash-rate 0.02 --absence uniform:0,5 --delay uniform:0,1 --set join=broadcast
for way in asked heard-all heard-span waited heard-four; do
    survives "$r: highest=$way" $r --sites 4 --rate 0.05 --leave-rate 0.01 --crash-rate 0.01 --delay uniform:0,1 --set highest=$way
done

for a in singhal-heuristic-robust $("$DIBS" list | sed -n 's/^\(suzuki-kasami-robust\) .*/\1/p'); do
    survives "$a: crashes, light load" "$a" --sites 5 --rate 0.02 --crash-rate 0.005 --delay exp:1
    survives "$a: crashes, full load" "$a" --sites 5 --closed --crash-rate 0.02 --delay exp:1
    survives "$a: crashes, with memory" "$a" --sites 4 --closed --crash-rate 0.03 --absence 20 --with-memory --delay uniform:0,3
    survives "$a: short absences" "$a" --sites 4 --closed --crash-rate 0.05 --absence uniform:0,5 --delay exp:1
    survives "$a: cuts" "$a" --sites 6 --rate 0.05 --cut-rate 0.01 --delay exp:1
    survives "$a: crashes and cuts, 20 sites" "$a" --sites 20 --closed --cut-rate 0.01 --crash-rate 0.01 --delay uniform:0,2
done

a=singhal-heuristic-time-outs
survives "$a: crashes, light load" $a --sites 5 --rate 0.02 --crash-rate 0.005 --delay uniform:0,1 --set patience=20
survives "$a: crashes, full load" $a --sites 5 --closed --crash-rate 0.02 --delay uniform:0,1 --set patience=10
survives "$a: crashes, with memory" $a --sites 4 --closed --crash-rate 0.03 --absence 20 --with-memory --delay uniform:0,1 --set patience=8
survives "$a: short absences" $a --sites 4 --closed --crash-rate 0.05 --absence uniform:0,5 --delay uniform:0,1 --set patience=6
survives "$a: cuts" $a --sites 6 --rate 0.05 --cut-rate 0.01 --delay uniform:0,1 --set patience=10
survives "$a: crashes and cuts, 20 sites" $a --sites 20 --closed --cut-rate 0.01 --crash-rate 0.01 --delay uniform:0,1 --set patience=30
survives "singhal-heuristic-robust: cuts, by RECOVERING_PART" singhal-heuristic-robust --sites 6 --rate 0.05 --cut-rate 0.01 --delay exp:1 \
    --set reintegration=part

# Quorums: sites stop for good, the root and a leaf of the tree, and all others are served.
printf '40 crash 0\n200 crash 5\n' >"$dir/faults"
bad=
for seed in $seeds; do
    (cd "$dir" && "$DIBS" sim agrawal-el-abbadi-robust --sites 7 --closed --think 2 --delay exp:1 --faults faults --entries 3000 --warmup 0 \
        --seed "$seed" --format json) >"$dir/json" 2>"$dir/err" && [ "$(figure measured <"$dir/json")" = 3000 ] &&
        [ "$(figure crashes <"$dir/json")" = 2 ] || bad="$bad $seed"
done
[ -z "$bad" ]
tell $? "agrawal-el-abbadi-robust: two sites stop for good${bad:+: not with seed}$bad"

# Who relies on sites that stay alive does not survive, and the run says so.
(cd "$dir" && ! "$DIBS" sim suzuki-kasami --sites 4 --closed --crash-rate 0.02 --absence 1e9 >out 2>err) &&
    grep -q 'exclusion is broken\|waits for ever' "$dir/err"
tell $? "suzuki-kasami does not survive"

# A script of failures; the same run as a scenario happens as it is written.
cat >"$dir/faults" <<'F'
# the holder stops, comes back, and the network is cut
2 crash 0
30 restart 0
60 cut 0 1
90 heal
120 crash 3
140 resume 3
F
"$DIBS" sim singhal-heuristic-robust --sites 4 --closed --think 3 --entries 40 --warmup 0 --faults "$dir/faults" --save "$dir/run.txt" \
    --log "$dir/log" >"$dir/out" && grep -q 'crashes  *2 (2 came back)' "$dir/out" && grep -q '^crash 0$' "$dir/run.txt" &&
    grep -q '"event":"cut","side":3' "$dir/log" && "$DIBS" scenario "$dir/run.txt" >"$dir/out"
tell $? "a scripted run is a scenario"
"$DIBS" sim ricart-agrawala-robust --sites 4 --closed --think 3 --entries 60 --warmup 0 --crash-rate 1 --leave-rate 0.2 \
    --seed 2 --gap 20 --absence 20 --save "$dir/run.txt" >"$dir/out" && grep -q '^crash ' "$dir/run.txt" && "$DIBS" scenario "$dir/run.txt" >"$dir/out"
tell $? "so is a random one"

echo '5 crash 9' >"$dir/bad"
rejects "--faults: $dir/bad:1: there is no such site; sites are numbered from 0" sim $r --closed --sites 3 --faults "$dir/bad"
echo '5 explode 1' >"$dir/bad"
rejects "--faults: $dir/bad:1: behind the time comes one of crash, restart, resume, join, leave, cut, heal" sim $r --closed \
    --faults "$dir/bad"
printf '5 crash 1\n4 crash 2\n' >"$dir/bad"
rejects "--faults: $dir/bad:2: it is earlier than the line before" sim $r --closed --faults "$dir/bad"
rejects "failures come from --faults FILE or from rates, not from both" sim $r --closed --faults "$dir/faults" --crash-rate 1
rejects "raymond knows of no members; leave out --leave-rate" sim raymond --closed --leave-rate 1
rejects "failures need at least two sites, so that one of them is left" sim raymond --sites 1 --closed --crash-rate 1
echo "1..$number"
