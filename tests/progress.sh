#!/bin/sh
# Progress and colours on a terminal, and neither without one; see progress.py.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"
python3 tests/progress.py "$DIBS" "$dir"
