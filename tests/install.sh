#!/bin/sh
# make install: the program, its pages and completions, the library, and the service of a system, as systemd's own tools read it.
# make lab: the laboratory alone, which knows nothing of the service and its libraries.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

root=$dir/root
MAKEFLAGS='' make -s install MODE="$MODE" DESTDIR="$root" PREFIX=/usr >"$dir/out" 2>&1
tell $? "make install"
rm -f "$dir/out"

missing=0
for file in usr/bin/dibs usr/lib/libdibs.so.0 usr/lib/libdibs.so usr/lib/libdibs.a usr/lib/pkgconfig/dibs.pc usr/include/dibs.h \
    usr/share/man/man1/dibs.1 usr/share/man/man1/dibs-lock.1 usr/share/man/man3/libdibs.3 usr/share/man/man5/dibs.conf.5 \
    usr/share/bash-completion/completions/dibs usr/share/zsh/site-functions/_dibs usr/share/fish/vendor_completions.d/dibs.fish \
    usr/lib/systemd/system/dibs.service usr/lib/sysusers.d/dibs.conf usr/lib/tmpfiles.d/dibs.conf etc/dibs/dibs.conf \
    usr/share/doc/dibs/README.md usr/share/doc/dibs/docs/oncall.md usr/share/doc/dibs/examples/dibs.rules.yml \
    usr/share/doc/dibs/examples/grafana.json; do
    [ -s "$root/$file" ] || { echo "# there is no $file" && missing=1; }
done
tell $missing "all of it is there"
! grep -rl '@[A-Z]*@' "$root/usr/lib/systemd" "$root/usr/lib/pkgconfig" && ! find "$root" -newer "$root/usr/bin/dibs" -type f -perm /022 | grep .
tell $? "no mark of a template is left, and no other user can write to it"

echo '# mine' >>"$root/etc/dibs/dibs.conf"
make -s install-service MODE="$MODE" DESTDIR="$root" PREFIX=/usr && grep -q '^# mine' "$root/etc/dibs/dibs.conf"
tell $? "a configuration that is there already is left alone"
! make -s install MODE="$MODE" PREFIX="$dir/else where" 2>"$dir/err" && grep -q 'have no spaces' "$dir/err"
tell $? "a prefix with a space is refused"
rm -f "$dir/err"

# The loader finds a new library only when ldconfig has run; not for files that are packed for another machine.
mkdir "$dir/stub" && printf '#!/bin/sh\necho called >>"%s"\n' "$dir/called" >"$dir/stub/ldconfig" && chmod 755 "$dir/stub/ldconfig"
PATH="$dir/stub:$PATH" make -s install-library MODE="$MODE" DESTDIR="$root" PREFIX=/usr && [ ! -e "$dir/called" ] &&
    PATH="$dir/stub:$PATH" make -s install-library MODE="$MODE" PREFIX="$dir/place" && { [ "$(id -u)" != 0 ] || [ "$(cat "$dir/called")" = called ]; }
tell $? "make install tells the loader about the library, unless there is a DESTDIR"
cp -a "$root" "$dir/gone"
MAKEFLAGS='' make -s uninstall MODE="$MODE" DESTDIR="$dir/gone" PREFIX=/usr >"$dir/out" 2>&1 && grep -q 'dibs.conf is left' "$dir/out" &&
    [ "$(cd "$dir/gone" && find . ! -type d)" = ./etc/dibs/dibs.conf ] && cp packaging/dibs.conf "$dir/gone/etc/dibs/" &&
    MAKEFLAGS='' make -s uninstall MODE="$MODE" DESTDIR="$dir/gone" PREFIX=/usr >"$dir/out" 2>&1 && [ -z "$(find "$dir/gone" -name '*dibs*')" ]
tell $? "make uninstall leaves nothing but a configuration that was changed"
rm -f "$dir/out"
! ./run install here 2>"$dir/err" && grep -q '^run: "here" is no setting.*PREFIX=DIR' "$dir/err"
tell $? "./run install asks for a prefix by name"
rm -f "$dir/err"

sed '/^socket-group/d' "$root/etc/dibs/dibs.conf" >"$dir/alone.conf"
"$DIBS" serve --config "$dir/alone.conf" --check-config >"$dir/out" 2>&1 && grep -q '/run/dibs/dibs.sock' "$dir/out"
tell $? "the configuration has no mistake"
sed -n 's/^#\(connect .*\)/\1/p; /^socket /p' "$root/etc/dibs/dibs.conf" >"$dir/agent.conf"
sed -n 's/^#\([a-z][a-z]* .*\)/\1/p' "$root/etc/dibs/dibs.conf" | sed '/^key/d; /^connect/d; /^allow/s/group:ci/any/' >>"$dir/alone.conf"
sed -i 's/10\.0\.0\.\([0-9]\)/127.0.0.\1/' "$dir/alone.conf"
"$DIBS" serve --config "$dir/alone.conf" --name ant --check-config >"$dir/out" 2>&1
tell $? "and what it shows in comments is right, too"
grep -q '^connect' "$dir/agent.conf" && "$DIBS" serve --config "$dir/agent.conf" --check-config >"$dir/out" 2>&1
tell $? "also for an agent"
rm -f "$dir/out"

# ------------------------------------------------------------------------------------------------------ Debian's lists

sed -n 's/^DIBS_API .*[ *]\(dibs_[a-z_]*\)(.*/\1/p' include/dibs.h | sort >"$dir/declared"
sed -n 's/^ \(dibs_[a-z_]*\)@Base .*/\1/p' debian/libdibs0.symbols | sort >"$dir/listed"
diff "$dir/declared" "$dir/listed" >"$dir/out" && grep -q "^libdibs.so.$(sed -n 's/^ABI := \([0-9]*\).*/\1/p' Makefile) " debian/libdibs0.symbols
tell $? "debian/libdibs0.symbols has the functions of dibs.h (add a line for each new one, with this version)"
rm -f "$dir/out"
[ "$(sed -n '1s/^dibs (\([^)]*\)).*/\1/p' debian/changelog)" = "$(sed -n 's/^VERSION := //p' Makefile)" ]
tell $? "debian/changelog has the version of the Makefile"
# What "make install" installs belongs to a package, and each package's list names something.
unlisted=0
(cd "$root" && find . -type f -o -type l) | sed 's|^\./||; s|^usr/lib/systemd|lib/systemd|; s|zsh/site-functions|zsh/vendor-completions|; s|^usr/lib/libdibs|usr/lib/x/libdibs|; s|^usr/lib/pkgconfig|usr/lib/x/pkgconfig|' >"$dir/installed"
while read -r file; do
    found=
    while read -r pattern; do
        # shellcheck disable=SC2254 # a pattern
        case $file in $pattern | $pattern/*) found=yes ;; esac
    done <<END
$(cat debian/*.install debian/not-installed)
END
    [ -n "$found" ] || { echo "# no package has $file" && unlisted=1; }
done <"$dir/installed"
tell $unlisted "each file that is installed belongs to a package"

# ------------------------------------------------------------------------------------------------------------ a release

# A repository of its own, with a changelog of two releases.
mkdir -p "$dir/repo/packaging"
cp packaging/make-release "$dir/repo/packaging/"
printf 'VERSION := 2.0.0\n' >"$dir/repo/Makefile"
printf '# Changelog\n\n## 2.0.0 (unreleased)\n\n- new\n\n## 1.0.0 (2026-01-01)\n\n- old\n' >"$dir/repo/CHANGELOG.md"
in_repo() {
    (cd "$dir/repo" && git -c user.name=test -c user.email=test@localhost "$@") >/dev/null 2>&1
}
in_repo init && in_repo add -A && in_repo commit -m first
[ "$("$dir/repo/packaging/make-release" --notes | tr -d '\n')" = "- new" ]
tell $? "the notes of a release are those of its version"
! "$dir/repo/packaging/make-release" --check 2>"$dir/err" && [ "$(grep -c '^make-release:' "$dir/err")" = 2 ] && grep -q 'git tag -a 2.0.0' "$dir/err"
tell $? "a commit without a date and a tag is not released"
sed -i 's/unreleased/2026-02-02/' "$dir/repo/CHANGELOG.md" && in_repo commit -am second && in_repo tag -a 2.0.0 -m 2.0.0 &&
    "$dir/repo/packaging/make-release" --check 2>"$dir/err"
tell $? "a commit with both is"
: >"$dir/repo/new" && ! "$dir/repo/packaging/make-release" --check 2>"$dir/err"
tell $? "but not with changes that are not committed"
rm -f "$dir/err"

# ------------------------------------------------------------------------------------------------------------- systemd

if command -v systemd-analyze >/dev/null && [ "$(id -u)" = 0 ]; then
    ln -s "$DIBS" "$dir/dibs" # its path may have a space
    sed "s|/usr/bin/dibs|$dir/dibs|" "$root/usr/lib/systemd/system/dibs.service" >"$dir/dibs.service"
    systemd-analyze verify "$dir/dibs.service" >"$dir/out" 2>&1
    ! grep -v 'man dibs' "$dir/out" | grep "dibs.service"
    tell $? "systemd-analyze verify has no objection to the unit"
    # From 0, nothing is exposed, to 100. It needs the network, a user's socket and its files.
    systemd-analyze security --offline=true --threshold=20 "$dir/dibs.service" >"$dir/out" 2>&1
    tell $? "systemd-analyze security: the level of exposure is $(grep -o '[0-9.]* [A-Z]*[^A-Z]*$' "$dir/out" | tail -n 1 | cut -d ' ' -f 1), at most 2.0"
    rm -f "$dir/out"
    sed '/^Protect\|^Restrict\|^SystemCall\|^Capability/d' "$dir/dibs.service" >"$dir/soft.service"
    ! systemd-analyze security --offline=true --threshold=20 "$dir/soft.service" >/dev/null 2>&1
    tell $? "a unit without its protections is exposed"
    systemd-sysusers --root="$root" >"$dir/out" 2>&1 && systemd-tmpfiles --root="$root" --create >>"$dir/out" 2>&1
    grep -q '^dibs:.*:/var/lib/dibs:' "$root/etc/passwd" && grep -q '^dibs:' "$root/etc/group" &&
        [ "$(stat -c '%a %u' "$root/run/dibs")" = "755 $(sed -n 's/^dibs:[^:]*:\([0-9]*\):.*/\1/p' "$root/etc/passwd")" ]
    tell $? "systemd-sysusers makes the user, systemd-tmpfiles the directory of the socket"
    rm -f "$dir/out"
else
    tell 0 "systemd's tools # SKIP they are not installed, or this is not root"
fi

# ------------------------------------------------------------------------------------------------------ the laboratory

make -s lab MODE="$MODE" >"$dir/out" 2>&1 && ! nm -u "build/$MODE/dibs-lab" | grep -E ' (uv_|raft_|SSL_|MHD_)'
tell $? "make lab: it needs no library of the service"
# Every file of the project that it was compiled from: none includes a header of these libraries.
make -s -p -n lab MODE="$MODE" 2>/dev/null >"$dir/make"
{
    sed -n 's/^LAB_SOURCES := //p' "$dir/make" | tr ' ' '\n' | sed "s|\(.*\)\.c\$|build/$MODE/\1.d|"
    sed -n 's/^LAB_SPECIAL := //p' "$dir/make" | tr ' ' '\n' | sed "s|\(.*\)\.c\$|build/$MODE/lab-only/\1.d|"
} | grep '\.d$' | xargs cat | tr -s ' \\:' '\n' | grep '^\(src\|include\)/.*\.[ch]$' | sort -u >"$dir/sources"
[ "$(wc -l <"$dir/sources")" -gt 150 ] && ! grep -v 'src/cli/version.c' "$dir/sources" | xargs grep -lE '# *include <(uv|raft|openssl/.*|microhttpd)\.?h?' >"$dir/out"
tell $? "make lab: none of its $(wc -l <"$dir/sources") files includes a header of these libraries"
"build/$MODE/dibs-lab" check lamport --sites 2 >"$dir/out" 2>&1 && grep -q 'mutual exclusion.*hold' "$dir/out" &&
    ! "build/$MODE/dibs-lab" --help | grep -q 'dibs serve'
tell $? "make lab: it checks algorithms, and has no daemon"
lab=$dir/lab
MAKEFLAGS='' make -s install-lab MODE="$MODE" DESTDIR="$lab" PREFIX=/usr >"$dir/out" 2>&1 && "$lab/usr/bin/dibs" --version | grep -q 'the laboratory alone' &&
    [ -s "$lab/usr/share/man/man1/dibs-check.1" ] && [ -s "$lab/usr/share/bash-completion/completions/dibs" ] &&
    ! find "$lab" | grep -E 'dibs-serve|systemd|libdibs|sysusers|/etc/' && "$lab/usr/bin/dibs" scenario "$lab/usr/share/doc/dibs-lab/examples/scenario/lamport.txt" >"$dir/out" 2>&1
tell $? "make install-lab: the laboratory, its pages and completions, and nothing of the service"
if command -v mandoc >/dev/null; then
    (cd "$lab/usr/share/man/man1" && mandoc -T lint -W style ./*) >"$dir/out" 2>&1 && ! grep -rlE 'dibs-(serve|lock|try) 1|libdibs 3' "$lab/usr/share/man"
    tell $? "make install-lab: mandoc has no advice about its pages, and they name no page that is missing"
fi
rm -f "$dir/out"
echo "1..$number"
