#!/bin/sh
# Members whose builds speak different versions of the protocol between members (src/link/link.h): a cluster is upgraded to the next
# version and taken back, one daemon after the other, while clients hold locks and wait; two versions apart is refused. The builds of later
# versions are this one with another number: they send a message that this one does not know (NOTE_NEXT).
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if [ "$MODE" != release ]; then
    echo "ok 1 - two builds # SKIP only those of the mode release are made"
    echo "1..1"
    exit 0
fi
take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
version=$(sed -n 's/^ *LINK_VERSION = \([0-9]*\),$/\1/p' src/link/link.h)

build() { # PROGRAM SED FLAG...: of src/node/node.c, and all other objects as they are
    program=$1
    shift
    plant_object src/node/node.c "$@" -O2 && link_planted "$dir/$program" build/release/src/cli/main.o
}
build next "s/^#define NODE_VERSION LINK_VERSION/#define NODE_VERSION (LINK_VERSION + 1)/" &&
    build later "s/^#define NODE_VERSION LINK_VERSION/#define NODE_VERSION (LINK_VERSION + 2)/"
tell $? "there are builds of the next version, and of the one after it"

start() { # NAME PROGRAM
    "$2" serve --name "$1" --members "$members" --socket "$dir/$1" --data "$dir/$1.data" 2>>"$dir/$1.log" &
    started="$started $!"
    echo $! >"$dir/$1.pid"
}
are_ready() { is_ready ant && is_ready bee && is_ready cat; }

# A job at each member holds a lock until it is told to end; another one waits for it at the next member.
job() { # NAME MEMBER NEXT
    # shellcheck disable=SC2016 # expanded by the inner shell
    "$DIBS" lock "$1" --keep 120 --socket "$dir/$2" -- sh -c 'echo "begins $DIBS_FENCE" >>$0.said; until [ -e $0.end ]; do sleep 0.05; done
        echo ends >>$0.said' "$dir/$1" 2>"$dir/$1.err" &
    started="$started $!"
    echo $! >"$dir/$1.job"
    until_true grep -q begins "$dir/$1.said"
    # shellcheck disable=SC2016
    "$DIBS" lock "$1" --keep 120 --socket "$dir/$3" -- sh -c 'echo $DIBS_FENCE >$0' "$dir/$1.next" 2>>"$dir/$1.err" &
    started="$started $!"
    echo $! >"$dir/$1.waiter"
    until_true sh -c "'$DIBS' waiters $1 --socket '$dir/$3' | grep -q ."
}
ended() { # NAME: the job has run once, to its end, and then the request that waited was granted, with a larger fence
    touch "$dir/$1.end"
    wait "$(cat "$dir/$1.job")" && [ "$(grep -c begins "$dir/$1.said")" = 1 ] && grep -q ends "$dir/$1.said" &&
        wait "$(cat "$dir/$1.waiter")" && [ "$(cat "$dir/$1.next")" -gt "$(sed -n 's/begins //p' "$dir/$1.said")" ]
}
is_taken() { # NAME MEMBER: no other client is granted it
    "$DIBS" try "$1" --socket "$dir/$2" --quiet -- true
    [ $? = 112 ]
}

for name in ant bee cat; do start $name "$DIBS"; done
until_true are_ready
tell $? "three members of version $version meet"

all_speak() { # MEMBER VERSION: as this member says
    "$DIBS" status --socket "$dir/$1" | grep -qx "protocol $2"
}
replace() { # PROGRAM WORDS
    job "$1.ant" ant bee && job "$1.bee" bee cat && job "$1.cat" cat ant
    tell $? "$2: locks are held at each member, and waited for"
    for name in ant bee cat; do
        end_daemon $name
        start $name "$dir/$1"
        until_true are_ready
        tell $? "$2: $name has its new program, and all take part"
        { [ $name = cat ] || is_taken "$1.ant" cat; } && is_taken "$1.cat" ant && is_taken "$1.bee" bee
        tell $? "$2: the locks are held all the while"
        [ $name = cat ] || { all_speak ant "$version" && all_speak bee "$version"; }
        tell $? "$2: all that members decide together is of version $version meanwhile"
    done
    ended "$1.ant" && ended "$1.bee" && ended "$1.cat"
    tell $? "$2: no job has lost its lock, and the requests that waited are granted"
}
cp "$DIBS" "$dir/this"
replace next "upgrade to version $((version + 1))"
until_true all_speak ant $((version + 1)) && until_true all_speak bee $((version + 1)) && until_true all_speak cat $((version + 1))
tell $? "then all speak version $((version + 1)), and say so"
grep -q "bee: connected; it is older, and the link uses version $version of the protocol" "$dir/ant.log" ||
    grep -q "cat: connected; it is older, and the link uses version $version of the protocol" "$dir/ant.log"
tell $? "the log of a newer member says that another one is older"
tail -n 20 "$dir/cat.log" | grep -q "ant: connected$" && tail -n 20 "$dir/cat.log" | grep -q "bee: connected$"
tell $? "and no more when all are of the same version"
replace this "and back to version $version"

# Two versions apart.
end_daemon cat
start cat "$dir/later"
line="cat speaks version $((version + 2)) of the protocol between members, ant version $version; only one version apart works: upgrade all members to a build with version $((version + 1)) first"
until_true grep -q "cat: cat says: $line" "$dir/ant.log" && until_true grep -q "ant: $line" "$dir/cat.log"
tell $? "two versions apart is refused, and both logs say what to do"
! is_ready cat && is_ready ant && [ "$("$DIBS" lock --socket "$dir/bee" other --wait 30 -- echo inside)" = inside ]
tell $? "the other members go on"
end_daemon ant bee cat

! grep -h "a later version of the protocol than\|no known type\|Assertion" "$dir"/*.log
tell $? "no member was sent a message that it does not know"

echo "1..$number"
