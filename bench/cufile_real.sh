#!/usr/bin/env bash
# What NVIDIA's real libcufile does on a machine with a GPU: without the udev record of the file's disk, then with it.
#   bench/cufile_real.sh PROGRAM FILE
# Writes a record to /run/udev/data where there is none, and removes it again. Needs root.
set -u
program=$1 file=$2
record=/run/udev/data/b$(stat -c '%Hd:%Ld' "$file")
config=$(mktemp) && trap 'rm -f "$config"' EXIT
echo '{"execution": {"max_io_queue_depth": 128, "max_io_threads": 4, "parallel_io": true, "min_io_threshold_size_kb": 8192, "max_request_parallelism": 4}, "properties": {"allow_compat_mode": true, "max_direct_io_size_kb": 16384}}' > "$config"
export CUFILE_ENV_PATH_JSON=$config CUFILE_LOGFILE_PATH=/tmp/waybill-cufile.log
show() { echo "--- $*"; "$@"; echo "exit $?"; }
[ -e "$record" ] && { echo "$record is there already"; exit 1; }
show "$program" plan "$file" --compat-mode off
show "$program" read "$file" --compat-mode off --to gpu
show "$program" read "$file" --to gpu
mkdir -p "$(dirname "$record")" && printf 'I:1\nE:ID_FS_TYPE=ext4\nE:ID_FS_USAGE=filesystem\n' > "$record"
show "$program" plan "$file" --compat-mode off
for size in 4MiB 16MiB 1GiB; do
    show "$program" read "$file" --size 1GiB --compat-mode off --to gpu --task-size $size --sha256
done
show "$program" read "$file" --size 1GiB --compat-mode off --require direct --to gpu
show "$program" read "$file" --size 1GiB --compat-mode off --require cufile-posix --to gpu
show "$program" read "$file" --size 1GiB --to gpu --sha256
rm -f "$record"
