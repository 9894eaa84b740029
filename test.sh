#!/usr/bin/env bash
# Sets everything up and passes the tests: C++ (debug; address, undefined and thread sanitizers), the command line, Python,
# and NVIDIA's real libcufile where it can be had. Ends with a line that counts them.
#   ./test.sh            all of it
#   ./test.sh --quick    without the sanitizers
# Needs Debian 12 or Ubuntu 24.04 (apt, as root) or the packages of CONTRIBUTING.md, and Python 3.10 or newer with pip.
set -u -o pipefail
cd "$(dirname "$0")"
. scripts/setup.sh
quick=0
[ "${1:-}" = --quick ] && quick=1

passed=0 failed=0 skipped=0 failures=()
# count NAME LOG: adds what a runner's log, and the XML of its GoogleTest programs, say to the totals.
count() {
    local line
    for line in $(scripts/count.py "$2" "build/logs/$1" 2> >(tee -a "$2" >&2)); do
        case $line in
            passed=*) passed=$((passed + ${line#*=})) ;;
            failed=*) failed=$((failed + ${line#*=})) ;;
            skipped=*) skipped=$((skipped + ${line#*=})) ;;
        esac
    done
}
# step NAME COMMAND...: runs it, shows its last lines, and counts it; a step that fails without a count is one failure.
step() {
    local name=$1 log before=$failed start=$SECONDS
    shift
    log=build/logs/$name.log
    rm -rf "build/logs/$name"
    mkdir -p "build/logs/$name"
    echo "== $name"
    GTEST_OUTPUT="xml:$PWD/build/logs/$name/" "$@" > "$log" 2>&1
    local status=$?
    count "$name" "$log"
    if [ $status -ne 0 ]; then
        [ "$failed" -eq "$before" ] && failed=$((failed + 1))
        failures+=("$name")
        tail -n 40 "$log"
    else
        tail -n 3 "$log"
    fi
    echo "   $((SECONDS - start)) s"
}
must() {
    local start=$SECONDS
    echo "== $1"
    "${@:2}" > "build/$1.log" 2>&1 || { tail -n 60 "build/$1.log"; echo "could not: $1"; echo "0 passed, 1 failed"; exit 1; }
    echo "   $((SECONDS - start)) s"
}

mkdir -p build
must set-up setup_all
must configure cmake --preset debug
must build cmake --build --preset debug
step unit ctest --test-dir build/debug --output-on-failure -j "$(nproc)"
step layout "$VENV/bin/python" -m pytest -q -rs tests/layout
step command-line env WAYBILL_PROGRAM="$PWD/build/debug/waybill" "$VENV/bin/python" -m pytest -q -rs tests/cli
step machines env WAYBILL_PROGRAM="$PWD/build/debug/waybill" "$VENV/bin/python" -m pytest -q -rs tests/machines
step real-cufile env WAYBILL_PROGRAM="$PWD/build/debug/waybill" "$VENV/bin/python" -m pytest -q -rs tests/real_cufile
must python-package "$VENV/bin/pip" install -q --no-build-isolation --no-deps .
step python env WAYBILL_FAKES="$PWD/build/debug/fakes" "$VENV/bin/python" -m pytest -q -rs python/tests
step consumer scripts/consumer.sh build/debug
if [ $quick -eq 0 ]; then
    for preset in asan tsan; do
        must "configure-$preset" cmake --preset $preset
        must "build-$preset" cmake --build --preset $preset
        # A process under the thread sanitizer otherwise sleeps a second at its end; many tests are processes of their own.
        step "unit-$preset" env TSAN_OPTIONS=atexit_sleep_ms=0 ctest --test-dir build/$preset --output-on-failure -j "$(nproc)"
    done
    # The program where it fails, and what it then leaves. The stand-ins are preloaded before the sanitizer's own library.
    step command-line-asan env WAYBILL_PROGRAM="$PWD/build/asan/waybill" ASAN_OPTIONS=verify_asan_link_order=0 \
        "$VENV/bin/python" -m pytest -q -rs tests/cli -k "write_faults or Signals or file_sizes"
    step fuzz scripts/fuzz.sh 40
fi
[ ${#failures[@]} -eq 0 ] || echo "failed: ${failures[*]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
