#!/usr/bin/env bash
# Fuzzes every parser of text, and the reader of statistics, for so many seconds each:
# scripts/fuzz.sh [SECONDS]. Needs clang with its run-time library.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
build=build/fuzz
mkdir -p $build/corpus
printf '\0''4MiB' > $build/corpus/size
printf '\1{"task_size": "16MiB"}' > $build/corpus/config
printf '\2{"execution": {"max_io_threads": 8}, "block": {"nvme": {"use_pci_p2pdma": true}}}' > $build/corpus/cufile
printf '\3''22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n' > $build/corpus/mounts
printf '\4IO stats: Enabled\nReads : n=3 readMiB=1\n' > $build/corpus/nvfs
printf '\5rchar: 5\n' > $build/corpus/io
printf '\6\0\1\2' > $build/corpus/pci
printf '\7{"schema": "waybill.facts/1", "gpus": [{"device": 0}]}' > $build/corpus/facts
printf '\10a@b 10.0.0.1 0123:4567' > $build/corpus/names
printf '\11''10s' > $build/corpus/settings
flags="-std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -DFMT_HEADER_ONLY -Iinclude -Isrc"
texts="fuzz/texts.cpp src/base/*.cpp src/settings/*.cpp src/facts/mount.cpp src/facts/pci.cpp src/facts/save.cpp
    src/facts/saved_facts.cpp src/facts/saved_facts_json.cpp src/facts/cufile_json.cpp src/facts/cufile_entries_json.cpp
    src/evidence/nvidia_fs_stats.cpp src/evidence/process_io.cpp"
segments="fuzz/segments.cpp src/stats/contradictions.cpp src/stats/histogram.cpp src/stats/openmetrics.cpp src/stats/reader.cpp
    src/stats/stats_json.cpp src/stats/text.cpp src/base/error.cpp src/base/text.cpp src/route/names.cpp"
compiler="${CMAKE_CXX_COMPILER_LAUNCHER:-} clang++"
# object SOURCE: where its object file lies.
object() { echo "$build/objects/${1//\//-}.o"; }
objects() { local source; for source in $1; do object "$source"; done; }
compile() { $compiler $flags -c "$1" -o "$(object "$1")"; }
export -f compile object
export compiler flags build
mkdir -p $build/objects
printf '%s\n' $texts $segments | sort -u | xargs -P "$(nproc)" -I{} bash -c 'compile {}'
clang++ $flags $(objects "$texts") -ldl -lpthread -o $build/texts
clang++ $flags $(objects "$segments") -o $build/segments-fuzzer

$build/texts -max_total_time="$seconds" -max_len=4096 -timeout=5 -rss_limit_mb=2048 -print_final_stats=1 $build/corpus
mkdir -p $build/segments
printf '\3\377\377\377\377\377\377\377\377' > $build/segments/ones
printf '\3\376\377\377\377\377\377\377\377' > $build/segments/even
$build/segments-fuzzer -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 $build/segments
echo "2 passed"
