#!/bin/sh
# Writes requirements.txt and requirements-dev.txt from the ranges in pyproject.toml. Needs uv.
# One version of each package for every supported Python; no index, no link folder and no local file is named.
set -eu
cd "$(dirname "$0")/.."

compile() {
    target=$1
    shift
    fresh=$(mktemp)
    # Into a new file: uv would keep the versions that it finds in the old one.
    UV_CUSTOM_COMPILE_COMMAND="make lock" uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
        --no-emit-index-url --no-emit-find-links --group build "$@" pyproject.toml --output-file "$fresh" >/dev/null
    sed 's/ (pyproject\.toml[^)]*)//; s/ *(\/[^)]*)//' "$fresh" >"$target"
    rm -f "$fresh"
}

compile requirements.txt --extra all
compile requirements-dev.txt --extra all --extra dev --constraint requirements.txt
