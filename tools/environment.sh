#!/bin/sh
# Updates .venv: `environment.sh run` installs what the command needs, `environment.sh dev` what the tests need, too.
# Does nothing, at once, if nothing has changed. PYTHON=/path/to/python3 chooses the interpreter.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd -P)
wanted=$1

# A checkout changes times, not contents; a moved folder breaks the scripts in .venv/bin.
state="$root $(cat requirements.txt requirements-dev.txt pyproject.toml tools/environment.py | cksum)"
stamp=.venv/.installed-$wanted
if [ -z "${PYTHON:-}" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$state" ] && [ -x .venv/bin/rollscope ] &&
    .venv/bin/python -I -c 'import msgspec' 2>/dev/null; then
    exit 0
fi

new_enough='import sys; sys.exit(sys.version_info < (3, 11) or sys.implementation.name != "cpython")'

candidates() {
    [ -z "${PYTHON:-}" ] || command -v "$PYTHON" || true
    # As root, graded code runs as another user, who usually can't read root's home.
    [ "$(id -u)" != 0 ] || printf '%s\n' /usr/bin/python3 /usr/local/bin/python3
    for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
        (
            IFS=:
            for folder in $PATH; do
                case $folder in "$root"/.venv/*) continue ;; esac
                [ ! -x "${folder:-.}/$name" ] || printf '%s\n' "${folder:-.}/$name"
            done
        )
    done
    for path in /usr/bin/python3 /usr/local/bin/python3 /opt/*/bin/python3 "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/*/bin/python3 \
        "${HOME:-}"/.local/share/uv/python/*/bin/python3 "${HOME:-}"/*conda*/bin/python3 "${HOME:-}"/*forge*/bin/python3; do
        [ ! -x "$path" ] || printf '%s\n' "$path"
    done
}

if [ -n "${PYTHON:-}" ] && ! "$PYTHON" -I -c "$new_enough" >/dev/null 2>&1 </dev/null; then
    echo "rollscope: PYTHON=$PYTHON does not run or is not CPython 3.11 or newer: name another, or leave PYTHON out" >&2
    exit 2
fi
# One per line, since folders may have spaces. A candidate must run: a pyenv shim may only print an error.
found=$(candidates | awk '!seen[$0]++' | while IFS= read -r candidate; do
    if "$candidate" -I -c "$new_enough" >/dev/null 2>&1 </dev/null; then printf '%s\n' "$candidate"; fi
done)
if [ -z "$found" ]; then
    echo "rollscope: no Python 3.11 or newer was found: install one, or name it with 'make PYTHON=/path/to/python3'" >&2
    exit 2
fi

first=$(printf '%s\n' "$found" | head -n 1)
printf '%s\n' "$found" | "$first" -I tools/environment.py "$wanted" "$stamp" "$state"
