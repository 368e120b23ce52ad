#!/usr/bin/env bash
# The wheel for aarch64, made on another machine: Debian's cross compiler, and Debian's packages for arm64 unpacked in a
# folder, where apt is the only thing that knows of them. What runs of aarch64, runs under qemu-user.
#   aarch64_wheel.sh PYTHON WHEEL OUT   PYTHON of an environment with the extra `wheel`; WHEEL: this machine's, as pip made
#   it with Debian's python3, whose Python files are taken; OUT: the folder for the result; more arguments are pytest's
set -euo pipefail

python=$1 native=$2 out=$3
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
work=$checkout/build/aarch64
export AARCH64_ROOT=${AARCH64_ROOT:-$work/root}
libraries=$AARCH64_ROOT/usr/lib/aarch64-linux-gnu
packages=(python3 libpython3-dev libjpeg62-turbo-dev libwebp-dev libdeflate-dev zlib1g-dev libtbb-dev
  nlohmann-json3-dev libcurl4-openssl-dev libstdc++6)

unpack_packages() {
  mkdir -p "$work"/apt/{lists,cache/archives}/partial
  : >"$work/apt/status"
  local options=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::lists="$work/apt/lists"
    -o Dir::Cache="$work/apt/cache" -o Dir::State::status="$work/apt/status" -o Debug::NoLocking=1)
  apt-get "${options[@]}" update
  apt-get "${options[@]}" install -y --no-install-recommends --download-only "${packages[@]}"
  mkdir -p "$AARCH64_ROOT"
  local package
  for package in "$work"/apt/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -C "$AARCH64_ROOT" -xf -
  done
  # Python's pyconfig.h names the folder of the architecture; the compiler is only told of that folder.
  ln -sfn . "$AARCH64_ROOT/usr/include/aarch64-linux-gnu/aarch64-linux-gnu"
  touch "$AARCH64_ROOT/unpacked"
}

[[ -f $AARCH64_ROOT/unpacked ]] || unpack_packages
there() { qemu-aarch64 -L "$AARCH64_ROOT" "$AARCH64_ROOT/usr/bin/python3" "$@"; }
version=$(there -c 'import sys; print("%d.%d" % sys.version_info[:2])')
suffix=$(there -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
tag=cp${version/./}

cmake -S "$checkout" -B "$work/cmake" -G Ninja --toolchain "$checkout/third_party/aarch64.cmake" \
  -DCMAKE_BUILD_TYPE=Release -DMMCPP_WERROR=ON -DMMCPP_BUILD_PYTHON=ON -DMMCPP_BUILD_TESTS=OFF -DMMCPP_INSTALL=OFF \
  -DMMCPP_EXECUTOR=tbb -DPython_EXECUTABLE="$python" -DPython_INCLUDE_DIR="$AARCH64_ROOT/usr/include/python$version" \
  -DPYTHON_MODULE_EXTENSION="$suffix" -Dpybind11_DIR="$("$python" -m pybind11 --cmakedir)"
cmake --build "$work/cmake" --target _mmcpp

rm -rf "$work/wheel"
"$python" -m wheel unpack --dest "$work/wheel" "$native"
folder=$(echo "$work"/wheel/*)
rm "$folder"/mmcpp/_mmcpp*.so
cp "$work/cmake/python/_mmcpp$suffix" "$folder/mmcpp/"
sed -i "s/^Tag: .*/Tag: $tag-$tag-linux_aarch64/" "$folder"/*.dist-info/WHEEL
"$python" -m wheel pack --dest-dir "$work/wheel" "$folder"
# The cross tools' own folder has a strip of that name.
PATH=/usr/aarch64-linux-gnu/bin:$PATH AUDITWHEEL_LD_LIBRARY_PATH=$libraries \
  "$python" "$checkout/third_party/bundle.py" "$work"/wheel/*.whl "$out"

# Installed by unpacking, beside wheels of that machine: pip itself runs here.
"$python" -m pip install --target "$work/site" --upgrade --only-binary=:all: --implementation cp --python-version "$version" \
  --platform manylinux_2_34_aarch64 --platform manylinux_2_28_aarch64 --platform manylinux_2_17_aarch64 \
  --platform manylinux2014_aarch64 "$(ls -t "$out"/*-"$tag"-*aarch64.whl | head -n 1)[test]"
cd "$checkout"
# A child process would be started without qemu, so tests that start some are left out.
PYTHONPATH=$work/site there -m pytest -q -p no:cacheprovider \
  tests/python/test_{configured,pipeline,image,ray}.py -k "not other_processes and not loader" "${@:4}"
