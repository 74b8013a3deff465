#!/bin/sh
# Every count in tests/golden/states.txt and bounds.txt (or in the files that $GOLDEN names) comes out again: if one changes, the protocol has changed. A line
#
#     ricart-agrawala exclusive n=3 requests=1 any 2879 holds [WORD...]
#
# stands for: dibs check ricart-agrawala --rule exclusive --sites 3 --requests 1 --order any. The words:
#
#     set KEY=VALUE    without NEED    lose N    duplicate N    options of dibs check
#     crash N    restart N    resume N    cut N    join N    leave N    in-flight K    starvation    likewise
#     messages M       no run sends more messages, and one sends so many
#     overtaken K      no site that waits is overtaken more often, and one is so often (counting makes more states)
#     slow             not under sanitizers, where lines of many states are left out anyway
cd "$(dirname "$0")/.." || exit 2

few=4000     # states: longer lines are left out under sanitizers
many=400000 # .. and longer ones of the usual files are for the night, which has LARGE=yes: half of the time would be theirs

figure() { # KEY: its value in the JSON on stdin
    sed -n "s/^ *\"$1\": \"*\([^\",]*\)\"*,*\$/\1/p"
}

check_line() { # NUMBER ALGORITHM RULE n=N requests=K ORDER STATES VERDICT [WORD...]
    number=$1
    shift
    line="$*"
    algorithm=$1 rule=$2 sites=${3#n=} requests=${4#requests=} order=$5 states=$6 verdict=$7
    shift 7
    options='' more='' slow=''
    [ "$states" -le $few ] || slow=yes
    while [ $# -gt 0 ]; do
        case $1 in
        set) options="$options --set $2" && shift ;;
        starvation) options="$options --starvation" ;;
        without | lose | duplicate | crash | restart | resume | cut | join | leave | in-flight) options="$options --$1 $2" && shift ;;
        messages) options="$options --messages" more="$more$2" && shift ;;
        overtaken) options="$options --overtakes 200" more="$more$2" && shift ;;
        slow) slow=yes ;;
        esac
        shift
    done
    if [ "$MODE" != release ] && [ -n "$slow" ] || [ "$states" -gt $many ] && [ -z "${GOLDEN:-}${LARGE:-}" ]; then
        echo "ok $number - $line # SKIP slow"
        return
    fi
    # shellcheck disable=SC2086 # a list of words
    json=$("$DIBS" check "$algorithm" --rule "$rule" --sites "$sites" --requests "$requests" --order "$order" $options \
        --threads 1 --format json 2>&1)
    said="$(echo "$json" | figure states) $(echo "$json" | figure verdict)"
    said="$said $(echo "$json" | figure overtaken)$(echo "$json" | figure messages_max)"
    if [ "$said" = "$states $verdict $more" ]; then
        echo "ok $number - $line"
    else
        [ "$said" != "  " ] || said=$json
        printf 'not ok %s - %s\n# dibs check said: %s\n' "$number" "$line" "$said"
    fi
}

# Called by itself for one line; else for all lines, as many at a time as there are processors.
if [ $# -gt 0 ]; then
    check_line "$@"
else
    # shellcheck disable=SC2086 # a list of files
    lines=$(cat ${GOLDEN:-tests/golden/states.txt tests/golden/bounds.txt} | grep '^[a-z]')
    echo "1..$(echo "$lines" | wc -l)"
    echo "$lines" | awk '{ print NR, $0 }' | xargs -P "$(nproc)" -L 1 "$0"
fi
