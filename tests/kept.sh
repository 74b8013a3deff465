#!/bin/sh
# Sessions that outlive their daemon, with three real daemons on loopback. No time is asserted.
# Invariant: I33.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if ! python3 -c 'import socket'; then
    tell 0 "kept sessions # SKIP there is no python3"
    echo "1..$number"
    exit 0
fi

take_ports
members="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 2))"

start() { # NAME...
    for name; do serve "$name" --name "$name" --members "$members" --lease 2000; done
}

all_ready() {
    is_ready ant && is_ready bee && is_ready cat
}

start ant bee cat
until_true all_ready
tell $? "three members come together"

mkfifo "$dir/say" "$dir/go"
timeout 120 python3 tests/kept.py "$dir" <"$dir/go" >"$dir/say" 2>"$dir/py.err" &
started="$started $!"
exec 8>"$dir/go" 9<"$dir/say"
ended=1
while read -r line <&9; do
    case $line in
    "ok - "*) tell 0 "${line#ok - }" ;;
    "not ok - "*) tell 1 "${line#not ok - }" ;;
    "kill ant")
        kill -KILL "$(cat "$dir/ant.pid")"
        wait "$(cat "$dir/ant.pid")" 2>/dev/null
        echo >&8
        ;;
    "start ant")
        start ant
        until_true all_ready
        echo >&8
        ;;
    "end cat")
        end_daemon cat
        start cat
        until_true all_ready
        ended=0
        echo >&8
        ;;
    esac
done
[ $ended = 0 ] && [ ! -s "$dir/py.err" ]
tell $? "the client has come to its end"
sed 's/^/# /' "$dir/py.err"

echo "1..$number"
