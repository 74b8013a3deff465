#!/bin/sh
# Whole clusters under faults, each from a seed (dibs soak): all promises are kept; the same seed gives the same run; and
# bugs that are planted are found.
# Invariants: I16, I17, I18, I19, I20, I23, I24, I25, I26, I27, I28, I29, I30, I32, I33, I34, I35, I36, I37.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

seeds=${SOAK_SEEDS:-300}
[ "$MODE" = release ] || seeds=${SOAK_SEEDS:-60}
"$DIBS" soak --seeds "$seeds" --first "${SOAK_FIRST:-1}" >"$dir/said"
tell $? "$seeds seeds, and every promise is kept"
# Ctrl-C, as soon as it is caught: the seed that is running is the last one, and what was done is told. timeout sends the signal twice at once, which
# is one Ctrl-C. Another one, a while later, ends it without a summary: its seed is long.
interrupt() { # SECONDS-BETWEEN COMMAND...
    python3 - "$@" <<'END'
import re, signal, subprocess, sys, time
default = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
soak = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, text=True, preexec_fn=default)
while not int(re.search(r"SigCgt:\s*(\S+)", open("/proc/%d/status" % soak.pid).read())[1], 16) & 1 << signal.SIGINT - 1:
    time.sleep(0.01)
soak.send_signal(signal.SIGINT)
time.sleep(float(sys.argv[1]))
soak.send_signal(signal.SIGINT)
said = soak.communicate()[0]
print(soak.returncode, said)
whole = re.match(r"\d+ of 1000 seeds, 0 failed; .* x real time\n\d+ events", said)
sys.exit(soak.returncode != -signal.SIGINT or not (whole if sys.argv[1] == "0.001" else said == ""))
END
}
test_that "Ctrl-C ends it with a summary, and by the signal" interrupt 0.001 "$DIBS" soak --seeds 1000
test_that "a second Ctrl-C ends it at once" interrupt 0.3 "$DIBS" soak --seeds 1000 --seconds 100000
sed 's/^/# /' "$dir/said"

"$DIBS" soak --roster --seeds $((seeds / 3)) --first "${SOAK_FIRST:-1}" >"$dir/said"
tell $? "$((seeds / 3)) seeds while members come and go"

"$DIBS" soak --rolling --seeds $((seeds / 3)) --first "${SOAK_FIRST:-1}" >"$dir/said"
tell $? "$((seeds / 3)) seeds of one trouble after the other, and clients of all other members lose nothing"
sed 's/^/# /' "$dir/said"

for case in squeeze reborn sharing slots disks alone kept resume hoards roster moves redis several outage hasty lease leaders config exiles agents upgrade versions kinds rights barriers; do
    "$DIBS" soak --focus $case --seeds $((seeds / 10)) --first "${SOAK_FIRST:-1}" >"$dir/said"
    tell $? "$((seeds / 10)) seeds of one hard case: $case"
done

"$DIBS" soak --rolling --focus upgrade --seeds $((seeds / 10)) --first "${SOAK_FIRST:-1}" >"$dir/said"
tell $? "$((seeds / 10)) seeds of one trouble after the other, while clients change the modes of their locks"

"$DIBS" soak --first 77 --seeds 1 --seconds 10 --trace | grep -v "real time" >"$dir/one"
"$DIBS" soak --first 77 --seeds 1 --seconds 10 --trace | grep -v "real time" >"$dir/two"
[ "$(wc -l <"$dir/one")" -gt 50 ] && cmp -s "$dir/one" "$dir/two"
tell $? "the same seed gives the same run"

look_for() { # NAME FILE SED FIRST COUNT WORDS [OPTION]
    number=$((number + 1))
    found=1
    if plant "$2" "$3"; then
        # shellcheck disable=SC2086 # perhaps an option
        timeout 300 "$dir/dibs" soak $7 --first "$4" --seeds "$5" --first-failure >"$dir/said"
        status=$?
        { [ $status = 1 ] && sed -n 1p "$dir/said" | grep -q "^FAILED: seed [0-9]*: .*$6"; } || { [ $status -ge 128 ] && [ "$6" = . ]; }
        found=$?
        [ $status -lt 128 ] || echo "# it crashed, with status $status"
        sed -n 's/^FAILED/# found/p' "$dir/said" | cut -c 1-160
    fi
    if [ $found = 0 ]; then echo "ok $number - found: $1"; else echo "not ok $number - found: $1"; fi
}

test_fails() { # NAME FILE SED TEST
    objects=build/release/tests
    [ -e "$objects/$4.o" ] || make -s "$objects/$4" </dev/null
    plant_object "$2" "$3" -O1 && link_planted "$dir/test" "$objects/$4.o" -lcmocka && ! timeout 60 "$dir/test" >"$dir/tested" 2>&1
    tell $? "$4 fails: $1"
}

try_one() { # NAME FILE SED TEST, or NAME FILE SED FIRST COUNT [OPTION...] WORDS
    case $4 in
    test_*)
        test_fails "$@"
        return
        ;;
    esac
    name=$1 file=$2 sed=$3 first=$4 count=$5
    shift 5
    option=
    while [ "${1#--}" != "$1" ]; do
        [ "$1" != --focus ] || { option="$option $1" && shift; }
        option="$option $1"
        shift
    done
    look_for "$name" "$file" "$sed" "$first" "$count" "$*" "$option"
}

if [ "$MODE" = release ]; then
    each_planted try_one <tests/soak.txt
    # The last of them again: what is printed can be replayed.
    seed=$(sed -n 's/^FAILED: seed \([0-9]*\):.*/\1/p' "$dir/said")
    # shellcheck disable=SC2086 # perhaps an option
    "$dir/dibs" soak $option --first "$seed" --seeds 1 | sed -n 1p >"$dir/again"
    sed -n 1p "$dir/said" | cmp -s - "$dir/again"
    tell $? "a seed that fails fails again, in the same way"
fi

echo "1..$number"
