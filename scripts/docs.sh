#!/usr/bin/env bash
# Makes the generated pages: docs/settings.md, docs/cli.md, docs/cpp.md, and with a Python that has the package (WAYBILL_PYTHON, else that
# of build/venv) docs/python.md and python/waybill/_core.pyi. Tests compare all of them.
set -eu
cd "$(dirname "$0")/.."
program=${1:-build/debug/waybill}
"$program" config --markdown > docs/settings.md
scripts/cli_page.sh "$program" > docs/cli.md
scripts/cpp_page.py > docs/cpp.md
python=${WAYBILL_PYTHON:-build/venv/bin/python}
if "$python" -c 'import waybill, nanobind' 2> /dev/null; then
    "$python" scripts/python_page.py > docs/python.md
    "$python" -m nanobind.stubgen -q -m waybill._core -o python/waybill/_core.pyi
fi
