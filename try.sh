#!/usr/bin/env bash
# Sets everything up and does the main job: reads a real file of 1 GiB into GPU memory (host memory where there is no GPU),
# checks the bytes against sha256sum, and prints the receipt.
#   ./try.sh [FILE]      FILE: yours instead of one that is made
set -eu -o pipefail
cd "$(dirname "$0")"
. scripts/setup.sh
mkdir -p build
echo "setting up (the first time takes a few minutes; the log is build/try.log)" >&2
{
    setup_build &&
        cmake -S . -B build/try -G Ninja -DCMAKE_BUILD_TYPE=Release &&
        cmake --build build/try
} > build/try.log 2>&1 || { tail -n 40 build/try.log >&2; echo "the set-up failed; CONTRIBUTING.md tells what it needs" >&2; exit 1; }

file=${1:-}
if [ -z "$file" ]; then
    file=build/try.bin
    if [ "$(stat -c %s "$file" 2> /dev/null || echo 0)" -ne $((1 << 30)) ]; then
        echo "making a file of 1 GiB" >&2
        head -c 1073741824 /dev/urandom > "$file"
    fi
fi
receipt=$(build/try/waybill read "$file" --sha256)
echo "$receipt"
wanted=$(sha256sum "$file" | cut -d' ' -f1)
if [ "$(echo "$receipt" | awk '$1 == "sha256" {print $2}')" = "$wanted" ]; then
    echo "verified: sha256sum of the file is the same"
else
    echo "WRONG BYTES: sha256sum of the file is $wanted" >&2
    exit 1
fi
