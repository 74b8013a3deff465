#!/bin/sh
# Clients with certificates: dibs and libdibs prove who they are by one, and verify that of the daemon. Rights by the name in it,
# and each mistake in a file, a name or an authority, in one line. Real daemons; an authority of its own.
# Invariant: I21.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

take_ports
three="ant=127.0.0.1:$base,bee=127.0.0.1:$((base + 1)),cat=127.0.0.1:$((base + 6))"
ant=127.0.0.1:$((base + 2)) bee=127.0.0.1:$((base + 3)) solo=127.0.0.1:$((base + 4)) pose=127.0.0.1:$((base + 5))
# shellcheck disable=SC2034 # used by eval
cat=127.0.0.1:$((base + 7))

# ------------------------------------------------------------------------------------------------------------ authority

authority() { # NAME
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" -keyout "$dir/$1.key" \
        -out "$dir/$1.pem" 2>/dev/null
    mkdir "$dir/$1.issued"
    : >"$dir/$1.index"
    cat >"$dir/$1.cnf" <<END
[ca]
default_ca = this
[this]
database = $dir/$1.index
new_certs_dir = $dir/$1.issued
certificate = $dir/$1.pem
private_key = $dir/$1.key
rand_serial = yes
unique_subject = no
default_md = sha256
default_days = 2
default_crl_days = 2
policy = any
[any]
commonName = supplied
END
}
issue() { # AUTHORITY COMMAND...
    which=$1
    shift
    openssl ca -batch -config "$dir/$which.cnf" "$@" 2>"$dir/issue.log"
}
certificate() { # FILE AUTHORITY NAMES [EXTENSION [OPTION...]]: NAMES as in DNS:ant,IP:127.0.0.1
    file=$1 by=$2
    printf 'subjectAltName=%s\n%s\n' "$3" "${4:-}" >"$dir/$file.ext"
    shift 3
    [ $# = 0 ] || shift
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=ignored" -keyout "$dir/$file.key" \
        -out "$dir/$file.csr" 2>/dev/null
    issue "$by" -in "$dir/$file.csr" -out "$dir/$file.pem" -notext -extfile "$dir/$file.ext" "$@"
}
authority ours && authority theirs
certificate ant ours DNS:ant
certificate bee ours DNS:bee,IP:127.0.0.1
certificate cat ours DNS:cat
certificate ci ours DNS:ci
certificate web ours DNS:web 'extendedKeyUsage=clientAuth'
certificate operator ours DNS:operator.dibs
certificate false theirs DNS:ci
certificate old ours DNS:ci '' -startdate 20010101000000Z -enddate 20010201000000Z
certificate early ours DNS:ci '' -startdate 20990101000000Z -enddate 20990201000000Z
certificate server ours DNS:ci 'extendedKeyUsage=serverAuth'
certificate sly ours DNS:ant 'extendedKeyUsage=clientAuth'
certificate oldant ours DNS:ant '' -startdate 20010101000000Z -enddate 20010201000000Z
certificate gone ours DNS:gone
[ -s "$dir/gone.pem" ] && [ -s "$dir/old.pem" ]
tell $? "an authority issues certificates"

with() { # FILE [AUTHORITY]
    echo "--cert $dir/$1.pem --cert-key $dir/$1.key --ca $dir/${2:-ours}.pem"
}
as() { # FILE WORD...: a command at ant, by this certificate
    by=$1
    shift
    DIBS_CONNECT=ant=$ant DIBS_CERT="$dir/$by.pem" DIBS_CERT_KEY="$dir/$by.key" DIBS_CA="$dir/ours.pem" timeout 60 "$DIBS" "$@"
}
# The command fails with this status, and says this in one line, which is all that it prints.
says() { # STATUS LINE COMMAND...
    status=$1 line=$2
    shift 2
    "$@" >"$dir/out" 2>"$dir/err"
    [ $? = "$status" ] && [ ! -s "$dir/out" ] && [ "$(wc -l <"$dir/err")" = 1 ] && grep -qF -- "$line" "$dir/err"
    tell $? "says: $(echo "$line" | sed "s|$dir/||g")"
    rm -f "$dir/out" "$dir/err"
}

# The log of ant says this of a caller with this certificate: it tells of one refusal in a second.
is_logged() { # FILE LINE
    as "$1" status
    grep -qF -- "refused: it has a certificate that is not accepted: $2" "$dir/ant.log"
}

# ------------------------------------------------------------------------------------------------------ three members

cat >"$dir/rules.conf" <<END
allow cert:ci   lock,watch   build-*
allow cert:ci   watch        deploy
allow cert:web  shared,watch page-*
allow cert:ci   lock,watch   kept
allow cert:ci   lock         library
allow cert:operator.dibs lock,watch op-*
END
cp "$dir/ours.pem" "$dir/trust.pem" # to which a list of revoked ones will be added
for member in ant bee cat; do
    eval "clients=\$$member"
    # shellcheck disable=SC2046,SC2154 # options; clients is set by eval
    serve $member --name $member --members "$three" --clients "$clients" --config "$dir/rules.conf" $(with $member trust)
done
until_true is_ready ant && until_true is_ready bee && until_true is_ready cat
tell $? "three members meet by certificates"

# shellcheck disable=SC2046
[ "$("$DIBS" lock --connect "ant=$ant" $(with ci) --wait 20 build-1 -- echo inside)" = inside ]
tell $? "dibs lock by a certificate, at a daemon whose certificate has the name of the member"
as ci status | grep -q '^ready yes'
tell $? "certificates are taken from the environment, too"
# shellcheck disable=SC2046
DIBS_KEY=$dir/no.key "$DIBS" status --connect "ant=$ant" $(with ci) | grep -q '^ready yes'
tell $? "certificates that are given come before a key in the environment"
# shellcheck disable=SC2046
"$DIBS" status --connect "$bee" $(with ci) | grep -q '^ready yes'
tell $? "without a name, the certificate is that of the host"

# ------------------------------------------------------------------------------------------------------------- rights

# shellcheck disable=SC2016 # expanded by the inner shell
as ci lock build-2 -- sh -c '"$0" holders build-2 --socket "$1" --format json' "$DIBS" "$dir/bee" >"$dir/out"
grep -q '"from": *"127.0.0.1, cert:ci"' "$dir/out"
tell $? "holders shows the name in the certificate"
says 114 "cert:ci does not have the right lock for \"deploy\", by the rule in $dir/rules.conf:2: allow cert:ci watch deploy" as ci lock deploy -- true
says 114 'cert:ci does not have the right lock for "page-1", as no rule' as ci lock page-1 -- true
as web lock page-1 --shared -- true
tell $? "a certificate for clients only does for a client"
says 114 'cert:web does not have the right lock for "page-1"' as web lock page-1 -- true
says 1 'cert:operator.dibs does not have the right force-unlock for "op-1", by the rule in' as operator force-unlock op-1
as ci may me lock build-1 >"$dir/out" && grep -q "^yes: cert:ci has the right lock" "$dir/out"
tell $? "dibs may me: yes"
! as ci may me lock deploy >"$dir/out" && grep -q "^no: cert:ci does not have the right lock for \"deploy\", by the rule in $dir/rules.conf:2" "$dir/out"
tell $? "dibs may me: no, by which rule"
"$DIBS" may cert:ci lock build-1 --config "$dir/rules.conf" >"$dir/out" && grep -q "^yes: cert:ci" "$dir/out" &&
    ! "$DIBS" may cert:ci lock deploy --socket "$dir/ant" >"$dir/out" && grep -q "^no: cert:ci does not have the right lock.*rules.conf:2" "$dir/out"
tell $? "dibs may tells it of others, from the file and by asking the daemon"
rm -f "$dir/out"
until_true grep -q 'audit: denied: client [0-9]* (cert:ci from .*): "deploy": cert:ci does not have the right lock' "$dir/ant.log"
tell $? "and the audit trail has the name"

# ------------------------------------------------------------------------------------------- which daemon is the right one

# shellcheck disable=SC2046
says 1 "the daemon has a certificate for other names (ant) than \"127.0.0.1\"; if it is the right one, write its name before the address" \
    "$DIBS" status --connect "$ant" $(with ci)
# shellcheck disable=SC2046
says 1 'the daemon has a certificate for other names (ant) than "bee"' "$DIBS" status --connect "bee=$ant" $(with ci)

poses() { # FILE LINE: the holder of this certificate answers in place of ant, and hears nothing
    rm -f "$dir/pose" # the ACCEPT of the one before
    openssl s_server -accept "$pose" -tls1_3 -cert "$dir/$1.pem" -key "$dir/$1.key" -CAfile "$dir/ours.pem" -Verify 1 -verify_quiet \
        </dev/zero >"$dir/pose" 2>&1 &
    poser=$!
    started="$started $poser"
    until_true grep -q ACCEPT "$dir/pose"
    # shellcheck disable=SC2046
    says 1 "$2" "$DIBS" status --connect "ant=$pose" $(with ci)
    ! grep -q HELLO "$dir/pose"
    tell $? "$1: and is told nothing"
    kill $poser
    wait $poser 2>/dev/null
}
poses web "the daemon has a certificate that is not accepted: it is not for a daemon; its extendedKeyUsage has no serverAuth"
poses sly "the daemon has a certificate that is not accepted: it is not for a daemon; its extendedKeyUsage has no serverAuth"
poses gone 'the daemon has a certificate for other names (gone) than "ant"'
poses false "the daemon has a certificate that is not accepted: no authority in $dir/ours.pem has issued it; compare --ca on both sides"
poses oldant "the daemon has a certificate that is not accepted: it has expired, at 2001-02-01 00:00:00 UTC; it has to be renewed"

# ------------------------------------------------------------------------------------------- certificates that do not hold

# shellcheck disable=SC2046
says 1 "no authority in $dir/theirs.pem has issued it" "$DIBS" status --connect "ant=$ant" $(with ci theirs)
says 114 "the daemon does not trust the authority of our certificate, $dir/false.pem; compare its --ca" as false lock build-1 -- true
says 1 "the daemon says that our certificate, $dir/old.pem, has expired" as old status
until_true is_logged old "it has expired, at 2001-02-01 00:00:00 UTC; it has to be renewed"
tell $? "the daemon's log says so, too"
says 1 "the daemon does not accept our certificate, $dir/early.pem; its log says why" as early status
until_true is_logged early "it is valid only from 2099-01-01 00:00:00 UTC on; compare the clocks"
tell $? "and so does it of one that is not valid yet"
says 1 "the daemon says that our certificate, $dir/server.pem, is not for this; its extendedKeyUsage needs clientAuth" as server status

revoke() { # FILE OPTION...: a list that has it, behind the authority
    [ "$1" = - ] || issue ours -revoke "$dir/$1.pem"
    shift
    issue ours -gencrl -out "$dir/list.pem" "$@"
    cat "$dir/ours.pem" "$dir/list.pem" >"$dir/trust.pem"
    kill -HUP "$(cat "$dir/ant.pid")"
}
as gone lock build-1 -- true 2>"$dir/said"
grep -q "cert:gone does not have the right lock" "$dir/said"
tell $? "a client with a good certificate comes in"
revoke gone
until_true grep -q "SIGHUP: keys and certificates were read again" "$dir/ant.log"
says 1 "the daemon says that our certificate, $dir/gone.pem, was revoked; ask its authority for another one" as gone status
until_true is_logged gone "its authority has revoked it; get a new one" && as ci status >/dev/null
tell $? "with a revocation list, that one is refused, and no other"
revoke - -crl_lastupdate 20010101000000Z -crl_nextupdate 20010201000000Z
until_true sh -c "[ \$(grep -c 'SIGHUP: keys and certificates were read again' '$dir/ant.log') = 2 ]"
says 1 "has expired (or its own revocation list)" as ci status
until_true is_logged ci "the revocation list of its authority in $dir/trust.pem has expired; put a new one there"
tell $? "a list that is too old lets no client in, and the log says so"
revoke -
until_true as ci status
tell $? "and a new one does"
issue ours -revoke "$dir/ant.pem" && issue ours -gencrl -out "$dir/list.pem" && cat "$dir/ours.pem" "$dir/list.pem" >"$dir/ours-list.pem"
# shellcheck disable=SC2046
says 1 "the daemon has a certificate that is not accepted: its authority has revoked it; get a new one" \
    "$DIBS" status --connect "ant=$ant" $(with ci ours-list)

# --------------------------------------------------------------------------------------------------- mistakes in files

files() { # CERTIFICATE KEY AUTHORITY
    echo "--connect ant=$ant --cert $1 --cert-key $2 --ca $3"
}
# shellcheck disable=SC2046
{
    says 2 "cannot read $dir/none.pem: No such file or directory" "$DIBS" status $(files "$dir/none.pem" "$dir/ci.key" "$dir/ours.pem")
    says 2 "cannot read $dir/none.key: No such file or directory" "$DIBS" status $(files "$dir/ci.pem" "$dir/none.key" "$dir/ours.pem")
    says 2 "$dir is a directory" "$DIBS" status $(files "$dir/ci.pem" "$dir/ci.key" "$dir")
    says 2 "$dir/ci.key is not a certificate in PEM form" "$DIBS" status $(files "$dir/ci.key" "$dir/ci.key" "$dir/ours.pem")
    says 2 "$dir/web.key is not the private key of the certificate" "$DIBS" status $(files "$dir/ci.pem" "$dir/web.key" "$dir/ours.pem")
    says 2 "$dir/ci.key has no certificates of authorities in PEM form" "$DIBS" status $(files "$dir/ci.pem" "$dir/ci.key" "$dir/ci.key")
    openssl ec -in "$dir/ci.key" -aes128 -passout pass:secret -out "$dir/locked.key" 2>/dev/null
    chmod 600 "$dir/locked.key"
    says 2 "$dir/locked.key is not the private key of the certificate, in PEM form and without a password" \
        "$DIBS" status $(files "$dir/ci.pem" "$dir/locked.key" "$dir/ours.pem")
    cp "$dir/ci.key" "$dir/public.key" && chmod 644 "$dir/public.key"
    says 2 "every user can read $dir/public.key; change that with chmod 600" "$DIBS" status $(files "$dir/ci.pem" "$dir/public.key" "$dir/ours.pem")
    says 2 "belong together, and the authority of the daemons (--ca, \$DIBS_CA) is missing" \
        "$DIBS" status --connect "ant=$ant" --cert "$dir/ci.pem" --cert-key "$dir/ci.key"
    says 2 "and its private key (--cert-key, \$DIBS_CERT_KEY) is missing" "$DIBS" status --connect "ant=$ant" --cert "$dir/ci.pem" --ca "$dir/ours.pem"
    says 2 "choose a key or certificates" "$DIBS" status --connect "$bee" --key "$dir/key" $(with ci)
}
says 2 "without certificates, leave it out" "$DIBS" status --connect "ant=$ant"
DIBS_CERT=$dir/ci.pem DIBS_KEY=$dir/none "$DIBS" status --socket "$dir/ant" | grep -q '^ready yes'
tell $? "a Unix socket needs none of this"

# --------------------------------------------------------------------------------------------- kept sessions, and libdibs

# The daemon ends while the lock is held, and the session is resumed at the other one.
# shellcheck disable=SC2016,SC2046
"$DIBS" lock --connect "ant=$ant,bee=$bee" $(with ci) --keep 60 kept --wait 20 -- \
    sh -c 'echo "$DIBS_FENCE" >"$0"; while [ -e "$0" ]; do sleep 0.1; done' "$dir/inside" 2>"$dir/said" &
holder=$!
started="$started $holder"
until_true test -s "$dir/inside"
end_daemon ant
until_true sh -c "'$DIBS' holders kept --socket '$dir/bee' | grep -q 'from 127.0.0.1, cert:ci'"
tell $? "a kept session goes on at the other member, by the same certificate"
rm "$dir/inside"
wait $holder
tell $? "and its command has not lost the lock"

cat >"$dir/program.c" <<'END'
#include <dibs.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct dibs_options options = {.name = "program"};
    struct dibs *d;
    uint64_t fence;
    int code;

    if (argc == 5)
        options.cert = argv[2], options.cert_key = argv[3], options.ca = argv[4];
    code = dibs_connect(&d, argv[1], &options);
    if (code == DIBS_OK)
        code = dibs_lock(d, "library", NULL, &fence);
    printf("%d %s\n", code, code == DIBS_OK ? "locked" : dibs_message(d));
    dibs_close(d);
    return 0;
}
END
sanitizers=
[ "$MODE" != asan ] || sanitizers=-fsanitize=address,undefined
[ "$MODE" != cover ] || sanitizers=--coverage
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -Wall -Wextra -Werror $sanitizers -Iinclude -o "$dir/program" "$dir/program.c" "build/$MODE/libdibs.a"
tell $? "a program compiles with the options of the header"
[ "$("$dir/program" "bee=$bee" "$dir/ci.pem" "$dir/ci.key" "$dir/ours.pem")" = "0 locked" ]
tell $? "libdibs: by a certificate"
[ "$("$dir/program" "bee=$bee" "$dir/web.pem" "$dir/web.key" "$dir/ours.pem" | cut -c 1-46)" = '-7 cert:web does not have the right lock for "' ]
tell $? "libdibs: another one does not have the right"
"$dir/program" "bee=$bee" "$dir/none.pem" "$dir/ci.key" "$dir/ours.pem" | grep -q '^-8 cannot read .*/none.pem: No such file'
tell $? "libdibs: a file that is not there is a mistake"
"$dir/program" "ant=$bee" "$dir/ci.pem" "$dir/ci.key" "$dir/ours.pem" | grep -q '^-7 the daemon has a certificate for other names (bee) than "ant"'
tell $? "libdibs: another daemon is refused"
[ "$(LD_DEBUG=files "$dir/program" "$dir/bee" 2>"$dir/loaded")" = "0 locked" ] && ! grep -q "libssl" "$dir/loaded"
tell $? "libdibs: OpenSSL is not loaded for a Unix socket"

# ------------------------------------------------------------------------------------------------- an agent with one

agent() { # NAME PLACES FILE...: an agent that proves by this certificate who it is
    name=$1 connect=$2
    shift 2
    # shellcheck disable=SC2046
    "$DIBS" serve --agent --socket "$dir/$name" --name "$name" --connect "$connect" $(with "$@") 2>>"$dir/$name.log" &
    started="$started $!"
    echo $! >"$dir/$name.pid"
}
agent local "cat=$cat,$bee" ci # of bee, the certificate has the address
until_true is_ready local
tell $? "an agent proves by a certificate who it is, and verifies its member's"
"$DIBS" lock --socket "$dir/local" build-3 -- "$DIBS" holders build-3 --socket "$dir/bee" >"$dir/out" && grep -q 'from 127.0.0.1, cert:ci, agent local: user' "$dir/out"
tell $? "holders shows its name, and the user of its machine"
says 114 "cert:ci does not have the right lock for \"deploy\", by the rule in $dir/rules.conf:2" "$DIBS" lock deploy --socket "$dir/local" -- true
kill -HUP "$(cat "$dir/local.pid")"
until_true grep -q 'SIGHUP: the certificate was read again, for connections to come' "$dir/local.log" && is_ready local
tell $? "SIGHUP makes an agent read its certificate again"
end_daemon local
agent wrong "ant=$bee" ci
until_true grep -qF 'than "ant"' "$dir/wrong.log" && ! is_ready wrong
tell $? "an agent does not use a member whose certificate has another name"
end_daemon wrong
agent alien "$bee" false theirs
until_true grep -q 'reaches no member at 127.0.0.1.* it has a certificate that is not accepted' "$dir/alien.log" && ! is_ready alien
tell $? "an agent does not use a member of another authority"
end_daemon alien
# shellcheck disable=SC2046
rejects "--cert: an agent proves who it is by a key or by a certificate; choose one" serve --agent --connect "ant=$ant" $(with ci) --key "$dir/no.key" --check-config
rejects "--cert: without --ca it is of no use; cert, cert-key and ca belong together" serve --agent --connect "ant=$ant" --cert "$dir/ci.pem" --check-config
# shellcheck disable=SC2046
"$DIBS" serve --agent --connect "ant=$ant" $(with ci) --check-config | grep -q '^agent of .* with a certificate$'
tell $? "the configuration of such an agent can be checked"

end_daemon bee cat

# ------------------------------------------------------------------------------------------------ keys and certificates

"$DIBS" keygen "$dir/key"
serve solo --clients "$solo" --key "$dir/key"
until_true is_ready solo
# shellcheck disable=SC2046
says 1 "it is signed by itself, not by an authority in $dir/ours.pem; is a key used there instead?" "$DIBS" status --connect "ant=$solo" $(with ci)
end_daemon solo
# shellcheck disable=SC2046
serve solo --clients "$solo" --key "$dir/key" $(with ant)
until_true is_ready solo
# shellcheck disable=SC2046
"$DIBS" lock --connect "ant=$solo" $(with ci) x -- true && "$DIBS" lock --connect "$solo" --key "$dir/key" x -- true
tell $? "a daemon with both takes either"
# shellcheck disable=SC2046
"$DIBS" force-unlock x --connect "ant=$solo" $(with operator) 2>&1 | grep -q 'no client holds "x"' &&
    "$DIBS" force-unlock x --connect "ant=$solo" $(with ci) 2>&1 | grep -q "needs an operator"
tell $? "without rules, the certificate for operator.dibs is an operator's, and others are not"
end_daemon solo

! grep -l "Sanitizer\|runtime error\|Assertion" "$dir"/*.log
tell $? "no daemon has complained of itself"

echo "1..$number"
