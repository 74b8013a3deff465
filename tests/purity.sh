#!/bin/sh
# The pure library is pure, and the check that says so can say no.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if [ "$MODE" != release ]; then
    echo "ok 1 - the core is pure # SKIP instrumented code calls its instruments"
    echo "1..1"
    exit 0
fi

tests/purity build/release/libdme.a
tell $? "the core and the algorithms are pure"

# A member of the service has memory of its own, but it knows neither files nor sockets, clock nor chance.
# libraft is Raft and nothing else: its clock, its disk, its network and its dice are ours.
raft=$(nm build/release/src/member/agree*.o build/release/src/member/journal.o | sed -n 's/^ *U \(raft_[a-z_]*\)$/\1/p' | sort -u | tr '\n' ' ')
# Objects of files that have been moved or deleted may still be there.
# shellcheck disable=SC2046 # a list of files
ar qcs "$dir/node.a" build/release/src/base/bytes.o build/release/src/base/glob.o build/release/src/base/plain.o build/release/src/base/sha1.o \
    $(for part in link member lock protocol rights node command step core alg; do ls src/$part/*.c; done | sed 's,\(.*\)\.c$,build/release/\1.o,') &&
    ALLOW="mem_new slab_new slab_free mem_try_new mem_grow mem_try_grow free snprintf memchr memmem strnlen strncasecmp strcasecmp strchr strcspn strspn strtok_r strtol fnmatch qsort $raft" tests/purity "$dir/node.a"
tell $? "a member of the service does no I/O and has no globals"

# What the client library decides: src/soak drives the same code.
ar qcs "$dir/belief.a" build/release/src/client/belief*.o build/release/src/client/held.o build/release/src/client/reply.o &&
    ALLOW="malloc calloc realloc free strdup snprintf strtoull strchr memmem strsep" tests/purity "$dir/belief.a"
tell $? "the decisions of the client library do no I/O and have no globals"

rejects() { # NAME SOURCE
    echo "$2" >"$dir/impure.c"
    ${CC:-cc} -c -o "$dir/impure.o" "$dir/impure.c" && rm -f "$dir/impure.a" && ar rcs "$dir/impure.a" "$dir/impure.o" &&
        ! tests/purity "$dir/impure.a" >"$dir/said" && grep -q "impure: " "$dir/said"
    tell $? "the purity check rejects $1"
}

rejects "a variable" 'static int calls; int f(void) { return ++calls; }'
rejects "an initialised variable" 'int calls = 3; int f(void) { return ++calls; }'
rejects "a variable of a thread" '_Thread_local int calls; int f(void) { return ++calls; }'
rejects "a call of the system" 'int rand(void); int f(void) { return rand(); }'
echo "1..$number"
