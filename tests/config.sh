#!/bin/sh
# The lease and the policies on which the members agree are changed while the service runs: real daemons, `dibs config`.
# Invariants: I16, I18, I23.
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

# Policies are set while that lock is held and another client waits for it.
"$DIBS" lock held --socket "$dir/ant" --wait 300 -- sh -c "echo \$DIBS_FENCE >'$dir/waiter.fence'" 2>"$dir/waiter.err" &
waiter=$!
started="$started $waiter"
until_true sh -c "'$DIBS' waiters held --socket '$dir/cat' | grep -q ."
cat >"$dir/new.conf" <<END
# some settings that are not policies are left alone
lease 9000
policy build-*  slots=2   # two at a time
policy h*  algorithm=raymond slots=none
END
config bee set policies "$dir/new.conf" && says '^policies, 2 of them, agreed in view .* at member bee$'
tell $? "policies are set, at any member"
same_policies() { # MEMBER...
    for at; do
        until_true sh -c "'$DIBS' config show policies --socket '$dir/$at' | cmp -s - '$dir/expected'" || return 1
    done
}
cat >"$dir/expected" <<END
policy build-* algorithm=swaroop-singh slots-algorithm=central slots=2
policy h* algorithm=raymond slots-algorithm=central slots=none
END
same_policies ant bee cat
tell $? "all members show them, as a configuration has them"
[ ! -e "$dir/waiter.fence" ] && kill -0 $holder && kill -0 $waiter
tell $? "the lock is held, and waited for, all the while"
twice() { # NAME MEMBER OTHER: a client takes the lock at a member while another one has it, and knows nothing of that one
    "$DIBS" try "$1" --socket "$dir/$2" -- env -u DIBS_LOCKS "$DIBS" try "$1" --socket "$dir/$3" -- true 2>"$dir/err"
}
twice build-a ant bee && twice build-b bee cat && twice build-c cat cat && ! "$DIBS" try h2 --shared --socket "$dir/ant" -- true 2>"$dir/err" &&
    says 'is run by raymond, which does not support sharing'
tell $? "their kinds and algorithms apply at all members"
grep -q 'audit: config: client .*: set policies, digest' "$dir/bee.log" && grep -q 'the policies are others from this view on, set by .* at member bee$' "$dir/cat.log"
tell $? "the audit trail has who did it, and the log of each member says it"
config ant show && says '^    others: [0-9a-f]* in the configuration of ant, bee, cat$'
tell $? "config show tells that the configurations have others"

printf 'policy x slots=4\npolicy y algorithm=raimond\npolicy z slotz=3\n' >"$dir/bad.conf"
config ant set policies "$dir/bad.conf"
[ $? = 2 ] && says 'bad.conf:2: unknown algorithm "raimond"; did you mean "raymond"' && says 'bad.conf:3: unknown part of a policy "slotz"' && same_policies ant bee
tell $? "a file with mistakes is refused, with their lines"
printf '# nothing but a comment\nlease 9000\n' >"$dir/none.conf"
for file in /dev/null "$dir/none.conf"; do
    config ant set policies "$file"
    [ $? = 2 ] && says "^dibs: $file: there is no line \"policy\" in it; --force takes all policies away" && same_policies ant
    tell $? "a file without policies is refused, and the line says what to do ($(basename "$file"))"
done
cp "$dir/expected" "$dir/some"
config bee set policies /dev/null --force && says '^policies, 0 of them, agreed in view' && : >"$dir/expected" && same_policies ant bee cat
tell $? "unless all are to be taken away"
cp "$dir/some" "$dir/expected"
config bee set policies "$dir/expected" --force && same_policies ant bee cat
tell $? "and they can be set again"
awk 'BEGIN { for (k = 0; k < 250; k++) printf "policy a-pattern-of-some-length-%d-* slots=4\n", k }' >"$dir/long.conf"
config ant set policies "$dir/long.conf"
[ $? = 1 ] && says 'at most 12288 are possible' && same_policies cat
tell $? "so are too many"
printf 'policy build-* slots=3\n' | timeout 120 "$DIBS" config set policies - --socket "$dir/cat" >"$dir/out" 2>"$dir/err" && says '^policies, 1 of them' &&
    echo 'policy build-* algorithm=swaroop-singh slots-algorithm=central slots=3' >"$dir/expected" && same_policies ant bee cat
tell $? "they are read from standard input, too"
"$DIBS" config set policies "$dir/new.conf" --connect "127.0.0.1:$((base + 10))" >"$dir/out" 2>"$dir/err"
[ $? = 1 ] && says 'needs an operator' && same_policies ant
tell $? "only an operator may change them"

# A lock with two holders, of three slots. Then it has one.
holders=
for k in 1 2; do
    # shellcheck disable=SC2016 # expanded by the inner shell
    "$DIBS" lock build-x --socket "$dir/bee" -- sh -c ': >"$0"; while [ -e "$0" ]; do sleep 0.05; done' "$dir/slot$k" 2>>"$dir/slots.err" &
    holders="$holders $!"
    started="$started $!"
    until_true test -e "$dir/slot$k"
done
echo 'policy build-* slots=none' >"$dir/none.conf"
config ant set policies "$dir/none.conf" && "$DIBS" try build-x --socket "$dir/cat" -- true 2>"$dir/err"
[ $? != 0 ] && says 'still in use as it was before its policy changed'
tell $? "a lock in use keeps its kind"
rm "$dir/slot1" "$dir/slot2"
# shellcheck disable=SC2086 # a list
wait $holders
tell $? "its holders have not noticed"
! twice build-x cat ant && says '"build-x" is not free'
tell $? "when no client uses it, it has the kind of its policy"

config cat set lease 1500 && says '^lease 1500, agreed in view .* at member cat$' && all_use 1500
tell $? "a shorter lease is set, at any member, and all use it"
config ant set lease 3s && says '^lease 3000, agreed' && all_use 3000
tell $? "and a longer one"
timeout 60 "$DIBS" try held --socket "$dir/ant" -- true 2>"$dir/err"
[ $? != 0 ] && grep -q '"held" is not free' "$dir/err" && kill -0 $holder
tell $? "the lock was held all the while"
grep -q 'audit: config: client .*: set lease 1500' "$dir/cat.log" && grep -q 'the lease is 3000 ms, set by .* at member ant$' "$dir/bee.log"
tell $? "the audit trail has who did it, and the log of each member says it"

config ant set lease 50
[ $? = 1 ] && says 'from 100 to 60000'
tell $? "a lease that is too short is refused"
config ant set leash 500
[ $? = 2 ] && says 'there is no setting "leash"'
tell $? "and so is another setting"
"$DIBS" config set lease 500 --connect "127.0.0.1:$((base + 10))" >"$dir/out" 2>"$dir/err"
[ $? = 1 ] && says 'needs an operator' && uses ant 3000
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
[ $? = 1 ] && says 'the configurations differ: lease 4000 on bee, 3500 on cat'
tell $? "and then the file's value cannot be taken back"
echo 'policy build-* algorithm=swaroop-singh slots-algorithm=central slots=none' >"$dir/expected"
same_policies ant bee cat
tell $? "a member that is restarted has the agreed policies"
end_daemon cat
echo 'policy z* slots=7' >"$dir/cat.conf"
begin cat 3500 --config "$dir/cat.conf"
until_true is_ready cat && same_policies cat
tell $? "also if its file has others"
config bee unset policies
[ $? = 1 ] && says 'the policies in the configurations of bee and cat differ'
tell $? "and then those of the files cannot be taken back"

# A member that was never there.
members="$members,dog=127.0.0.1:$((base + 3))"
"$DIBS" member add "dog=127.0.0.1:$((base + 3))" --socket "$dir/ant" >"$dir/out" 2>"$dir/err"
begin dog 3000 --join
until_true is_ready dog && uses dog 3000 && same_policies dog
tell $? "a new member gets the lease and the policies with the view that admits it"

rm "$dir/held"
wait $holder
[ $? = 0 ] && [ -s "$dir/held.ended" ]
tell $? "the holder has ended with its lock"
wait $waiter
[ $? = 0 ] && [ "$(cat "$dir/waiter.fence")" -gt "$(cat "$dir/held.ended")" ]
tell $? "then the client was granted it that has waited through all of that"

# All of them, at once.
end_daemon ant bee cat dog
for member in ant bee cat dog; do begin $member 3500; done
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat && all_use 3000
tell $? "the lease outlives a restart of all members"
until_true is_ready dog && until_true sh -c "'$DIBS' config show --socket '$dir/ant' | grep -q '3500 in the configuration of ant, bee, cat, dog'" &&
    config ant unset lease && says '^lease 3500, agreed as in the files in view' && all_use 3500
tell $? "when the files agree, their value is taken back"
config ant unset policies && says '^policies, 0 of them, agreed as in the files in view' && : >"$dir/expected" && same_policies ant bee cat dog
tell $? "and their policies"

end_daemon dog cat
kill -KILL "$(cat "$dir/bee.pid")"
until_true sh -c "! '$DIBS' status --socket '$dir/ant' | grep -q '^ready yes'"
config ant set lease 1000
[ $? = 1 ] && says 'locks are not granted just now\|the members have not agreed to it, and may still do so'
tell $? "without a majority nothing is changed, and that is said"
config ant set policies "$dir/new.conf"
[ $? = 1 ] && says 'locks are not granted just now'
tell $? "neither the lease nor the policies"

# A build that says nothing of agreed settings, as earlier ones.
if [ "$MODE" = release ] && plant src/serve/serve.c 's/\.invite = serve_invite/.without_settings = true, &/'; then
    members="eel=127.0.0.1:$((base + 20)),fox=127.0.0.1:$((base + 21)),gnu=127.0.0.1:$((base + 22))"
    begin eel 2000
    begin fox 2000
    new=$DIBS DIBS=$dir/dibs
    begin gnu 2000
    DIBS=$new
    until_true is_ready eel && until_true is_ready fox && until_true is_ready gnu
    config eel set lease 1000
    [ $? = 1 ] && says 'gnu is of an earlier build' && uses fox 2000
    tell $? "nothing is changed while a member of an earlier build takes part"
    config eel set policies "$dir/new.conf"
    [ $? = 1 ] && says 'gnu is of an earlier build'
    tell $? "no policies, either"
    end_daemon gnu
    begin gnu 2000
    until_true is_ready gnu
    until_true config eel set lease 1000
    tell $? "when it is upgraded, the lease can be changed"
    config eel set policies "$dir/new.conf"
    tell $? "and the policies"
fi
if [ "$MODE" = release ] && plant src/serve/serve.c 's/\.invite = serve_invite/.algorithms = 1, &/;s/\.algorithms = alg_digest(),//'; then
    members="hen=127.0.0.1:$((base + 30)),ibis=127.0.0.1:$((base + 31))"
    begin hen 2000
    new=$DIBS DIBS=$dir/dibs
    begin ibis 2000
    DIBS=$new
    until_true is_ready hen && until_true is_ready ibis
    config hen set policies "$dir/new.conf"
    [ $? = 1 ] && says 'ibis is of another build, which has other algorithms'
    tell $? "nor beside a build with other algorithms"
fi

echo "1..$number"
