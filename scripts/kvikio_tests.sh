#!/usr/bin/env bash
# Runs KvikIO's own tests of local files with `import kvikio` answered by Waybill, and counts: scripts/kvikio_tests.sh CHECKOUT
# [pytest's arguments]. CHECKOUT: a clone of github.com/rapidsai/kvikio (26.08 was the newest when this was written); nothing of
# it is changed. WAYBILL_PYTHON: a Python that has Waybill and pytest (else that of build/venv).
#
# With a GPU: that Python needs CuPy too. Without one: WAYBILL_FAKES names the folder with the stand-in libcuda
# (build/debug/fakes), and a stand-in of CuPy from tests/fakes/python puts NumPy's arithmetic on its memory.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] || { sed -n '2,8s/^# //p' "$0"; exit 2; }
tests=$(cd "$1" && pwd)/python/kvikio/tests
shift
[ -f "$tests/test_basic_io.py" ] || { echo "no KvikIO checkout: $tests has no test_basic_io.py" >&2; exit 2; }
python=${WAYBILL_PYTHON:-$root/build/venv/bin/python}

# Left out: the remote files' (http, s3, hdfs, remote_endpoint), and the benchmarks', which are scripts of KvikIO's.
files=(basic_io async_io mmap defaults numpy cufile_driver utils version examples zarr_missing)
options=(-p no:cacheprovider -rsf)
if "$python" -c 'import pytest_asyncio' 2> /dev/null; then
    options+=(-o asyncio_default_fixture_loop_scope=function)
    "$python" -c 'import zarr' 2> /dev/null && files+=(zarr_v3)
fi

if [ -n "${WAYBILL_FAKES:-}" ]; then
    export LD_LIBRARY_PATH=$WAYBILL_FAKES${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export PYTHONPATH=$root/tests/fakes/python${PYTHONPATH:+:$PYTHONPATH}
    export FAKE_CUDA_READABLE=1 FAKE_CUDA_DEVICES=${FAKE_CUDA_DEVICES:-2}
    echo "over the stand-ins of libcuda and CuPy: no GPU is used"
else
    "$python" -c 'import cupy; print("on", cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())'
fi
status=0
cd "$tests"
files=("${files[@]/#/test_}")
"$python" -m waybill.as_kvikio -m pytest -q "${options[@]}" "${files[@]/%/.py}" "$@" || status=$?
exit "$status"
