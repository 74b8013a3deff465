#!/bin/sh
# Redis lock libraries, unmodified, and others by the commands that they send, against three real daemons, of which one is killed while
# they hold locks (I33): exclusion, extension, expiry, release by another connection, a foreign release. No time is asserted.
# REDIS_KILLED="ant bee cat": these members are killed one after the other.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"
ant=$((base + 3)) bee=$((base + 4)) cat=$((base + 5)) # where their clients come

start() { # NAME PORT; without the pipes of a driver, which would not see their end
    serve "$1" --name "$1" --members "$members" --lease 1000 --clients "127.0.0.1:$2" 3>&- 4>&- 5>&- 6<&- 7<&- 8<&-
}

all_ready() {
    is_ready ant && is_ready bee && is_ready cat
}

# ---- A driver is a process that speaks for some libraries. It hears on descriptor TO, and is heard on FROM.
libraries=
begin_driver() { # NAME TO FROM LIBRARIES COMMAND...
    driver=$1 to=$2 from=$3
    libraries="$libraries $4"
    shift 4
    mkfifo "$dir/$driver.go" "$dir/$driver.say"
    timeout 600 "$@" <"$dir/$driver.go" >"$dir/$driver.say" 2>"$dir/$driver.err" 3>&- 4>&- 5>&- 6<&- 7<&- 8<&- &
    started="$started $!"
    eval "exec $to>\"$dir/$driver.go\" $from<\"$dir/$driver.say\""
}

asked() { # EXPECTED LIBRARY WORD...
    expected=$1
    shift
    case $1 in
    redlock-5 | redlock-4 | redis-semaphore) to=4 from=7 ;;
    Laravel) to=5 from=8 ;;
    *) to=3 from=6 ;;
    esac
    echo "$*" >&$to
    read -r answer <&$from || answer="(it has ended)"
    [ "$answer" = "$expected" ] || echo "# $*: $answer"
    [ "$answer" = "$expected" ]
}

# ---- What each library does before a member is killed, and after that.
before() { # LIBRARY
    asked yes "$1" acquire a "$ant" "$1" 60000
    tell $? "$1: a lock is acquired"
    asked no "$1" acquire b "$bee" "$1" 60000
    tell $? "$1: the lock excludes a client of another member"
    asked no "$1" foreign a "$cat" && asked no "$1" acquire b "$bee" "$1" 60000
    tell $? "$1: a foreign token does not release it"
    asked yes "$1" extend a "$ant" 70000 && asked yes "$1" extend a "$bee" 80000
    tell $? "$1: the lock is extended, at any member"
}

after() { # LIBRARY
    until_true asked yes "$1" extend a "$bee" 70000
    tell $? "$1: the lock is extended after its member was killed"
    asked no "$1" acquire b "$cat" "$1" 60000
    tell $? "$1: and excludes others as before"
    asked yes "$1" release a "$cat"
    tell $? "$1: another connection releases it"
    until_true asked yes "$1" acquire b "$bee" "$1" 300
    tell $? "$1: then another client acquires it"
    until_true asked yes "$1" acquire a "$cat" "$1" 60000
    tell $? "$1: a lock that is not extended expires"
    asked yes "$1" release a "$cat"
    tell $? "$1: the lock is released"
}

start ant "$ant"
start bee "$bee"
start cat "$cat"
until_true all_ready
tell $? "three members come together"

python=$(for p in /usr/bin/python3 python3; do "$p" -c 'import redis.lock' 2>/dev/null && echo "$p" && break; done)
if [ -n "$python" ]; then
    begin_driver python 3 6 "redis-py redlock-py redsync ShedLock Spring Redisson" "$python" tests/redis_locks.py
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
    begin_driver node 4 7 "redlock-5 redlock-4 redis-semaphore" env NODE_PATH="$npm_dir/node_modules" node tests/redis_locks.js
fi

if php -m 2>/dev/null | grep -qx redis && [ -e /usr/share/php/Illuminate/Cache/autoload.php ]; then
    begin_driver php 5 8 Laravel php tests/redis_locks.php
else
    tell 0 "Laravel # SKIP php-redis and php-illuminate-cache are not installed"
fi

# $ant is where the clients of the member come that is killed, and $bee and $cat where those of the other two do.
for killed in ${REDIS_KILLED:-ant}; do
    for library in $libraries; do before "$library"; done
    kill -KILL "$(cat "$dir/$killed.pid")"
    wait "$(cat "$dir/$killed.pid")" 2>/dev/null
    for library in $libraries; do after "$library"; done
    start "$killed" "$ant"
    until_true all_ready
    tell $? "$killed is there again"
    next=$bee bee=$cat cat=$ant ant=$next
done
cat "$dir"/*.err 2>/dev/null | sed 's/^/# /'

echo "1..$number"
