#!/bin/sh
# All runs of the models of views and leases and of kept sessions (dibs model): the property holds; each part of a protocol that is
# left out is found, and so is each mistake in the daemon's own functions that the models call (tests/model.txt).
# Invariants: I18, I28, I33.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

if [ "$MODE" != release ]; then
    echo "ok 1 - all runs of the model # SKIP it is the protocol that is searched, not its memory"
    exit 0
fi

holds() { # STATES MODEL OPTION...
    states=$1
    shift
    "$DIBS" model "$@" --format json >"$dir/out" && grep -q "\"states\": $states," "$dir/out"
    tell $? "the property holds: dibs model $*, $states states"
}
holds 3216 leases --members 2
holds 209274 leases --calm
holds 35841 leases --members 5 --roster --calm --prompt
holds 48319 leases --members 2 --prompt --clocks
holds 71350 sessions
holds 296017 sessions --change follow
holds 274696 sessions --change upgrade --lost oss,sss,sss --begin-held
if [ -n "${MODEL_LONG-}" ]; then
    holds 1246499 leases
    holds 4151654 leases --founders 1 --roster --calm
    holds 15813 leases --members 4 --prompt
    holds 459255 leases --members 4 --prompt --roster
    holds 374941 sessions --members 2 --views 3
    holds 2803897 sessions --views 2 --begin-held --calm
    holds 1244217 sessions --change upgrade
    holds 550483 sessions --change downgrade
    holds 3393477 sessions --change downgrade --lost sss,nss,sso --begin-held
fi
# Other ways of three changes of the view each night, as far as two million states of each.
awk -v count="${MODEL_WAYS:-0}" -v seed="${MODEL_SEED:-1}" 'BEGIN {
    srand(seed)
    split("none follow upgrade downgrade", change, " ")
    while (count-- > 0) {
        way = ""
        for (k = 0; k < 9; k++)
            way = way (k && k % 3 == 0 ? "," : "") substr("ssson", 1 + int(rand() * 5), 1)
        print change[1 + int(rand() * 4)], way
    }
}' >"$dir/ways"
while read -r change way; do
    "$DIBS" model sessions --begin-held --states 2000000 --change "$change" --lost "$way" >"$dir/said"
    status=$?
    [ $status = 0 ] || [ $status = 3 ]
    tell $? "no violation: dibs model sessions --begin-held --change $change --lost $way"
done <"$dir/ways"
rm -f "$dir/out" "$dir/ways"

"$DIBS" model mistakes >"$dir/said"
tell $? "every part of a protocol that is left out is found"
sed 's/^/# /' "$dir/said"

"$DIBS" model leases --mistake early-change >"$dir/said"
[ $? = 1 ] && grep -q '^  round 0 .* dog has dropped ant, and reports that it owes it nothing$' "$dir/said" &&
    grep -q '^VIOLATED: two clients believe' "$dir/said"
tell $? "a counterexample is a story"

says_seen() { # STATUS VERDICT MISTAKES MODEL OPTION...
    status=$1 verdict=$2 seen=$3
    shift 3
    "$DIBS" model "$@" --format json >"$dir/out"
    [ $? = "$status" ] && grep -q "\"verdict\": \"$verdict\"" "$dir/out" &&
        [ "$(sed -n '/"seen"/,$p' "$dir/out" | tr -d ' ",\n[]{}' | sed 's/^seen://')" = "$seen" ]
    tell $? "dibs model $*: $verdict, and it says what would be seen"
}
says_seen 0 holds minorityearly-give-upnot-openno-digest leases --members 2 --calm
says_seen 3 vacuous '' leases --members 2 --founders 1 --observed 1
says_seen 3 vacuous '' sessions --members 1

rejects 'unknown model "lease"; did you mean "leases"? (dibs model --help lists them)' model lease
rejects 'model leases: this model has no options --views, --begin-held, --lost and --change' model leases --views 2
rejects 'model sessions: there are at most three members' model sessions --members 4
rejects 'model sessions: --lost has a word for each change of the view, and in it a letter for each member: s, o or n, not o for all; as in sss,nss,sso' \
    model sessions --lost sss,ns
rejects 'model sessions: --lost has a word for each change of the view, and in it a letter for each member: s, o or n, not o for all; as in sss,nss,sso' \
    model sessions --lost sss,ooo
rejects 'model sessions: --lost says how each view changes, and --calm would rule some of them out: leave one of them out' model sessions --calm --lost sss
rejects 'model leases: there are more founders than members' model leases --founders 4

while read -r line; do
    case $line in
    '# I'*) name=${line#\# } ;;
    src/*) file=$line ;;
    s/*) sed=$line ;;
    leases* | sessions*)
        # shellcheck disable=SC2086 # a list of words
        plant "$file" "$sed" && { "$dir/dibs" model $line >"$dir/said"; [ $? = 1 ]; }
        tell $? "found: $name"
        sed -n 's/^VIOLATED/# found/p' "$dir/said"
        ;;
    esac
done <tests/model.txt
echo "1..$number"
