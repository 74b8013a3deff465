#!/bin/sh
# What an operation costs does not grow with what else a member keeps: bench/growth, with a hundredth of its numbers. Where each
# one more makes all others dearer, the multiple of the last row would be 100.
# Invariant: I31.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

"build/$MODE/bench/growth" 100 25 >"$dir/table"
tell $? "names, held locks, waiters, sharers, connections, subscriptions, tokens: the hundredfold costs an operation no multiple"
sed 's/^/# /' "$dir/table"
echo "1..$number"
