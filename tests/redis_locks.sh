#!/bin/sh
# Redis lock libraries, unmodified, against three real daemons, of which one is killed (I33): exclusion, extension, expiry, release by
# another connection, a foreign release. No time is asserted.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

base=$((28300 + $$ % 2300)) # below the ports that the system gives away by itself
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
ant=$((base + 3)) bee=$((base + 4)) cat=$((base + 5)) # where their clients come

start() { # NAME PORT; without the pipes of a library, which would not see their end
    serve "$1" --name "$1" --members "$members" --lease 1000 --clients "127.0.0.1:$2" 8>&- 9<&-
}

all_ready() {
    is_ready ant && is_ready bee && is_ready cat
}

begin_library() { # COMMAND...
    rm -f "$dir/say" "$dir/go"
    mkfifo "$dir/say" "$dir/go"
    timeout 120 "$@" <"$dir/go" >"$dir/say" 2>"$dir/library.err" &
    driver=$!
    started="$started $driver"
    exec 8>"$dir/go" 9<"$dir/say"
}

end_library() {
    exec 8>&- 9<&-
    wait "$driver" 2>/dev/null
    sed 's/^/# /' "$dir/library.err"
}

asked() { # EXPECTED WORD...
    expected=$1
    shift
    echo "$*" >&8
    read -r answer <&9 || answer="(it has ended)"
    [ "$answer" = "$expected" ] || echo "# $*: $answer"
    [ "$answer" = "$expected" ]
}

scenario() { # LIBRARY
    what=$(echo "$1" | tr ' ' '-')
    asked yes acquire a "$ant" "$what" 60000
    tell $? "$1: a lock is acquired"
    asked no acquire b "$bee" "$what" 60000
    tell $? "$1: the lock excludes a client of another member"
    asked no foreign a "$cat" && asked no acquire b "$bee" "$what" 60000
    tell $? "$1: a foreign token does not release it"
    asked yes extend a "$ant" 70000 && asked yes extend a "$bee" 80000
    tell $? "$1: the lock is extended, at any member"
    kill -KILL "$(cat "$dir/ant.pid")"
    wait "$(cat "$dir/ant.pid")" 2>/dev/null
    until_true asked yes extend a "$bee" 70000
    tell $? "$1: the lock is extended after its member was killed"
    asked no acquire b "$cat" "$what" 60000
    tell $? "$1: and excludes others as before"
    asked yes release a "$cat"
    tell $? "$1: another connection releases it"
    until_true asked yes acquire b "$bee" "$what" 300
    tell $? "$1: then another client acquires it"
    until_true asked yes acquire a "$cat" "$what" 60000
    tell $? "$1: a lock that is not extended expires"
    asked yes release a "$cat"
    tell $? "$1: the lock is released"
    start ant "$ant"
    until_true all_ready
    tell $? "$1: the member is there again"
}

start ant "$ant"
start bee "$bee"
start cat "$cat"
until_true all_ready
tell $? "three members come together"

python=$(for p in /usr/bin/python3 python3; do "$p" -c 'import redis.lock' 2>/dev/null && echo "$p" && break; done)
if [ -n "$python" ]; then
    begin_library "$python" tests/redis_locks.py
    scenario "redis-py"
    end_library
else
    tell 0 "redis-py # SKIP python3-redis is not installed"
fi

# The packages come from the registry that npm is configured for. Once they are there, it is not asked again.
packages="redlock@5.0.0-beta.2 redlock4@npm:redlock@4.2.0 ioredis@5.4.1 redis-semaphore@5.6.0"
npm_dir=$PWD/build/npm
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    tell 0 "libraries of Node.js # SKIP there is no node, or no npm"
elif [ "$(cat "$npm_dir/packages" 2>/dev/null)" != "$packages" ] &&
    ! { # shellcheck disable=SC2086 # a list
        mkdir -p "$npm_dir" && timeout 100 npm install --prefix "$npm_dir" --no-audit --no-fund --no-save --loglevel error $packages >"$dir/npm.log" 2>&1 &&
            echo "$packages" >"$npm_dir/packages"
    }; then
    sed 's/^/# /' "$dir/npm.log"
    tell 0 "libraries of Node.js # SKIP npm cannot install them"
else
    for library in "redlock 5" "redlock 4" redis-semaphore; do
        begin_library env NODE_PATH="$npm_dir/node_modules" node tests/redis_locks.js "$library"
        scenario "$library"
        end_library
    done
fi

echo "1..$number"
