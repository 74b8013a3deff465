#!/bin/sh
# The checker itself: the number of threads changes nothing, limits are honoured, and what cannot be is said.
# Invariant: I12.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

facts() { # THREADS CHECK-ARGUMENT...: what must not depend on the number of threads
    threads=$1
    shift
    "$DIBS" check "$@" --threads "$threads" --format json | grep -E '"(verdict|states|transitions|depth|fault)"'
}

verdict_and_depth() { # THREADS CHECK-ARGUMENT...: of a violation, which one is found may depend on it
    facts "$@" | grep -E '"(verdict|depth)"'
}

several="2 3 5"
[ "$MODE" = release ] || several=3
threads_agree() { # CHECK-ARGUMENT...
    one=$(facts 1 "$@")
    [ -n "$one" ] || return 1
    for threads in $several; do
        [ "$(facts "$threads" "$@")" = "$one" ] || { echo "$threads threads differ"; return 1; }
    done
}

threads_find_it() { # CHECK-ARGUMENT...
    one=$(verdict_and_depth 1 "$@")
    case $one in *holds*) return 1 ;; esac
    for threads in 2 3; do
        [ "$(verdict_and_depth $threads "$@")" = "$one" ] || { echo "$threads threads differ"; return 1; }
    done
}

status_is() { # STATUS CHECK-ARGUMENT...
    expected=$1
    shift
    "$DIBS" check "$@"
    [ $? = "$expected" ]
}

prints() { # TEXT CHECK-ARGUMENT...
    text=$1
    shift
    "$DIBS" check "$@" | grep -F -e "$text"
}

figure() { # KEY CHECK-ARGUMENT...
    key=$1
    shift
    "$DIBS" check "$@" --format json | sed -n "s/^ *\"$key\": \([0-9]*\),*\$/\1/p"
}

# 20 bytes a state at most, all included, and less than half of what the states themselves take.
fingerprints_are_small() {
    exact=$(figure memory naimi-trehel --sites 7 --order fifo)
    small=$(figure memory naimi-trehel --sites 7 --order fifo --fingerprints)
    states=$(figure states naimi-trehel --sites 7 --order fifo --fingerprints)
    echo "$states states, $exact and $small bytes"
    [ "$states" = 2456880 ] && [ "$small" -le $((20 * states)) ] && [ $((2 * small)) -le "$exact" ]
}

# Of 1.4 million states less than a quarter is left.
reduces_much() {
    states=$(figure states ricart-agrawala --sites 4 --order fifo --reduce)
    echo "$states states"
    [ "$states" -gt 0 ] && [ "$states" -lt 350000 ]
}

# 1.4 million states want 50 MB, and their fingerprints 28. With a budget of 20 MB the search ends by itself, below a hard
# limit that would kill it.
memory_is_bounded() { # [OPTION]
    (ulimit -v 120000 && status_is 3 ricart-agrawala --sites 4 --order fifo --memory 20M --threads 1 "$@") || return 1
    [ "$(figure memory ricart-agrawala --sites 4 --order fifo --memory 20M "$@")" -le 20000000 ]
}

test_that "threads agree on ricart-agrawala" threads_agree ricart-agrawala --requests 2
test_that "threads agree on maekawa" threads_agree maekawa --set quorum=full
test_that "threads agree on readers and writers" threads_agree ricart-agrawala --rule shared --order fifo
test_that "threads agree on a token algorithm" threads_agree suzuki-kasami --sites 4
test_that "threads agree where a level has more states than a round" threads_agree maekawa --sites 4 --order fifo
test_that "threads find a deadlock of the same depth" threads_find_it maekawa-as-retold --set mistake=overtaken-not-told --sites 4
test_that "threads find a broken rule of the same depth" threads_find_it lamport --order any
test_that "threads find a broken rule that one way leads to" threads_find_it ricart-agrawala-as-published --sites 2 --requests 2 --order fifo --set modulus=100 --set mistake=forgets-own-number
test_that "threads find an error of the same depth" threads_find_it banta-simple-as-published --set mistake=announces-nobody
# The state behind a fault may be one that is reached without it, too.
way_ends_with_a_fault() { # CHECK-ARGUMENT...
    "$DIBS" check "$@" | tail -1 | grep -q 'FAULT'
}
test_that "the way to an error ends with the fault" way_ends_with_a_fault singhal-heuristic-time-outs-tempting --sites 2 --set mistake=consults-once
test_that "threads find what a lost message does" threads_find_it ricart-agrawala-implicit --lose 1
test_that "threads find what a second copy does" threads_find_it suzuki-kasami --order fifo --duplicate 1
if [ "$MODE" = release ]; then
    test_that "memory is bounded" memory_is_bounded
    test_that "memory is bounded with fingerprints" memory_is_bounded --fingerprints
    test_that "fingerprints take little memory" fingerprints_are_small
    test_that "a reduced search has far fewer states" reduces_much
else
    number=$((number + 1))
    echo "ok $number - memory is bounded # SKIP sanitizers need address space of their own"
fi
test_that "a reduced search shows a shortest violation" prints 'the shortest way there, in 4 moves' lamport --sites 2 --without fifo --reduce
test_that "a reduced search does not show starvation" status_is 2 ricart-agrawala --reduce --starvation
test_that "fingerprints say how sure they are" prints 'a probability below 1.2e-32' ricart-agrawala --fingerprints
test_that "fingerprints do not show starvation" status_is 2 ricart-agrawala --fingerprints --starvation
test_that "states are bounded" status_is 3 ricart-agrawala --states 100
test_that "a violation has status 1" status_is 1 lamport --order any
test_that "too many sites have status 2" status_is 2 lamport --sites 9
test_that "random runs hold" status_is 0 maekawa --sites 16 --requests 2 --random 5
test_that "random runs find a broken rule" status_is 1 lamport --order any --sites 4 --random 100
test_that "random runs lose messages" status_is 1 maekawa --sites 9 --lose 1 --random 100
test_that "random runs duplicate messages" status_is 1 raymond --sites 9 --duplicate 1 --random 100
test_that "an unreliable network loses and duplicates" prints '"lose": 1,' lamport --without reliable --format json
# Sites that fail, in systems that are too large for every moment of it.
for token in singhal-heuristic-robust suzuki-kasami-robust; do
    test_that "random runs of $token with failures hold" status_is 0 $token --sites 6 --requests 3 --crash 2 --restart 2 --cut 1 --random 200
    test_that "without detection random runs of $token find a broken rule" status_is 1 $token --sites 4 --requests 2 --without detection \
        --crash 1 --random 2000
done
test_that "random runs of ricart-agrawala-robust with failures hold" status_is 0 ricart-agrawala-robust --sites 6 --requests 3 \
    --crash 2 --restart 2 --leave 1 --random 200

# What random runs may say, and searches that were not finished: nothing that sounds like a proof.
refuses() { # TEXT CHECK-ARGUMENT...: status 2, and one line that says why
    text=$1
    shift
    "$DIBS" check "$@" 2>"$dir/why"
    [ $? = 2 ] && grep -F -e "$text" "$dir/why"
}

random_proves_nothing() {
    "$DIBS" check maekawa --sites 9 --random 5 >"$dir/said" && "$DIBS" check maekawa --sites 9 --random 5 --format json >"$dir/json" &&
        grep -q '^NO VIOLATION FOUND, which proves nothing: .*(exclusive, 9 sites, 1 request each, unordered channels: 5 random runs, ' "$dir/said" &&
        ! grep -q 'hold' "$dir/said" && grep -q '"verdict": "none found"' "$dir/json" && ! grep -q '"holds"' "$dir/json"
}

# Ctrl-C ends the search with what is known by then. A program that is slow to begin, under sanitizers on a busy machine, has
# more time when it is tried again. timeout sends the signal twice: to the program, and at once to its process group.
interrupted_sums_up() { # OPTION...
    for seconds in 1 5 25; do
        timeout --preserve-status -s INT $seconds "$DIBS" check lamport --sites 4 --requests 3 --order fifo "$@" >"$dir/said"
        [ $? = 3 ] &&
            grep '^INTERRUPTED: the search has found no violation so far (exclusive, 4 sites, 3 requests each, FIFO channels: ' "$dir/said" &&
            return 0
    done
    return 1
}

interrupted_any() {
    for seconds in 1 5; do
        timeout --preserve-status -s INT $seconds "$DIBS" check lamport --any-sites --order fifo >"$dir/said"
        [ $? = 3 ] && grep '^INTERRUPTED: there is no proof so far (exclusive, any number of sites, ' "$dir/said" && return 0
    done
    return 1
}

interrupted_table() { # WORD
    for seconds in 1 5; do
        timeout --preserve-status -s INT $seconds "$DIBS" check "$1" --requests 3 >"$dir/table"
        [ $? = 3 ] && grep -q '| interrupted |' "$dir/table" && ! grep -q '| not in systems so small' "$dir/table" && return 0
    done
    return 1
}

lists_mistakes() {
    "$DIBS" check swaroop-singh-as-published >"$dir/said" 2>"$dir/why"
    [ $? = 2 ] && grep -q 'choose it with --set mistake=NAME' "$dir/why" && [ "$(wc -l <"$dir/said")" = 7 ] &&
        grep -q 'mistake=grants-twice --rule exclusive --sites 3 --requests 1 --order fifo   # error, 10 moves' "$dir/said" || return 1
    sed -n '2s/^dibs \(.*\)   #.*/\1/p' "$dir/said" >"$dir/command"
    # shellcheck disable=SC2046 # words of a command
    "$DIBS" $(cat "$dir/command") >"$dir/said"
    [ $? = 1 ]
}

test_that "random runs never claim a proof" random_proves_nothing
test_that "a verdict repeats its bounds and options" prints \
    'hold (exclusive, modulus=5, 2 sites, requests 2,1, FIFO channels: ' ricart-agrawala --sites 2 --requests 2,1 --set modulus=5 --order fifo
test_that "so does a violation" prints \
    'critical section (exclusive, 3 sites, 1 request each, FIFO channels, without detection, at most 1 crash or false suspicion: ' \
    singhal-heuristic-robust --crash 1 --without detection
test_that "so does a search that is not finished" prints 'so far (exclusive, 3 sites, 1 request each, unordered channels: ' \
    ricart-agrawala --states 100
test_that "it says what was looked at" prints 'mutual exclusion, deadlock freedom, concurrent entering and the algorithm'"'"'s invariants hold' \
    joung-ra1 --rule group:2 --sites 2 --concurrency
test_that "nobody asks: refused" refuses 'no site requests' ricart-agrawala --requests 0
test_that "nobody asks in a table: refused" refuses 'no site requests' all --requests 0
tells_programs_bounds() {
    "$DIBS" check singhal-heuristic-robust --sites 2 --without detection --in-flight 9 --overtakes 3 --format json | tr -d ' \n' |
        grep -F '"without":["detection"],"in_flight":9,"overtakes":3,"properties":["mutualexclusion","deadlockfreedom","theboundonovertaking"'
}
vacuous() {
    "$DIBS" check le-lann --requests unlimited --in-flight 1 "$@" >"$dir/said"
    [ $? = 3 ] && grep -qE '^VACUOUS: no site ever makes a request|"verdict": "vacuous"' "$dir/said"
}
test_that "the bound on overtaking is one of its bounds" prints ', unordered channels, at most 3 overtakes: ' ricart-agrawala --sites 2 --overtakes 3
test_that "a report for programs has the same bounds" tells_programs_bounds
test_that "no site can make a request: no verdict" vacuous
test_that "the same for programs" vacuous --format json
test_that "any number of sites, and a property that is not looked at: refused" refuses 'shows mutual exclusion only' carvalho-roucairol --any-sites --starvation
test_that "any number of sites, and a bound on overtaking: refused" refuses 'shows mutual exclusion only' carvalho-roucairol --any-sites --overtakes 1
test_that "any number of sites: the verdict repeats the options" prints 'holds (exclusive, start=staircase, any number' carvalho-roucairol --any-sites --set start=staircase
test_that "a join without members: refused" refuses 'has no members' ricart-agrawala --join 1
test_that "a leave without members: refused" refuses 'has no members' maekawa --leave 1
test_that "more crashes than sites: refused" refuses '3 sites cannot crash that often' ricart-agrawala-robust --crash 9
test_that "a restart without a crash: refused" refuses 'only after a crash' ricart-agrawala-robust --restart 1
test_that "losses of a site alone: refused" refuses 'one site has no network' lamport --sites 1 --lose 1
test_that "a promise that is not needed: refused" refuses 'does not rely on that' naimi-trehel --without fifo
test_that "two promises are withdrawn together" prints "any order, at most 1 lost message, at most 1 duplicated message" lamport --sites 2 --without fifo --without reliable
test_that "concurrency under a rule without any: refused" refuses 'never admits two sites' naimi-trehel --concurrency
test_that "starvation in random runs: refused" refuses 'does not look for' maekawa --random 5 --starvation
test_that "Ctrl-C ends with a summary" interrupted_sums_up
test_that "Ctrl-C ends two threads with a summary" interrupted_sums_up --threads 2
test_that "Ctrl-C ends a search by fingerprints with a summary" interrupted_sums_up --fingerprints
test_that "Ctrl-C ends a reduced search with a summary" interrupted_sums_up --reduce
test_that "Ctrl-C ends a proof for any number of sites" interrupted_any
test_that "Ctrl-C ends the table of what holds" interrupted_table all
test_that "Ctrl-C ends the table of mistakes" interrupted_table mistakes
test_that "Ctrl-C ends random runs with a summary" interrupted_sums_up --random 1G
test_that "an algorithm with several mistakes lists them, with a size that shows each" lists_mistakes
# Any number of requests: in canonical form, without one, or not at all.
unlimited_table() {
    "$DIBS" check all --sites 2 --requests unlimited --states 20k >"$dir/table" || return 1
    for row in '| ricart-agrawala | shared | any | 2 | unlimited | [0-9]* | holds |' '| raymond | exclusive | any | 2 | unlimited | [0-9]* | holds |' \
        '| suzuki-kasami | exclusive | fifo | 2 | unlimited | [0-9]* | holds |' '| joung-ra2 | exclusive | any | 2 | unlimited | 0 | endless |'; do
        grep -q "^$row\$" "$dir/table" || return 1
    done
    [ "$(grep -c '| holds |$' "$dir/table")" -ge 30 ] && ! grep -qE '(exclusion|deadlock|error|invariant) \|$' "$dir/table"
}
endless_is_told() {
    "$DIBS" check joung-ra2 --sites 2 --requests unlimited --states 100 >"$dir/said" 2>"$dir/told"
    [ $? = 3 ] && grep -q '^dibs: with unlimited requests the states of joung-ra2 do not end: .* the search stops after 100 states (--states)$' "$dir/told" &&
        "$DIBS" check naimi-trehel --sites 2 --requests unlimited >"$dir/said" 2>"$dir/told" && [ ! -s "$dir/told" ]
}
test_that "a table of what holds for any number of requests" unlimited_table
test_that "states that do not end: it is said at once" endless_is_told
test_that "any number of sites: the verdict says how much was compared" prints 'three sites with two requests each (all 9941 states), and of four' singhal-dynamic --any-sites
test_that "and say if a system has too many states for that" prints 'compared with it, those of the states that were found first' swaroop-singh --rule shared --order fifo --requests unlimited --in-flight 1
test_that "canonical forms are tested, and say so" prints 'moves of small systems were compared with it' suzuki-kasami --sites 2 --requests unlimited
test_that "a form that does not fit: no verdict" status_is 3 suzuki-kasami-as-retold --sites 3 --requests unlimited
test_that "an expected deadlock is found" prints 'DEADLOCK' agrawal-el-abbadi-robust --crash 2
test_that "exclusion is checked past an expected deadlock" prints 'mutual exclusion holds (exclusive, 3 sites' agrawal-el-abbadi-robust --crash 2 \
    --ignore deadlock
test_that "and found broken there" status_is 1 lamport --order any --ignore deadlock
echo "1..$number"
