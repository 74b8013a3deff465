#!/bin/sh
# The page's WebAssembly module, compared with the native binary: tests/page/module.mjs. It takes clang, lld, wasi-libc and
# node. Then the page itself, in a browser: tests/browser/lab.mjs. It takes chromium and npm.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

skip() { # REASON
    echo "ok 1 - the page's module # SKIP $1"
    echo "1..1"
    exit
}
[ "$MODE" = release ] || skip "the module is the same in every mode"
for tool in clang wasm-ld node python3; do
    command -v $tool >/dev/null || skip "there is no $tool; ./run test installs it"
done
[ -d /usr/include/wasm32-wasi ] || skip "there is no wasi-libc; ./run test installs it"

make -s -j "$(nproc)" page >"$dir/out" 2>&1
tell $? "core, algorithms, laboratory, checker and simulator compile to WebAssembly, and the page is made"
rm -f "$dir/out"
node tests/page/module.mjs "$DIBS" build/wasm/dibs.wasm build/release/dibs-lab.html $number >"$dir/module"
ended=$?
sed '/^1\.\./d' "$dir/module"
number=$((number + $(grep -c '^\(not \)\{0,1\}ok ' "$dir/module")))
tell $ended "the tests of the module come to their end"
NUMBER=$number tests/browser/run --short
