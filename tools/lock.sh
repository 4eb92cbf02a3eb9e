#!/bin/sh
# Writes requirements.txt, requirements-dev.txt and requirements-docs.txt from the ranges in pyproject.toml. Needs uv.
# One version of each package for every supported Python; no index, no link folder and no local file is named.
set -eu
cd "$(dirname "$0")/.."

compile() {
    target=$1
    shift
    fresh=$(mktemp)
    # Into a new file: uv would keep the versions that it finds in the old one.
    UV_CUSTOM_COMPILE_COMMAND="make lock" uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
        --no-emit-index-url --no-emit-find-links "$@" --output-file "$fresh" >/dev/null
    sed 's/ (pyproject\.toml[^)]*)//; s/ *(\/[^)]*)//' "$fresh" >"$target"
    rm -f "$fresh"
}

compile requirements.txt --group build --extra all pyproject.toml
compile requirements-dev.txt --group build --extra all --extra dev --constraint requirements.txt pyproject.toml
compile requirements-docs.txt --group docs --constraint requirements-dev.txt
