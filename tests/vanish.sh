#!/bin/sh
# A client on another machine that vanishes without a word while it waits for a lock: when it is granted the lock, nobody
# confirms, and the daemon lets it go when its validity ends, long before TCP gives the connection up. Each machine is a
# network namespace of its own.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

net=dibsv$$
vanish_end() {
    suite_end
    ip netns del $net-here 2>/dev/null
    ip netns del $net-there 2>/dev/null
}
trap vanish_end EXIT
if ! { ip netns add $net-here && ip netns add $net-there && ip -n $net-here link add eth0 type veth peer name eth0 netns $net-there &&
    ip -n $net-here addr add 10.78.0.1/24 dev eth0 && ip -n $net-there addr add 10.78.0.2/24 dev eth0 &&
    ip -n $net-here link set lo up && ip -n $net-here link set eth0 up && ip -n $net-there link set eth0 up; } 2>"$dir/net"; then
    tell 0 "a client that vanishes # SKIP no network namespaces: $(sed 1q "$dir/net")"
    echo "1..1"
    exit 0
fi

"$DIBS" keygen "$dir/key"
ip netns exec $net-here "$DIBS" serve --name ant --members ant=10.78.0.1:7400 --key "$dir/key" --clients 10.78.0.1:7411 \
    --socket "$dir/ant" --data "$dir/data" 2>"$dir/ant.log" &
started="$started $!"
until_true is_ready ant
tell $? "a daemon, on a machine of its own"

# shellcheck disable=SC2016 # for the inner shell
"$DIBS" lock --socket "$dir/ant" prize -- sh -c ': >"$0"; while [ -e "$0" ]; do sleep 0.02; done' "$dir/held" &
holder=$!
started="$started $holder"
until_true test -e "$dir/held"
ip netns exec $net-there "$DIBS" lock --connect 10.78.0.1:7411 --key "$dir/key" --keep 0 prize -- sh -c ": >$dir/entered; exec sleep 1000" &
waiter=$!
started="$started $waiter"
until_true sh -c "'$DIBS' waiters prize --socket '$dir/ant' | grep -q exclusive"
tell $? "a client of another machine waits"

"$DIBS" watch 'pr*' --socket "$dir/ant" >"$dir/watched" 2>&1 &
started="$started $!"
is_watched() { "$DIBS" lock --socket "$dir/ant" probe -- true && grep -q probe "$dir/watched"; }
until_true is_watched
kill -STOP $waiter
ip -n $net-there link set eth0 down
rm -f "$dir/held"
wait $holder
until_true grep -q "^[^ ]*  *granted *prize.*member ant" "$dir/watched"
tell $? "it vanishes, and is granted the lock"
[ ! -e "$dir/entered" ]
tell $? "of which it knows nothing"
until_true grep -q "lost  *prize" "$dir/watched" && until_true "$DIBS" lock --socket "$dir/ant" --wait 0 prize -- true
tell $? "it is let go when its validity ends, and others get the lock"
sed 's/^/# /' "$dir/watched"

kill -KILL $waiter
echo "1..$number"
