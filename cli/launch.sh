#!/bin/sh
# Runs `temporality` from the project's root, in the project's own environment, wherever the caller stands.
# `make install` copies this file to .venv/bin/temporality; the project itself is never installed.
self=$0
[ -L "$self" ] && self=$(readlink -f -- "$self")
root=$(cd -- "$(dirname -- "$self")/../.." && pwd) || exit 1
exec "$root/.venv/bin/python" -P "$root/cli/__main__.py" "$@"
