#!/bin/sh
# The same option means the same in all commands, and exit statuses are those of one table: see options.py.
# shellcheck source=tests/suite.sh
. "$(dirname "$0")/suite.sh"

python3 tests/options.py "$DIBS" tests/options.txt
