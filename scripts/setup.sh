# What the build and the tests need: Debian's packages (with apt, as root) and a Python environment in build/venv.
# Sourced by try.sh and test.sh; defines setup_build, setup_all and VENV.
VENV=${WAYBILL_VENV:-$PWD/build/venv}
# Sources and pinned versions of what comes from PyPI: docs/dependencies.md.
PYTHON_BUILD=("nanobind>=2.4" "scikit-build-core>=0.10")
PYTHON_TESTS=(pytest jsonschema numpy pyyaml prometheus_client)
# Libraries whose files and arrays the package serves; tests that need one are skipped without it.
PYTHON_OPTIONAL=(safetensors ml_dtypes pyarrow tqdm)
PACKAGES=(g++ cmake ninja-build libfmt-dev nlohmann-json3-dev libcli11-dev libmount-dev libarchive-dev libssl-dev)
TEST_PACKAGES=(libgtest-dev libgmock-dev libbenchmark-dev gnuplot-nox clang libclang-rt-14-dev python3-venv)

# Installs those that are missing; says what to do where that is not possible.
install_packages() {
    local missing=() package
    command -v dpkg-query > /dev/null || { echo "no dpkg here: taking the packages as they are"; return 0; }
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    local sudo=
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    echo "installing ${missing[*]}"
    $sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq "${missing[@]}" && return 0
    echo "these packages are missing and could not be installed: ${missing[*]}"
    return 1
}

setup_build() { install_packages "${PACKAGES[@]}"; }

setup_python() {
    [ -x "$VENV/bin/python" ] || python3 -m venv "$VENV" || return 1
    "$VENV/bin/python" -c 'import nanobind, scikit_build_core, pytest, jsonschema, numpy, yaml, prometheus_client' 2> /dev/null ||
        "$VENV/bin/pip" install -q "${PYTHON_BUILD[@]}" "${PYTHON_TESTS[@]}" || return 1
    local package
    for package in "${PYTHON_OPTIONAL[@]}"; do
        "$VENV/bin/python" -c "import $package" 2> /dev/null || "$VENV/bin/pip" install -q "$package" ||
            echo "$package could not be installed: its tests are skipped"
    done
}

setup_all() { setup_build && { install_packages "${TEST_PACKAGES[@]}" || true; } && setup_python; }
