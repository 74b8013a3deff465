#!/bin/sh
# Rights by name: rules in the configuration, what `dibs may` says about them, and what daemons make of them.
# Real daemons in a directory of their own; what is started is stopped by its number; no time is asserted.
# Invariant: I34.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

# ------------------------------------------------------------------------------------------------------ dibs may, by a file

cat >"$dir/may.conf" <<EOF
allow user:root  none       secret-*
allow user:4711  lock,watch build-*
allow group:4712 shared     build-*
allow key:ci     lock       build-*
allow any        watch      *
EOF
may() { # STATUS TEXT WORD...
    want=$1 text=$2
    shift 2
    "$DIBS" may "$@" --config "$dir/may.conf" >"$dir/out" 2>"$dir/err"
    [ $? = "$want" ] && cat "$dir/out" "$dir/err" | grep -qF -- "$text"
    tell $? "dibs may $*: ${text##*/}"
}
may 0 "yes: user:4711 has the right lock for \"build-1\", by the rule in $dir/may.conf:2: allow user:4711 lock,watch build-*" \
    user:4711 lock build-1
may 1 "no: user:4711 has not the right force-unlock for \"build-1\", by the rule in $dir/may.conf:2" user:4711 force-unlock build-1
may 1 "by the rule in $dir/may.conf:3: allow group:4712 shared build-*" group:4712 lock build-1
may 0 "by the rule in $dir/may.conf:3" group:4712 shared build-1
may 1 "by the rule in $dir/may.conf:5: allow any watch *" key:ci admin
may 0 "is an operator, who has all rights" user:root lock secret-1
may 2 '"reed" is not one right' key:ci reed x
may 2 'is about a lock; which one?' key:ci lock
may 2 '"alice" is no client' alice lock x
may 2 'there is no user:nobody-here on this machine' user:nobody-here lock x

# Every mistake is told with its line; a rule that decides nothing is one.
cat >"$dir/wrong.conf" <<EOF
allow alice lock *
allow user:nobody-here lock *
allow any lock x*
allow key:ci watch x*
allow auth:web lock y
login web
limit key:ci lock=3
EOF
"$DIBS" serve --config "$dir/wrong.conf" --socket "$dir/never" >"$dir/out" 2>"$dir/err"
[ $? = 2 ] && [ "$(sed 's/^dibs: [^:]*:\([0-9]*\): .*/\1/' "$dir/err" | tr '\n' ' ')" = "1 2 4 5 6 7 " ] &&
    grep -q ":4: this rule decides nothing: line 3 comes first" "$dir/err" && grep -q ':5: "web" cannot log in' "$dir/err"
tell $? "every mistake in the rules is told with its line"
rm -f "$dir/out" "$dir/err"
