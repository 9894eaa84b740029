#!/usr/bin/env bash
# Installs the library and builds examples/quickstart against the installed package, as a user of it would.
#   scripts/consumer.sh [BUILD]      BUILD: a build folder whose library is taken, instead of building one
set -eu
cd "$(dirname "$0")/.."
prefix=$PWD/build/consumer/prefix
built=${1:-build/consumer/waybill}
if [ $# -eq 0 ]; then
    cmake -S . -B "$built" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWAYBILL_CLI=OFF
    cmake --build "$built"
fi
cmake --install "$built" --prefix "$prefix"
cmake -S examples/quickstart -B build/consumer/quickstart -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
cmake --build build/consumer/quickstart
head -c 5000000 /dev/urandom > build/consumer/file
build/consumer/quickstart/quickstart build/consumer/file | tee build/consumer/out
grep -q ' by host ' build/consumer/out || grep -q ' by staged ' build/consumer/out
echo "1 passed"
