# shellcheck shell=sh
# What the suites share: each begins with  . "$(dirname "$0")/suite.sh"  and goes on in the project's directory, with a
# directory of its own ($dir) that goes when it ends, as does whatever runs in its name ($started, numbers of processes).
# A test is a command, then: tell $? "what is true". No test asserts a time: who waits waits until it is there.
set -u
# A shell ignores SIGINT and SIGQUIT for what it starts in the background, perhaps this suite, and cannot undo that.
[ -n "${SUITE_SIGNALS:-}" ] || exec env --default-signal=INT,QUIT SUITE_SIGNALS=default "$0" "$@"
cd "$(dirname "$0")/.." || exit 2
unset DIBS_SOCKET DIBS_CONNECT DIBS_KEY DIBS_CERT DIBS_CERT_KEY DIBS_CA XDG_RUNTIME_DIR

number=0
started=
dir=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d) # a slow disk would make members look dead

# The lines of a daemon's log about turns that kept the processor for longer than an eighth of the lease (I31). The time for which
# the daemon was off the processor does not count: that depends on what else the machine does. Nor do 25 ms, which are more than an
# eighth of the shortest leases that tests have: page faults alone may take that long. Nor does a turn of a few events, none of which took
# 10 ms: the kernel was busy meanwhile, for others, too.
long_turns() { # from stdin
    sed -n 's/.*a turn took [0-9]* ms, \([0-9]*\) ms of them on the processor.*(an eighth of the lease is \([0-9]*\) ms): \([0-9]*\) reads,.* with \([0-9]*\) ms.*/\1 \2 \3 \4 &/p' |
        while read -r took limit reads longest line; do
            [ "$took" -le "$limit" ] || [ "$took" -le 25 ] || { [ "$reads" -le 8 ] && [ "$longest" -lt 10 ]; } || echo "$line"
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
        tail -n 5 "$dir"/*.log /dev/null 2>/dev/null | sed 's/^/# /' # of every daemon
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

# Where headers are. The third is there if ./run has unpacked libraft, since the system has another one.
includes="-Isrc -Iinclude -isystem build/libraft/usr/include"

# A planted bug: $dir/planted.o is the object of the file with the bug in it.
plant_object() { # FILE SED FLAG...
    planted=$1
    sed -e "$2" "$planted" >"$dir/planted.c"
    if cmp -s "$planted" "$dir/planted.c"; then
        echo "# the sed command changes nothing in $planted"
        return 1
    fi
    shift 2
    # shellcheck disable=SC2086 # a list of words
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -DDIBS_VERSION='"planted"' $includes -I"$(dirname "$planted")" "$@" \
        -c -o "$dir/planted.o" "$dir/planted.c"
}

# Links a program with it. parts.a or libdme.a has the real object of the file, too. The linker leaves that out, since the planted one
# comes first and has all its names.
link_planted() { # PROGRAM OBJECT-OR-LIBRARY...
    linked=$1
    shift
    # shellcheck disable=SC2046,SC2086 # lists of words
    ${CC:-cc} -pthread $(command -v ld.lld >/dev/null && echo -fuse-ld=lld) -Wl,-S -o "$linked" "$dir/planted.o" "$@" \
        build/release/parts.a build/release/libdme.a $LDLIBS
}

# The program with it, $dir/dibs.
plant() { # FILE SED
    plant_object "$1" "$2" -O1 && link_planted "$dir/dibs" build/release/src/cli/main.o
}

# Runs COMMAND NAME FILE SED WORD... for blocks of stdin: a comment, of which the last line is the name; the file; sed lines; a line of
# words. A block ends with an empty line. Each block costs a run of the compiler and of what has to notice it, so one in PLANTED is run,
# the last one of that many: 3 unless the environment says otherwise, and tests/nightly says 1. Of the others, the sed lines are tried alone.
each_planted() { # COMMAND
    block_name='' block_file='' block_sed='' block_last='' block=0 block_idle=''
    while IFS= read -r line || [ -n "$block_last" ]; do
        case $line in
        '')
            [ -z "$block_last" ] || planted_block "$1"
            block_name='' block_file='' block_sed='' block_last=''
            ;;
        '# '*) block_name=${line#\# } ;;
        '#') ;;
        src/*) block_file=$line ;;
        *)
            [ -z "$block_last" ] || block_sed="$block_sed${block_sed:+
}$block_last"
            block_last=$line
            ;;
        esac
    done
    [ -z "$block_idle" ] || echo "# change nothing:$block_idle"
    [ -z "$block_idle" ]
    tell $? "each sed command of $block changes its file"
}

planted_block() { # COMMAND: for the block that has been read
    block=$((block + 1))
    if [ $((block % ${PLANTED:-3})) = 0 ]; then
        set -f
        # shellcheck disable=SC2086 # words
        set -- "$1" "$block_name" "$block_file" "$block_sed" $block_last
        set +f
        "$@" </dev/null
    elif ! sed -e "$block_sed" "$block_file" >"$dir/block" || cmp -s "$dir/block" "$block_file"; then
        block_idle="$block_idle
#   $block_name"
    fi
}

# shellcheck source=tests/ports.sh
. tests/ports.sh

# Until the command succeeds; at most some 60 seconds, which a loaded machine may need.
until_true() {
    for _ in $(seq 1200); do
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
