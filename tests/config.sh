#!/bin/sh
# The lease on which the members agree is changed while the service runs: real daemons, `dibs config`.
# Invariants: I18, I23.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
begin() { # MEMBER LEASE [OPTION...]
    begun=$1 lease=$2
    shift 2
    serve "$begun" --name "$begun" --members "$members" --lease "$lease" "$@"
}
config() { # MEMBER WORD...
    at=$1
    shift
    timeout 120 "$DIBS" config "$@" --socket "$dir/$at" >"$dir/out" 2>"$dir/err"
}
uses() { # MEMBER LEASE
    "$DIBS" status --socket "$dir/$1" | grep -q "^lease ms $2\$"
}
all_use() { # LEASE
    for member in ant bee cat; do until_true uses $member "$1" || return 1; done
}
says() { # PATTERN: the last command printed that
    grep -q "$1" "$dir/out" "$dir/err"
}

begin ant 4000 --clients "127.0.0.1:$((base + 10))"
begin bee 4000
begin cat 4000
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat
tell $? "three members are ready"

config bee show && says '^lease 4000, from the members. configurations$' && says '^    4000 in the configuration of ant, bee, cat$'
tell $? "before it is set, the lease is that of the configurations"

# A lock is held all the while, and no other client gets it.
# shellcheck disable=SC2016 # expanded by the inner shell
"$DIBS" lock held --socket "$dir/bee" -- sh -c ': >"$0"; while [ -e "$0" ]; do sleep 0.05; done; echo "$DIBS_FENCE" >"$0.ended"' "$dir/held" 2>"$dir/holder.err" &
holder=$!
started="$started $holder"
until_true test -e "$dir/held"

config cat set lease 1500 && says '^lease 1500, agreed in view .* at member cat$' && all_use 1500
tell $? "a shorter lease is set, at any member, and all use it"
config ant set lease 3000 && says '^lease 3000, agreed' && all_use 3000
tell $? "and a longer one"
timeout 60 "$DIBS" try held --socket "$dir/ant" -- true 2>"$dir/err"
[ $? != 0 ] && grep -q '"held" is not free' "$dir/err" && kill -0 $holder
tell $? "the lock was held all the while"
grep -q 'audit: config: client .*: set lease 1500' "$dir/cat.log" && grep -q 'the lease is 3000 ms, set by .* at member ant$' "$dir/bee.log"
tell $? "the audit trail has who did it, and the log of each member says it"

config ant set lease 50
[ $? = 2 ] && says 'from 100 to 60000'
tell $? "a lease that is too short is refused"
config ant set leash 500
[ $? = 2 ] && says 'there is no setting "leash"'
tell $? "and so is another setting"
"$DIBS" config set lease 500 --connect "127.0.0.1:$((base + 10))" >"$dir/out" 2>"$dir/err"
[ $? = 2 ] && says 'takes an operator' && uses ant 3000
tell $? "only an operator may change it"

# Two operators at once: one of them has it, and the other one is told, unless it came when the first change had ended.
for member in ant bee; do
    ms=$([ $member = ant ] && echo 2500 || echo 2600)
    timeout 120 "$DIBS" config set lease "$ms" --socket "$dir/$member" >"$dir/set.$ms" 2>&1 &
    eval "setter$ms=$!"
done
# shellcheck disable=SC2154 # set by eval
wait "$setter2500"
echo $? >"$dir/status.2500"
# shellcheck disable=SC2154
wait "$setter2600"
echo $? >"$dir/status.2600"
now=$("$DIBS" config show --socket "$dir/cat" | sed -n 's/^lease \([0-9]*\), agreed in view.*/\1/p')
other=$((5100 - now))
[ "$(cat "$dir/status.$now")" = 0 ] && all_use "$now" && { [ "$(cat "$dir/status.$other")" = 0 ] || grep -q 'being changed already\|meanwhile' "$dir/set.$other"; }
tell $? "of two changes at once, one is made, and the other one is told"
config ant set lease 3000 && all_use 3000
tell $? "the next change is made as ever"

# Members are restarted, one after the other, and their files have another lease.
end_daemon cat
begin cat 3500
until_true is_ready cat && uses cat 3000
tell $? "a member that is restarted uses the agreed lease, whatever its file says"
until_true sh -c "'$DIBS' config show --socket '$dir/ant' | grep -q '3500 in the configuration of cat'"
tell $? "config show names the members whose files differ"
config bee unset lease
[ $? = 2 ] && says 'the configurations differ: lease 4000 on bee, 3500 on cat'
tell $? "and then the file's value cannot be taken back"

# A member that was never there.
members="$members,dog=127.0.0.1:$((base + 3))"
"$DIBS" member add "dog=127.0.0.1:$((base + 3))" --socket "$dir/ant" >"$dir/out" 2>"$dir/err"
begin dog 3000 --join
until_true is_ready dog && uses dog 3000
tell $? "a new member gets the lease with the view that admits it"

rm "$dir/held"
wait $holder
[ $? = 0 ] && [ -s "$dir/held.ended" ]
tell $? "the holder has ended with its lock"

# All of them, at once.
end_daemon ant bee cat dog
for member in ant bee cat dog; do begin $member 3500; done
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat && all_use 3000
tell $? "the lease outlives a restart of all members"
until_true is_ready dog && until_true sh -c "'$DIBS' config show --socket '$dir/ant' | grep -q '3500 in the configuration of ant, bee, cat, dog'" &&
    config ant unset lease && says '^lease 3500, agreed as in the files in view' && all_use 3500
tell $? "when the files agree, their value is taken back"

end_daemon dog cat
kill -KILL "$(cat "$dir/bee.pid")"
until_true sh -c "! '$DIBS' status --socket '$dir/ant' | grep -q '^ready yes'"
config ant set lease 1000
[ $? = 2 ] && says 'locks are not granted just now'
tell $? "without a majority nothing is changed, and that is said"

# A build that says nothing of agreed settings, as earlier ones.
if [ "$MODE" = release ] && plant src/serve/serve.c 's/\.invite = serve_invite/.unsettled = true, &/'; then
    members="eel=127.0.0.1:$((base + 20)),fox=127.0.0.1:$((base + 21)),gnu=127.0.0.1:$((base + 22))"
    begin eel 2000
    begin fox 2000
    new=$DIBS DIBS=$dir/dibs
    begin gnu 2000
    DIBS=$new
    until_true is_ready eel && until_true is_ready fox && until_true is_ready gnu
    config eel set lease 1000
    [ $? = 2 ] && says 'gnu is of an earlier build' && uses fox 2000
    tell $? "nothing is changed while a member of an earlier build takes part"
    end_daemon gnu
    begin gnu 2000
    until_true is_ready gnu
    until_true config eel set lease 1000
    tell $? "when it is upgraded, the lease can be changed"
fi

echo "1..$number"
