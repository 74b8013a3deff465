# shellcheck shell=sh
# What the suites share: each begins with  . "$(dirname "$0")/suite.sh"  and goes on in the project's directory, with a
# directory of its own ($dir) that goes when it ends, as does whatever runs in its name ($started, numbers of processes).
# A test is a command, then: tell $? "what is true". No test asserts a time: who waits waits until it is there.
set -u
cd "$(dirname "$0")/.." || exit 2
unset DIBS_SOCKET DIBS_CONNECT DIBS_KEY XDG_RUNTIME_DIR

number=0
started=
dir=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d) # a slow disk would make members look dead

# The lines of a daemon's log about turns that kept the processor for longer than an eighth of the lease (I31). The time for which
# the daemon was off the processor does not count: that depends on what else the machine does.
long_turns() { # from stdin
    sed -n 's/.*a turn took [0-9]* ms, \([0-9]*\) ms of them on the processor.*(an eighth of the lease is \([0-9]*\) ms).*/\1 \2 &/p' |
        while read -r took limit line; do
            [ "$took" -le "$limit" ] || echo "$line"
        done
}

suite_end() {
    long=$([ "${MODE:-release}" != release ] || cat "$dir"/*.log "$dir"/*/*.log 2>/dev/null | long_turns)
    [ -z "$long" ] || echo "not ok $((number + 1)) - no turn of a daemon takes longer than an eighth of the lease: $long"
    # shellcheck disable=SC2086 # a list of numbers
    [ -z "$started" ] || kill -KILL $started 2>/dev/null
    rm -rf "$dir"
}
trap suite_end EXIT
trap 'exit 1' INT TERM

tell() { # STATUS NAME
    number=$((number + 1))
    if [ "$1" = 0 ]; then
        echo "ok $number - $2"
    else
        for said in "$dir/out" "$dir/err"; do # of the last command, if it has left them
            [ ! -e "$said" ] || sed 's/^/# /' "$said"
        done
        echo "not ok $number - $2"
    fi
}

test_that() { # NAME COMMAND...
    name=$1
    shift
    "$@" >"$dir/out" 2>&1
    tell $? "$name"
    rm -f "$dir/out"
}

# Status 2, nothing on stdout, and exactly this line on stderr.
rejects() { # LINE ARGUMENT...
    line=$1
    shift
    "$DIBS" "$@" >"$dir/out" 2>"$dir/err"
    [ $? = 2 ] && [ ! -s "$dir/out" ] && [ "$(cat "$dir/err")" = "dibs: $line" ]
    tell $? "rejects dibs $*"
    rm -f "$dir/out" "$dir/err"
}

# The objects of the program without those of the pure library: the ones whose source is still there, as an older build may
# have left others.
program_objects() {
    find build/release/src -name '*.o' ! -path '*/core/*' ! -path '*/alg/*' | while read -r object; do
        source=${object#build/release/}
        [ ! -e "${source%.o}.c" ] || echo "$object"
    done
}

# The program with a planted bug. The real object of the file is left out.
plant() { # FILE SED
    sed -e "$2" "$1" >"$dir/planted.c"
    if cmp -s "$1" "$dir/planted.c"; then
        echo "# the sed command changes nothing in $1"
        return 1
    fi
    # shellcheck disable=SC2046,SC2086 # lists of words
    ${CC:-cc} -std=c11 -O2 -D_GNU_SOURCE -DDIBS_VERSION='"planted"' -Isrc -Iinclude -I"$(dirname "$1")" -c -o "$dir/planted.o" "$dir/planted.c" &&
        ${CC:-cc} -pthread -o "$dir/dibs" $(program_objects | grep -vx "build/release/${1%.c}.o") "$dir/planted.o" \
            build/release/libdme.a $LDLIBS
}

# Until the command succeeds; at most some 20 seconds.
until_true() {
    for _ in $(seq 400); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    return 1
}

# A daemon, whose socket, log and data are in the directory, under this name.
serve() { # SOCKET [OPTION...]
    socket=$1
    shift
    "$DIBS" serve --socket "$dir/$socket" --data "$dir/$socket.data" "$@" 2>>"$dir/$socket.log" &
    started="$started $!"
    echo $! >"$dir/$socket.pid"
}

end_daemon() { # SOCKET...
    for socket; do
        kill "$(cat "$dir/$socket.pid")"
        wait "$(cat "$dir/$socket.pid")" 2>/dev/null
    done
}

is_ready() { # SOCKET
    "$DIBS" status --socket "$dir/$1" 2>/dev/null | grep -q '^ready yes'
}
