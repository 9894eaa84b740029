#!/usr/bin/env bash
# Fuzzes every parser, the archives of --root, a hostile /sys and the reader of statistics: each in a process and with a corpus of
# its own, side by side. scripts/fuzz.sh [SECONDS]: of all together. Needs clang with its run-time library.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-120}
build=build/fuzz
flags="-std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -DFMT_HEADER_ONLY -Iinclude -Isrc"
# What any of the fuzzers needs; each is linked with what it uses of it.
sources="src/facts/mount.cpp src/facts/pci.cpp src/facts/nvidia_fs.cpp src/facts/udev.cpp src/facts/block.cpp src/facts/limits.cpp
    src/facts/cufile_library.cpp src/facts/elf.cpp src/base/*.cpp src/settings/*.cpp src/facts/save.cpp
    src/facts/needed_libraries.cpp src/facts/saved_facts.cpp src/facts/scrub.cpp
    src/facts/saved_facts_json.cpp src/facts/cufile_json.cpp src/facts/cufile_entries_json.cpp src/facts/archive.cpp
    src/facts/libarchive.cpp src/facts/unpack.cpp
    src/evidence/nvidia_fs_stats.cpp src/evidence/process_io.cpp src/stats/contradictions.cpp src/stats/histogram.cpp
    src/stats/openmetrics.cpp src/stats/reader.cpp src/stats/stats_json.cpp src/stats/text.cpp src/route/names.cpp"
programs="texts segments archives blocks"

# seed FUZZER NAME TEXT: an input to begin with.
seed() { mkdir -p "$build/corpus/$1" && printf "$3" > "$build/corpus/$1/$2"; }
seed size a '4MiB'
seed config a '{"task_size": "16MiB"}'
seed cufile a '{"execution": {"max_io_threads": 8}, "block": {"nvme": {"use_pci_p2pdma": true}}}'
seed mounts a '22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n'
seed nvidia-fs a 'NVFS Driver(version: 2.27.3)\nIO stats: Enabled\nReads : n=3 readMiB=1\n'
seed nvidia-fs b 'nvme: 3\n'
seed process-io a 'rchar: 5\n'
seed pci a '\0\1\2'
seed saved-facts a '{"schema": "waybill.facts/1", "gpus": [{"device": 0}]}'
seed scrub a 'a@b 10.0.0.1 0123:4567'
seed udev a 'I:1\nE:ID_FS_TYPE=ext4\nE:ID_FS_USAGE=filesystem\n'
seed settings a '10s'
mkdir -p $build/corpus/elf $build/objects
head -c 4096 /bin/true > $build/corpus/elf/true
seed segments ones '\3\377\377\377\377\377\377\377\377'
seed segments even '\3\376\377\377\377\377\377\377\377'
seed blocks a 'sys/dev/block/259:1>../../devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1/nvme0n1p1\nsys/class/block/md0/slaves/md0>x\n'
seed blocks b 'sys/dev/block/259:1>../dm-0\nsys/class/block/dm-0/slaves/md1/\nsys/class/block/md1/slaves/dm-0/\nproc/self/mountinfo=x'
# A link that leads out and a file below it; a way up; plain files, compressed.
mkdir -p $build/corpus/archives
python3 - $build/corpus/archives << 'END'
import io, sys, tarfile
def archive(name, mode, *entries):
    with tarfile.open(f"{sys.argv[1]}/{name}", mode, format=tarfile.USTAR_FORMAT) as tar:
        for path, kind, text in entries:
            entry = tarfile.TarInfo(path)
            entry.type, entry.linkname = kind, text if kind != tarfile.REGTYPE else ""
            entry.size = len(text) if kind == tarfile.REGTYPE else 0
            tar.addfile(entry, io.BytesIO(text.encode()) if kind == tarfile.REGTYPE else None)
archive("out", "w", ("a", tarfile.SYMTYPE, ".."), ("a/x", tarfile.REGTYPE, "x"))
archive("up", "w", ("../../x", tarfile.REGTYPE, "x"))
archive("secret", "w", ("a", tarfile.SYMTYPE, "../../secret"), ("b", tarfile.LNKTYPE, "../../secret"))
archive("plain", "w:gz", ("proc/self/mountinfo", tarfile.REGTYPE, "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"), ("dev", tarfile.DIRTYPE, ""))
END

compiler="${CMAKE_CXX_COMPILER_LAUNCHER:-} clang++"
# object SOURCE: where its object file lies.
object() { echo "$build/objects/${1//\//-}.o"; }
objects() { local source; for source in $1; do object "$source"; done; }
compile() { $compiler $flags -c "$1" -o "$(object "$1")"; }
export -f compile object
export compiler flags build
printf '%s\n' $sources fuzz/*.cpp | sort -u | xargs -P "$(nproc)" -I{} bash -c 'compile {}'
rm -f $build/libparsers.a
ar rcs $build/libparsers.a $(objects "$sources")
for program in $programs; do
    clang++ $flags "$(object fuzz/$program.cpp)" $build/libparsers.a -ldl -lpthread -o "$build/$program"
done
# A parser of texts is chosen by the program's name.
ln -sf texts $build/list
parsers=$($build/list)
for parser in $parsers; do ln -sf texts "$build/$parser"; done

fuzzers="archives blocks segments $parsers"
each=$((seconds * $(nproc) / $(echo $fuzzers | wc -w)))
[ "$each" -gt 0 ] || each=1
# run FUZZER: its last lines, or all that it said where it found something.
run() {
    local log=$build/$1.log
    if "$build/$1" -max_total_time="$each" -max_len=4096 -timeout=30 -rss_limit_mb=2048 -artifact_prefix="$build/$1-" \
        "$build/corpus/$1" > "$log" 2>&1; then
        echo "$1: $(grep -a '^Done' "$log")"
    else
        cat "$log"
        echo "$1: FAILED"
        return 1
    fi
}
export -f run
export each
status=0
printf '%s\n' $fuzzers | xargs -P "$(nproc)" -I{} bash -c 'run {}' || status=1
[ $status -eq 0 ] && echo "$(echo $fuzzers | wc -w) passed"
exit $status
