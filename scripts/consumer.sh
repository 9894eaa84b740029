#!/usr/bin/env bash
# Installs the library and builds examples/quickstart against the installed package, as a user of it would.
set -eu
cd "$(dirname "$0")/.."
prefix=$PWD/build/consumer/prefix
cmake -S . -B build/consumer/waybill -G Ninja -DCMAKE_BUILD_TYPE=Release -DWAYBILL_CLI=OFF -DCMAKE_INSTALL_PREFIX="$prefix"
cmake --build build/consumer/waybill
cmake --install build/consumer/waybill
cmake -S examples/quickstart -B build/consumer/quickstart -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
cmake --build build/consumer/quickstart
head -c 5000000 /dev/urandom > build/consumer/file
build/consumer/quickstart/quickstart build/consumer/file | tee build/consumer/out
grep -q ' by host ' build/consumer/out || grep -q ' by staged ' build/consumer/out
echo "1 passed"
