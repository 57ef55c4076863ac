#!/bin/sh
# Packs a wheel of a module that cargo has built, and prints its path:
#
#     python/tools/wheel.sh target/debug/deps/lib_native.so OUT_FOLDER PYTHON
#
# PYTHON has the packages maturin and wheel. `pip install ./python` and release/wheels compile the module anew, with all
# optimisations; this one is for the tests, which have compiled everything already.
set -eu
module=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
# The link itself: what it points to does not know the packages.
python=$(cd "$(dirname "$3")" && pwd)/$(basename "$3")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m maturin pep517 write-dist-info --metadata-directory "$work" --interpreter "$python" >/dev/null 2>&1
mkdir "$work/resched"
for file in python/resched/*.py python/resched/*.pyi python/resched/py.typed; do
    cp "$file" "$work/resched/"
done
# Without its symbols, a module of the tests is half as large.
strip -o "$work/resched/_native.abi3.so" "$module"
"$python" -m wheel pack "$work" --dest-dir "$out" >/dev/null
ls "$out"/resched-*.whl
