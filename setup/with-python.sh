#!/bin/sh
# Runs a script of this folder with the first Python that is new enough:
#
#   setup/with-python.sh environment.py run
#
# PYTHON=... names another. A command of the right name is no proof (pyenv leaves shims that only
# print an error), so each is run.
set -eu
here=$(dirname "$0")
script=$1
shift
for python in ${PYTHON:+"$PYTHON"} python3.11 python3.12 python3.13 python3; do
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        exec "$python" "$here/$script" "$@"
    fi
done
echo "Bailiwick needs Python 3.11 or newer, and none was found: install one, or name it with PYTHON=/path/to/python3" >&2
exit 1
