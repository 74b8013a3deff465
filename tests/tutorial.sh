#!/bin/sh
# docs/tutorial-neilsen-mizuno.md, followed step by step in a copy of the project; see tutorial.py.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

# What is built already is not built again: times are kept.
mkdir -p "$dir/tree/build" "$dir/tree/tests/scenario" && cp -a Makefile CHANGELOG.md src include "$dir/tree" && cp -a "build/$MODE" "$dir/tree/build" || exit 1
[ ! -e build/libraft ] || ln -s "$PWD/build/libraft" "$dir/tree/build" || exit 1
python3 tests/tutorial.py docs/tutorial-neilsen-mizuno.md "$dir/tree" "$MODE"
