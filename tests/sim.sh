#!/bin/sh
# A short simulation becomes a scenario that happens as it is written, whatever the algorithm; and logs can be read.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

for name in $("$DIBS" list | sed -n 's/^\([a-z][a-z0-9-]*\) .*/\1/p'); do
    "$DIBS" sim "$name" --sites 4 --closed --entries 9 --warmup 0 --delay uniform:0,2 --save "$dir/$name.txt" \
        --svg "$dir/$name.svg" >"$dir/out" && "$DIBS" scenario "$dir/$name.txt" >"$dir/out" && grep -q '<svg' "$dir/$name.svg"
    tell $? "$name as a scenario"
done

# Bytes grow with the numbers in messages, so that their batches depend on each other; that is no reason for an interval wider than the figure.
"$DIBS" sim suzuki-kasami --sites 10 --closed --entries 20k >"$dir/out" &&
    awk '/bytes per entry/ { b = $4 > 50 && $6 < 5 } /waiting time/ { w = $5 == "0" } END { exit !(b && w) }' "$dir/out"
tell $? "intervals: of bytes narrow, and 0 where nothing is random"
rm -f "$dir/out"

! "$DIBS" sim raymond --closed --entries 100k --save "$dir/long.txt" >"$dir/out" 2>"$dir/err" &&
    grep -q 'take fewer --entries' "$dir/err" && [ ! -e "$dir/long.txt" ]
tell $? "a long run is not saved"

"$DIBS" sim raymond --sites 4 --closed --entries 9 --log "$dir/log" >"$dir/out" && grep -q '"enters":true' "$dir/log" &&
    [ "$(grep -c '"event":"release"' "$dir/log")" -ge 8 ]
tell $? "every step is logged"

# A request that is lost or starves is a violation under closed load, too; and none is reported without reason.
(cd "$dir" && "$DIBS" sim suzuki-kasami-as-retold --sites 4 --closed --delay exp:1 --entries 1k >out 2>err)
[ $? = 1 ] && grep -q '3 of 4 sites wait for ever: site 1 has waited since time' "$dir/err" && [ ! -s "$dir/out" ] &&
    "$DIBS" sim suzuki-kasami --sites 4 --closed --delay exp:1 --entries 1k >"$dir/out"
tell $? "sites that are never served are a violation"

# With a mistake that the published version has, two go in together, or one waits for ever: the log is left behind.
(cd "$dir" && ! "$DIBS" sim singhal-heuristic-as-published --sites 5 --rate 0.05 --delay lognormal:1,2 >out 2>err) &&
    grep -q 'waits for ever (time .*, step .*, seed 1)' "$dir/err" &&
    tail -n 1 "$dir/dibs-singhal-heuristic-as-published-seed-1.jsonl" | grep -q '"event"'
tell $? "a broken promise leaves a log"

# 2,048 sites that request at once have four million messages in flight before the second entry. That is no livelock.
if [ "$MODE" = release ]; then
    "$DIBS" sim suzuki-kasami --sites 2048 --closed --entries 100 >"$dir/out" && grep -q 'messages per entry  *2048$' "$dir/out"
    tell $? "a flood of requests is not taken for messages that circulate"
fi

# While a site is inside for long, or while no site waits, other messages go on. No waiting site could have been served.
"$DIBS" sim ricart-agrawala-robust --sites 100 --closed --hold 600 --entries 3 --warmup 0 >"$dir/out" 2>"$dir/err"
tell $? "a long stay inside is not taken for messages that circulate"
"$DIBS" sim le-lann --sites 1000 --rate 3e-10 --entries 3 --warmup 0 --seed 2 >"$dir/out" 2>"$dir/err"
tell $? "steps made while no site waits are not taken for messages that circulate"

# One site enters 100,000 times before the first message can arrive. That is no warm-up.
"$DIBS" sim suzuki-kasami --sites 10 --closed --hold 0.00001 --entries 20k >"$dir/out" && grep -q 'messages per entry  *10  ' "$dir/out"
tell $? "the warm-up lasts until all sites are served"

# The unit of time does not matter: the same run in three units gives the same figures. (Quantiles have an error of 1%.)
for unit in 1e-12 1 1e12; do
    "$DIBS" sim raymond --rate "$(awk -v u=$unit 'BEGIN { print 1 / u }')" --delay exp:$unit --hold $unit --entries 2k --format json |
        awk -F '[:,] *' -v u=$unit '/"messages_per_entry":/ || /"utilisation":/ { print $1, $2 }
            /"wait_(mean|p50|p95|p99)"/ { printf "%s %.1f\n", $1, $2 / u }' >"$dir/unit.$unit"
done
awk 'FNR == NR { v[$1] = $2 } { d = $2 - v[$1]; if (d < 0) d = -d; if (d > 0.012 * v[$1]) bad = 1; n++ } END { exit bad || n != 12 }' \
    "$dir/unit.1" "$dir/unit.1e-12" >"$dir/out" && awk 'FNR == NR { v[$1] = $2 } { d = $2 - v[$1]; if (d < 0) d = -d
    if (d > 0.012 * v[$1]) bad = 1 } END { exit bad }' "$dir/unit.1" "$dir/unit.1e12"
tell $? "the unit of time does not matter"

# An algorithm that relies on sites that stay alive says so, rather than which fact of the program no longer holds.
(cd "$dir" && ! "$DIBS" sim maekawa --rate 0.05 --crash-rate 0.01 --absence 5 >out 2>err) &&
    grep -q 'it relies on "alive" (no site stops), and a site has crashed' "$dir/err"
tell $? "an assumption that a failure breaks is named"

# Near saturation 2,000 entries are too few: said in text and JSON. --precision takes as many as it needs.
sim() { "$DIBS" sim central --sites 500 --rate 0.0018 --delay 0 --hold exp:1 --entries 2k "$@"; }
sim >"$dir/out" && grep -q '^Successive waiting times depend on each other' "$dir/out" && sim --format json | grep -q '"correlated": true' &&
    sim --format json | grep -q '"converged": false' && sim --format csv | grep -q ',no$' &&
    sim --precision 5% >"$dir/out" && ! grep -q 'depend on each other' "$dir/out" && grep -q '^[0-9]*000 entries measured' "$dir/out" &&
    ! grep -q '^2000 entries' "$dir/out"
tell $? "a run that is too short for its intervals says so, and --precision lengthens it"

# The result says everything that was run, in every format.
run() { "$DIBS" sim raymond --set tree=star --sites 6 --rate 0.02 --zipf 1.5 --burst 5,20 --order fifo --delay uniform:0,2 --hold exp:0.2 --bound 3 \
    --entries 300 --warmup 7 --seed 5 "$@"; }
run >"$dir/out" && grep -q '^raymond, 6 sites, exclusive; load rate:0.02, delay uniform:0,2, hold exp:0.2, seed 5$' "$dir/out" &&
    grep -q '^with options tree=star, spread zipf:1.5, burst 5,20, order fifo, bound 3$' "$dir/out" && run --format json >"$dir/json" &&
    for pair in options:'"tree=star"' sites:6 rate:0.02 spread:'"zipf:1.5"' burst:'"5,20"' order:'"fifo"' bound:3 entries:300 warmup:7 seed:5; do
        grep -q "\"${pair%%:*}\": ${pair#*:},\$" "$dir/json" || break
    done && run --format csv | sed -n 2p | grep -q '^raymond,tree=star,6,exclusive,open,0.02,zipf:1.5,"5,20",,,,,"uniform:0,2",fifo,3,exp:0.2,,,,,,,,,300,7,,5,'
tell $? "the result says what was run"

# Outputs: devices, pipes and links are written through, - is standard output, and the umask decides.
draw() { "$DIBS" sim raymond --sites 3 --closed --entries 5 --warmup 0 "$@"; }
draw --svg "$dir/plain.svg" >"$dir/out"
if mknod "$dir/null" c 1 3 2>/dev/null; then # only root may make a device
    draw --svg "$dir/null" >"$dir/out" && [ -c "$dir/null" ]
    tell $? "a device stays a device"
fi
draw --svg - 2>"$dir/err" | cmp - "$dir/plain.svg" && grep -q 'messages per entry' "$dir/err" && draw --svg /dev/stdout 2>"$dir/err" | grep -q '</svg>'
tell $? "- and /dev/stdout are standard output"
mkfifo "$dir/pipe" && { cat "$dir/pipe" >"$dir/piped" & } && draw --svg "$dir/pipe" >"$dir/out" && wait && cmp "$dir/piped" "$dir/plain.svg" && [ -p "$dir/pipe" ]
tell $? "a pipe is written through"
: >"$dir/real.svg" && chmod 640 "$dir/real.svg" && ln -s real.svg "$dir/link.svg" && ln -s new.svg "$dir/dangling.svg" && draw --svg "$dir/link.svg" >"$dir/out" &&
    [ -L "$dir/link.svg" ] && cmp "$dir/real.svg" "$dir/plain.svg" && [ "$(stat -c %a "$dir/real.svg")" = 640 ] &&
    draw --svg "$dir/dangling.svg" >"$dir/out" && cmp "$dir/new.svg" "$dir/plain.svg"
tell $? "links are followed, and a file keeps its mode"
(umask 027 && draw --save "$dir/new.txt" >"$dir/out") && [ "$(stat -c %a "$dir/new.txt")" = 640 ]
tell $? "a new file has the mode that the umask leaves"
for command in "sim raymond --closed --entries 1000M --svg" "sim raymond --closed --entries 1000M --save" "sweep raymond --closed --entries 1000M --out" \
    "check ricart-agrawala --sites 5 --requests 5 --save"; do
    # shellcheck disable=SC2086 # a list of words
    rejects "${command##* } $dir/no/where: No such file or directory" $command "$dir/no/where"
done

# What cannot be is said in one line, with status 2, and nothing else happens.
printf '0 1\n1 9\n' >"$dir/bad.script"
printf '1 2\n3\n' >"$dir/bad.matrix"
printf '1 2 x\n' >"$dir/bad.rates"
load="no load is given: it takes one of --rate R, --rates FILE, --closed and --script FILE"
times="it takes const:D, uniform:FROM,TO, exp:MEAN or lognormal:MEAN,SIGMA"
rejects "$load" sim raymond
rejects "$load" sim raymond --closed --rate 1
rejects "--think and --requesters go with --closed" sim raymond --rate 1 --think 3
rejects "--zipf, --hot and --burst go with --rate" sim raymond --closed --zipf 1
rejects "--requesters 11 is not possible with 10 sites" sim raymond --closed --requesters 11
rejects "--hot 0.5,10 is not possible; it takes SHARE,SITES, as in 0.5,1, with fewer sites than there are" sim raymond \
    --rate 1 --hot 0.5,10
rejects "--burst 1,2 is not possible; it takes FACTOR,LENGTH, as in 5,20, with a factor above 1" sim raymond --rate 1 --burst 1,2
rejects "--zipf 11 is not possible; it takes a number from 0 to 10" sim raymond --rate 1 --zipf 11
rejects "--delay: \"uniform:2,1\" is no time; $times, or matrix:FILE" sim raymond --closed --delay uniform:2,1
rejects "--delay: $dir/bad.matrix:2: a row of 1 numbers; there are 2 sites" sim raymond --closed --sites 2 --delay "matrix:$dir/bad.matrix"
rejects "--hold: \"-1\" is no time; $times" sim raymond --closed --hold -1
rejects "--think: \"soon\" is no time; $times" sim raymond --closed --think soon
rejects "--script: $dir/bad.script:2: there is no such site; sites are numbered from 0" sim raymond --script "$dir/bad.script" --sites 9
rejects "--rates: $dir/bad.rates: it takes 3 numbers, 0 or more, one for each site; number 3 is wrong or missing" sim raymond \
    --sites 3 --rates "$dir/bad.rates"
rejects "4000000 entries were made while the same messages were in flight: --hold and --think are too short beside --delay; take longer ones" \
    sim suzuki-kasami --closed --hold 0
rejects "1000001 demands queue at site 2, and 1 were served at all sites: the rate is far above what can be served; take a lower rate, a shorter --hold, or --closed for full load" \
    sim raymond --rate 1e7 --delay exp:1e-9
rejects "at time 1.3776e+13 the clock moves in steps of 0.0031, which is too coarse for a time of 0.1; take fewer --entries, a higher rate or longer times" \
    sim raymond --rate 1e-12
rejects "--delay: \"1e-13\" is out of range; a time is 0 or from 1e-12 to 1e+12, and SIGMA is at most 10, or matrix:FILE" sim raymond --closed --delay 1e-13
rejects "--precision 200% is not possible; it takes a share such as 1% or 0.01, below 1" sim raymond --closed --precision 200%
rejects "--precision repeats the run; leave out --log, --save and --svg" sim raymond --closed --precision 1% --save "$dir/x"
rejects "--readers 1.5 is not possible; it takes a number from 0 to 1" sim ricart-agrawala --closed --readers 1.5
rejects "lamport relies on FIFO channels; leave out --order any" sim lamport --closed --order any
rejects "ricart-agrawala-implicit relies on a bound on delays; take const:D or uniform:A,B, and a bound T that they keep" \
    sim ricart-agrawala-implicit --closed --delay exp:1
rejects "--log $dir/no/where: No such file or directory" sim raymond --closed --log "$dir/no/where"
rejects "--entries 0 is not possible; it takes a whole number from 1 to 1000000000000000" sim raymond --closed --entries 0
rejects "no load is given: it takes one of --rate LIST, --rates FILE and --closed" sweep raymond
rejects "--rate 1..0.1/3 is not possible; it takes A,B,C or FROM..TO/STEPS, as in 0.001..1/10" sweep raymond --rate 1..0.1/3
rejects "unknown experiment \"singal-limits\"; did you mean \"singhal-limits\"? (dibs paper list shows all)" paper singal-limits
echo "1..$number"
