#!/bin/sh
# The replay of a lock: three real daemons, clients at all of them, and what dibs replay makes of what the daemons have recorded. From the
# midst, and with every algorithm: test_replay; on the page: tests/browser/room.mjs.
# Invariants: I15, I34.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports
three="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
for member in ant bee cat; do # a long lease: the view stays, however busy the machine is
    serve $member --name $member --members "$three" --lease 30000
done
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat
tell $? "three members"

"$DIBS" replay backup --socket "$dir/ant" >"$dir/out" 2>"$dir/err"
[ $? = 1 ] && [ ! -s "$dir/out" ] && grep -q 'there is no replay of "backup": no member has used this lock since the view began' "$dir/err"
tell $? "of a lock that was not used there is none"

for member in ant bee cat ant bee cat ant bee cat ant bee cat; do
    "$DIBS" lock backup --socket "$dir/$member" -- sh -c "echo \"\$DIBS_FENCE $member\"" >>"$dir/granted" &
    started="$started $!"
done
until_true sh -c "[ \$(wc -l <\"$dir/granted\") = 12 ]"
tell $? "twelve clients at three members were granted a lock"
replayed() { # MEMBER: the replay, when nothing happens any more
    "$DIBS" replay backup --socket "$dir/$1" >"$dir/replay" 2>"$dir/err"
}
settled() { # no site is inside, nobody waits
    replayed ant && [ "$(grep -c '^release' "$dir/replay")" = "$(grep -c '^recorded.* enters' "$dir/replay")" ]
}
until_true settled
grep -q 'as the algorithm has it' "$dir/err"
tell $? "what the members have recorded is what the algorithm does"
# A stay of a site may serve several clients of its member; and the order of the members' stays is that of the fences.
sort -n "$dir/granted" | cut -d' ' -f2 | uniq >"$dir/order"
entered() { # the members that enter in the replay, in order
    sites=$(sed -n '1s/.* ant is site \([0-9]\), bee is site \([0-9]\), cat is site \([0-9]\).*/\1 \2 \3/p' "$dir/replay")
    awk -v sites="$sites" 'BEGIN { split(sites, s); name[s[1]] = "ant"; name[s[2]] = "bee"; name[s[3]] = "cat" }
        /^request/ { at = $2 } /^deliver/ { at = $3 } /^recorded.* enters/ { print name[at] }' "$dir/replay" | uniq
}
entered >"$dir/entered"
cmp "$dir/order" "$dir/entered"
tell $? "its entries are the grants that the clients have seen, in the order of their fences"
replayed bee && entered | cmp - "$dir/order" && replayed cat && entered | cmp - "$dir/order"
tell $? "the other members are told the same"
rm -f "$dir/err"

"$DIBS" scenario --print "$dir/replay" >"$dir/out" 2>&1
! grep -q 'NOT AS RECORDED' "$dir/out" && grep -q ENTERS "$dir/out"
tell $? "it is a scenario, which dibs scenario plays"
sed '0,/^recorded \([0-9]*\) enters/s//recorded \1 -/' "$dir/replay" >"$dir/tampered"
"$DIBS" scenario --print "$dir/tampered" 2>&1 | grep -q 'NOT AS RECORDED: the site has not entered, and the algorithm lets it'
tell $? "a record that was tampered with is noticed: an entry"
sed '0,/^\(recorded [0-9]* [-e][a-z]* 0\)[0-3]/s//\14/' "$dir/replay" >"$dir/tampered"
"$DIBS" scenario --print "$dir/tampered" 2>&1 | grep -q 'NOT AS RECORDED'
tell $? "a message"
# (Many a request makes no difference when it arrives. A token does.)
awk '/^deliver/ && !done { move = $0; getline; if (/ enters /) { done = 1; next } print move } { print }' "$dir/replay" >"$dir/tampered"
"$DIBS" scenario --print "$dir/tampered" 2>&1 | grep -q 'NOT AS RECORDED'
tell $? "an arrival that is left out"

"$DIBS" replay backup --socket "$dir/ant" --svg "$dir/out.svg" 2>/dev/null && grep -q '<svg' "$dir/out.svg"
tell $? "and it is drawn"
i=0
while [ $i -lt 40 ]; do
    printf 'LOCK hot\nUNLOCK hot\n%.0s' 1 2 3 4 5 6 7 8 9 10 | redis-cli -s "$dir/ant" >/dev/null &
    a=$!
    printf 'LOCK hot\nUNLOCK hot\n%.0s' 1 2 3 4 5 6 7 8 9 10 | redis-cli -s "$dir/bee" >/dev/null
    wait $a
    i=$((i + 1))
done
"$DIBS" replay hot --socket "$dir/cat" >"$dir/replay" 2>"$dir/err"
tell $? "of a lock that was used much there is one, too"
if grep -q '^state ' "$dir/replay"; then
    grep -q 'the run begins in the midst; the page plays' "$dir/err" && grep -q '^# It begins .* in the midst: what was before is forgotten' "$dir/replay" &&
        ! "$DIBS" scenario --print "$dir/replay" >"$dir/out" 2>&1 && grep -q 'can be played on the page only' "$dir/out"
else
    grep -q 'as the algorithm has it' "$dir/err"
fi
tell $? "where it begins, it says; and no state from elsewhere is believed outside the page"
echo "1..$number"
