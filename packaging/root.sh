# shellcheck shell=sh
# What the tests of packages share: each begins with  . "$(dirname "$0")/root.sh"  and goes on in the project's directory, with a
# directory of its own ($dir) that goes when it ends. They print TAP, and end with tap_end. They need root, and a network.
set -u
cd "$(dirname "$0")/.." || exit 2
[ "$(id -u)" = 0 ] || { echo "$0: this needs root: debootstrap and chroot do" >&2 && exit 2; }
number=0
failed=0
dir=$(mktemp -d)
root=$dir/root
this_release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)

root_finish() {
    rm -rf --one-file-system "$dir"
}
trap root_finish EXIT
trap 'exit 1' INT TERM

step() { # NAME COMMAND...
    name=$1
    shift
    number=$((number + 1))
    if "$@" >"$dir/out" 2>&1 </dev/null; then
        echo "ok $number - $name"
        return 0
    fi
    tail -n 20 "$dir/out" "$dir/boot.log" 2>/dev/null | sed 's/^/# /'
    echo "not ok $number - $name"
    failed=$((failed + 1))
    return 1
}

tap_end() {
    echo "1..$number"
    [ $failed = 0 ]
    exit
}

# Makes $root, a bare system of a release of Debian, by debootstrap, which is installed if it is missing; or copies ROOT=DIRECTORY, which
# is there already. Packages come from the mirror of this machine, by its proxy, if it has one. Nothing goes on without a root: what
# follows would happen to this machine.
fresh_root() { # SUITE-OF-DEBIAN
    if [ -n "${ROOT:-}" ]; then
        step "a copy of $ROOT" cp -a "$ROOT" "$root" || tap_end
        return
    fi
    command -v debootstrap >/dev/null ||
        step "debootstrap is installed" sh -c 'apt-get update -q && apt-get -o DPkg::Lock::Timeout=600 install -q -y --no-install-recommends debootstrap' || tap_end
    # shellcheck disable=SC2016 # apt-get's own
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' | grep '/debian/*$' | head -n 1)
    proxy=$(apt-config dump Acquire::http::Proxy --format '%v')
    step "a fresh root of $1" env ${proxy:+"http_proxy=$proxy"} debootstrap --variant=minbase "$1" "$root" "$mirror" || tap_end
    apt-config dump | grep -E '^Acquire::(https?::Proxy|Check-Valid-Until)' >"$root/etc/apt/apt.conf.d/99mirror"
}

# In the root, without the environment of this shell, with the file systems that a machine has: of processes, terminals and shared memory.
# What runs in the background ends with it. If "alone" is set, it has a network of its own, in which all ports are free; this machine's ip
# begins it, since a bare system has none.
alone=
inside() { # COMMAND...
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C \
        unshare ${alone:+--net} --mount --pid --fork --kill-child sh -c '[ -z "$1" ] || ip link set lo up; shift; exec chroot "$@"' sh "$alone" "$root" sh -c '
            mount -t proc proc /proc; mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts /dev/pts; mount -t tmpfs -o mode=1777 tmpfs /dev/shm
            exec "$@"' sh "$@"
}
