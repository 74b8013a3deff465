# shellcheck shell=sh
# Fifty ports for this suite alone, from $base on: below those that the system gives to connections. Suites run side by side, here
# and from other copies of the project: the block belongs to whoever has its file locked, and that is given up when the suite and
# all that it started have ended.
take_ports() {
    for try in $(seq 0 449); do
        block=$((($$ + try) % 450))
        exec 9>>"${TMPDIR:-/tmp}/dibs-ports.$block" || continue
        base=$((10000 + 50 * block))
        flock -n 9 && awk -v from=$base '
            function number(hex,    n, k) { for (k = 1; k <= 4; k++) n = 16 * n + index("123456789ABCDEF", substr(hex, k, 1)); return n }
            $4 == "0A" { sub(/.*:/, "", $2); port = number($2); taken += port >= from && port < from + 50 }
            END { exit taken > 0 }' /proc/net/tcp /proc/net/tcp6 && return 0
    done
    echo "# no block of ports is free"
    exit 2
}
