#!/bin/sh
# Leaders with values, with three daemons: dibs lead, dibs leader, and what users of other systems complain about: a campaign that
# succeeds after its session is gone, two leaders at once, and a new leader at every rolling restart.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
start() { # MEMBER...
    for member; do
        serve "$member" --name "$member" --members "$members"
    done
}
are_ready() { # MEMBER...
    for member; do
        is_ready "$member" || return 1
    done
}

# What every leader runs. It can run once at a time: another one that is there is an overlap. The lock on the file ends with the last
# process that has it open, even by SIGKILL.
cat >"$dir/work" <<'END'
exec 8>>"$1/one"
flock -n 8 || echo "$DIBS_FENCE" >>"$1/overlaps"
echo "$DIBS_FENCE $2" >>"$1/terms"
exec sleep 600
END
lead() { # VALUE MEMBER [OPTION...]
    value=$1
    member=$2
    shift 2
    "$DIBS" lead scheduler --value "$value" --socket "$dir/$member" "$@" -- sh "$dir/work" "$dir" "$value" 2>"$dir/$value.err" &
    echo $! >"$dir/$value.pid"
    started="$started $!"
}
leads() { # VALUE: it does, according to every member that is ready
    for each in ant bee cat; do
        ! is_ready "$each" || [ "$("$DIBS" leader scheduler --socket "$dir/$each" 2>/dev/null)" = "$1" ] || return 1
    done
}
waits() { # MEMBER COUNT
    [ "$("$DIBS" waiters scheduler --socket "$dir/$1" | grep -c "member $1 .*client")" = "$2" ]
}
is_last() { # LINE: the last that the follower has printed
    [ "$(tail -n 1 "$dir/followed")" = "$1" ]
}
pid() { # VALUE
    cat "$dir/$1.pid"
}

# ------------------------------------------------------------------------------------------------- values, and who sees them

# The leader that campaigns before there is a daemon.
lead 10.0.0.1:8080 ant
start ant bee cat
until_true are_ready ant bee cat
until_true leads 10.0.0.1:8080
tell $? "a leader that has begun before its daemon leads, and every member tells its value"
until_true test -s "$dir/terms"
fence=$(cut -d' ' -f1 "$dir/terms")
"$DIBS" leader scheduler --format json --socket "$dir/bee" >"$dir/out"
grep -q "\"leads\": true, \"fence\": $fence, \"value\": \"10.0.0.1:8080\", \"member\": \"ant\"" "$dir/out"
tell $? "as JSON with its member and its fence, which the command finds in DIBS_FENCE"
"$DIBS" holders scheduler --socket "$dir/cat" >"$dir/out" && grep -q "fence $fence .*value 10.0.0.1:8080" "$dir/out"
tell $? "dibs holders shows the value"
"$DIBS" leader nothing --socket "$dir/bee" >"$dir/out" 2>"$dir/err"
[ $? = 112 ] && [ ! -s "$dir/out" ] && grep -qx 'dibs: there is no leader "nothing"' "$dir/err"
tell $? "without a leader, dibs leader prints nothing and ends with 112"
"$DIBS" leader nothing --format json --socket "$dir/bee" >"$dir/out"
[ $? = 112 ] && grep -q '"leads": false, "fence": 0, "value": ""' "$dir/out"
tell $? "as JSON it says so"
"$DIBS" leader nothing --socket "$dir/nowhere" 2>"$dir/err"
[ $? = 115 ]
tell $? "without a daemon it ends with 115"

"$DIBS" watch 'odd*' --socket "$dir/bee" >"$dir/watched" 2>&1 &
started="$started $!"
odd=$(printf 'a\033[31m\\b\tc\342\200\256d\377\303\244')
shown='a\x1b[31m\\b\x09c\xe2\x80\xaed\xff'$(printf '\303\244')
odd() {
    "$DIBS" lead odd --value "$odd" --socket "$dir/ant" -- "$DIBS" leader odd --socket "$dir/cat" >"$dir/out" &&
        [ "$(cat "$dir/out")" = "$shown" ]
}
odd
tell $? "what a terminal would obey is escaped, and so is what is no UTF-8"
until_true sh -c "'$DIBS' lead odd --value x --socket '$dir/ant' -- true; grep -q 'granted .*  value x\$' '$dir/watched'"
tell $? "dibs watch shows the value of another member's client"
"$DIBS" lock plain --socket "$dir/ant" -- "$DIBS" leader plain --socket "$dir/bee" >"$dir/out" && [ "$(cat "$dir/out")" = - ]
tell $? "a holder without a value is a dash"
long=$(head -c 4096 /dev/zero | tr '\0' x)
"$DIBS" lead long --value "x$long" --socket "$dir/ant" -- true 2>"$dir/err"
[ $? = 2 ] && grep -qx 'dibs: --value has 4097 bytes, and at most 4096 are possible' "$dir/err"
tell $? "a value of more than 4096 bytes is refused"
[ "$("$DIBS" lead long --value "$long" --socket "$dir/ant" -- "$DIBS" leader long --socket "$dir/bee")" = "$long" ]
tell $? "4096 bytes are possible"

# --------------------------------------------------------------------------------------------------------------- changes

"$DIBS" leader scheduler --follow --socket "$dir/cat" >"$dir/followed" 2>"$dir/followed.err" &
started="$started $!"
"$DIBS" leader scheduler --follow --format json --socket "$dir/bee" >"$dir/followed.json" 2>/dev/null &
started="$started $!"
until_true is_last 10.0.0.1:8080
tell $? "dibs leader --follow begins with the leader"

lead b bee
until_true waits bee 1
kill -TERM "$(pid 10.0.0.1:8080)"
wait "$(pid 10.0.0.1:8080)"
[ $? = 143 ]
tell $? "TERM ends the leader's command, and dibs lead"
until_true is_last b && until_true leads b
tell $? "and hands the lead over"

# A campaign whose process is gone.
lead ghost ant
until_true waits ant 1
kill -KILL "$(pid ghost)"
until_true waits ant 0
tell $? "a candidate that is killed waits no longer"
kill -TERM "$(pid b)"
wait "$(pid b)"
until_true is_last ""
"$DIBS" leader scheduler --socket "$dir/ant" 2>/dev/null
[ $? = 112 ] && ! grep -q ghost "$dir/terms"
tell $? "and never leads: there is no leader, and the follower prints an empty line"

# A campaign whose daemon is gone, and which could not come back in time.
lead first bee
until_true is_last first
lead late ant --keep 1
until_true waits ant 1
kill -STOP "$(pid late)"
kill -KILL "$(cat "$dir/ant.pid")"
wait "$(cat "$dir/ant.pid")" 2>/dev/null
until_true are_ready bee cat
kill -TERM "$(pid first)"
wait "$(pid first)"
until_true is_last "" && ! "$DIBS" leader scheduler --socket "$dir/bee" 2>/dev/null && ! grep -q late "$dir/terms"
tell $? "a campaign that its daemon has taken along does not succeed"
lead next cat
until_true is_last next && until_true leads next
tell $? "others do"
kill -CONT "$(pid late)"
start ant
until_true are_ready ant bee cat
until_true waits ant 1
tell $? "and the candidate begins another one when its daemon is back"

# ---------------------------------------------------------------------------------------------------- never two leaders

kill -KILL "$(pid next)"
until_true is_last late
tell $? "kill -9 of the leader: the next one leads"

lead stopped bee --keep 0
kill -TERM "$(pid late)"
wait "$(pid late)"
until_true is_last stopped
lead after ant
until_true waits ant 1
kill -STOP "$(cat "$dir/bee.pid")"
until_true is_last after
tell $? "the leader's daemon is stopped: the next one leads"
wait "$(pid stopped)"
[ $? = 113 ]
tell $? "and the previous leader has ended, with 113"
kill -CONT "$(cat "$dir/bee.pid")"
until_true are_ready ant bee cat

lead brief bee --keep 0
until_true waits bee 1
kill -TERM "$(pid after)"
wait "$(pid after)"
until_true is_last brief
lead last cat
until_true waits cat 1
kill -KILL "$(cat "$dir/bee.pid")"
wait "$(cat "$dir/bee.pid")" 2>/dev/null
until_true is_last last
tell $? "the leader's daemon is killed, and the view changes: the next one leads"
start bee
until_true are_ready ant bee cat

# -------------------------------------------------------------------------------------------------------- rolling restart

before=$(cat "$dir/terms")
for each in ant bee cat; do
    end_daemon $each
    start $each
    until_true are_ready ant bee cat
done
until_true leads last
[ "$(cat "$dir/terms")" = "$before" ] && kill -0 "$(pid last)"
tell $? "a rolling restart of all daemons does not change the leader"
lead final ant
until_true waits ant 1
kill -TERM "$(pid last)"
until_true is_last final
tell $? "the followers, whose daemons were restarted, too, see the next one"

# A leader without a connection: its daemon is killed while it is stopped.
"$DIBS" lead orphan --value still --socket "$dir/ant" -- sleep 600 2>/dev/null &
orphan=$!
started="$started $orphan"
shown() { # STATE LEFT
    "$DIBS" holders orphan --socket "$dir/bee" >"$dir/out" && grep -q "state $1  value still  left ms $2 " "$dir/out"
}
until_true shown held 0
kill -STOP $orphan
kill -KILL "$(cat "$dir/ant.pid")"
wait "$(cat "$dir/ant.pid")" 2>/dev/null
until_true shown orphaned '[1-9][0-9]*'
tell $? "a leader whose daemon is gone still leads, and dibs holders shows for how long its session is kept"
start ant
until_true are_ready ant bee cat
kill -CONT $orphan
until_true shown held 0
tell $? "until it is back"
kill -TERM $orphan
wait $orphan

# A daemon alone, which hands its kept sessions over to the next process.
serve alone
until_true is_ready alone
"$DIBS" lead alone --value here --socket "$dir/alone" -- sh -c 'echo "$DIBS_FENCE"; exec sleep 600' >"$dir/alone.fence" 2>/dev/null &
started="$started $!"
until_true test -s "$dir/alone.fence"
end_daemon alone
serve alone
until_true is_ready alone
"$DIBS" leader alone --format json --socket "$dir/alone" >"$dir/out" && grep -q "\"fence\": $(cat "$dir/alone.fence"), \"value\": \"here\"" "$dir/out"
tell $? "the leader of a daemon alone, which is restarted, keeps its term and its value"

# A leader that does not obey TERM.
"$DIBS" lead deaf --grace 100ms --socket "$dir/ant" -- sh -c 'trap "" TERM; : >"$0"; while :; do sleep 0.1; done' "$dir/deaf" &
deaf=$!
started="$started $deaf"
until_true test -e "$dir/deaf"
kill -TERM $deaf
wait $deaf
[ $? = 137 ]
tell $? "a command that ignores TERM is killed when the grace is over"

kill -TERM "$(pid final)"
wait "$(pid final)"
until_true is_last ""
[ ! -e "$dir/overlaps" ]
tell $? "no command of a leader ran beside that of another"
cut -d' ' -f1 "$dir/terms" | sort -C -n -u
tell $? "every term is larger than all before"
# shellcheck disable=SC2034 # the words of a line
grep -o '"leads": true, "fence": [0-9]*' "$dir/followed.json" | sed 's/.* //' >"$dir/fences"
sort -C -n -u "$dir/fences" && [ -s "$dir/fences" ]
tell $? "and so is every one that a follower prints: none twice, none out of order"
awk '$0 == last && NR > 1 { exit 1 } { last = $0 }' "$dir/followed"
tell $? "a follower prints no line twice in a row"
lines=$(sed '/^$/d' "$dir/followed" | tr '\n' ' ')
[ "$lines" = "10.0.0.1:8080 b first next late stopped after brief last final " ]
tell $? "and it has seen every leader"

rejects 'a leader has one name, and these are 2: leave "M" out (usage: dibs lead NAME [OPTION...] -- COMMAND...)' lead L M -- true
echo "1..$number"
