#!/bin/sh
# Machines by their names: daemons that find each other through a file of hosts, which changes while they run. It needs root,
# to put that file in the place of the machine's.
# Invariant: I21.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports
export RESOLV_MULTI=on # a name may stand for several addresses
cat >"$dir/hosts" <<END
127.0.0.1 localhost
127.0.0.2 ant.test
127.0.0.3 bee.test
127.0.0.4 cat.test
127.0.0.6 dog.test
192.0.2.1 far.test
127.0.0.1 both.test
192.0.2.1 both.test
END

# shellcheck disable=SC2016 # expanded by the inner shell
with_hosts='mount --bind "$1" /etc/hosts && shift && exec "$@"'
real=$DIBS
DIBS=$dir/dibs
cat >"$DIBS" <<END
#!/bin/sh
exec unshare -m sh -c '$with_hosts' sh "$dir/hosts" "$real" "\$@"
END
chmod +x "$DIBS"
if ! "$DIBS" --version >"$dir/out" 2>&1; then
    tell 0 "names of machines # SKIP their file cannot be replaced: $(head -n 1 "$dir/out")"
    echo "1..$number"
    exit 0
fi

# Status 2, nothing on stdout, and this text on stderr.
rejects() { # TEXT ARGUMENT...
    text=$1
    shift
    "$DIBS" serve --check-config --socket "$dir/never" "$@" >"$dir/out" 2>"$dir/err"
    [ $? = 2 ] && [ ! -s "$dir/out" ] && grep -qF -- "$text" "$dir/err"
    tell $? "refuses to serve: $text"
    rm -f "$dir/out" "$dir/err"
}

rejects "--clients: far.test is not on loopback; without a key" --clients far.test:$base
rejects "--clients: both.test is not on loopback; without a key" --clients both.test:$base
rejects "--members: far.test is not on loopback" --name ant --members ant=ant.test:$base,bee=far.test:$base
rejects "--http: nowhere.test is not known here" --http nowhere.test:$base
rejects '"127.1" is not an address' --clients 127.1:$base

# --------------------------------------------------------------------------------------------- without a key: loopback

members=ant=ant.test:$base,bee=bee.test:$base,cat=cat.test:$base
for name in ant bee cat; do
    serve $name --name $name --members $members --lease 4000
done
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat
tell $? "members meet by the names of their machines"

end_daemon bee
sed 's/127.0.0.3/127.0.0.5/' "$dir/hosts" >"$dir/moved"
cat "$dir/moved" >"$dir/hosts" # the same file, so that all see it
serve bee --name bee --members $members --lease 4000
until_true is_ready bee &&
    until_true "$DIBS" lock --socket "$dir/ant" moved --wait 20 -- "$DIBS" holders --socket "$dir/bee" moved
tell $? "a machine changes its address, and is found there"
"$DIBS" member list --socket "$dir/cat" | grep -q "bee.test:$base"
tell $? "and is called by its name all the while"
"$DIBS" member add dog=dog.test:$base --socket "$dir/ant" >"$dir/out" 2>&1
[ $? = 1 ] && grep -q "the addresses of members are numbers on loopback" "$dir/out"
tell $? "without a key, members are added by numbers"
rm -f "$dir/out"

sed 's/127.0.0.5/192.0.2.1/' "$dir/hosts" >"$dir/moved"
cat "$dir/moved" >"$dir/hosts"
end_daemon bee
until_true grep -q "bee: its name is not on loopback only, and this member has no key" "$dir/ant.log"
tell $? "a name that leads away from this machine is not followed"
end_daemon ant cat

# ---------------------------------------------------------------------------------------------------------- with a key

"$DIBS" keygen "$dir/key"
base=$((base + 1))
serve eel --name eel --members eel=ant.test:$base --clients localhost:$((base + 1)) --key "$dir/key" --lease 4000
until_true is_ready eel && "$DIBS" lock far --connect localhost:$((base + 1)) --key "$dir/key" --wait 20 -- true
tell $? "a client finds a daemon by the name of its machine"
grep -q "listens on 127.0.0.2, the address of ant.test on this machine, which no other machine can reach" "$dir/eel.log"
tell $? "a machine whose own name is on loopback is told so"
"$DIBS" member add fox=dog.test:$base --socket "$dir/eel" >"$dir/out" &&
    serve fox --join --name fox --members eel=ant.test:$base,fox=dog.test:$base --key "$dir/key" --lease 4000 &&
    until_true is_ready fox
tell $? "a member is added by the name of its machine"
end_daemon eel fox

base=$((base + 2))
serve gnu --name gnu --members gnu=ant.test:$base,owl=nowhere.test:$base --key "$dir/key"
until_true grep -q "owl: nowhere.test is not known here" "$dir/gnu.log"
tell $? "a machine that is not known yet is waited for, and that is told"
end_daemon gnu
tell $? "and a daemon that waits for it can be ended"
echo "1..$number"
