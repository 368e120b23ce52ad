#!/usr/bin/env bash
# What a container of the public CI lacks to build a wheel: the libraries of README.md, of the versions that Debian 13
# has, compiled from the sources that Debian keeps of them, which are compared with the digests below.
#   MMCPP_SOURCES=URL container_libraries.sh PREFIX     URL: of the folder pool/main of a Debian mirror
# PREFIX/{include,lib} get what is compiled, PREFIX/src/blake3 the sources that mmcpp compiles itself, and
# PREFIX/share/mmcpp/NAME the licence, the version and the shared libraries of each, which bundle.py reads. Needs a C++
# compiler, CMake, curl, and dnf or apt for zlib, libcurl's headers and nasm.
set -euo pipefail

prefix=$1
pool=${MMCPP_SOURCES:?is not set: the URL of the folder pool/main of a Debian mirror}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# sources NAME VERSION PATH SHA256 LICENCE...: unpacked in $work/NAME; the licences are kept
sources() {
  local name=$1 version=$2 path=$3 digest=$4 about=$prefix/share/mmcpp/$1
  curl --fail --silent --show-error --location --retry 3 --output "$work/archive" "$pool/$path"
  echo "$digest  $work/archive" | sha256sum --check --quiet
  mkdir -p "$work/$name" "$about"
  if [[ $path == *.deb ]]; then  # its member, without the folders above
    ar p "$work/archive" data.tar.xz | tar -xJ -C "$work/$name" --strip-components=6
  else
    tar -xf "$work/archive" -C "$work/$name" --strip-components=1
  fi
  (cd "$work/$name" && cat "${@:5}") >"$about/licence"
  echo "$version" >"$about/version"
  : >"$about/libraries"
}

# library NAME DEFINITION...: compiled, installed and its shared libraries written down
library() {
  local name=$1
  cmake -S "$work/$name" -B "$work/$name-build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DCMAKE_INSTALL_LIBDIR="$prefix/lib" -DCMAKE_POLICY_VERSION_MINIMUM=3.5 "${@:2}" >/dev/null
  cmake --build "$work/$name-build" --parallel "$(nproc)" >/dev/null
  cmake --install "$work/$name-build" >/dev/null
  { grep -E '[.]so([.0-9]*)$' "$work/$name-build/install_manifest.txt" || true; } | sed 's|.*/||' \
    >"$prefix/share/mmcpp/$name/libraries"
}

if command -v dnf >/dev/null; then
  dnf -y -q install nasm zlib-devel libcurl-devel
else
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nasm zlib1g-dev libcurl4-openssl-dev
fi

sources libjpeg-turbo 2.1.5 libj/libjpeg-turbo/libjpeg-turbo_2.1.5.orig.tar.gz \
  254f3642b04e309fee775123133c6464181addc150499561020312ec61c1bf7c LICENSE.md README.ijg
library libjpeg-turbo -DENABLE_STATIC=OFF -DWITH_TURBOJPEG=OFF -DREQUIRE_SIMD=ON

sources libwebp 1.5.0 libw/libwebp/libwebp_1.5.0.orig.tar.gz \
  7d6fab70cf844bf6769077bd5d7a74893f8ffd4dfb42861745750c63c2a5c92c COPYING PATENTS
library libwebp -DBUILD_SHARED_LIBS=ON -DWEBP_BUILD_{ANIM_UTILS,CWEBP,DWEBP,EXTRAS,GIF2WEBP,IMG2WEBP,VWEBP,WEBPINFO,WEBPMUX}=OFF

sources libdeflate 1.23 libd/libdeflate/libdeflate_1.23.orig.tar.gz \
  1ab18349b9fb0ce8a0ca4116bded725be7dcbfa709e19f6f983d99df1fb8b25f COPYING
library libdeflate -DLIBDEFLATE_BUILD_STATIC_LIB=OFF -DLIBDEFLATE_BUILD_GZIP=OFF

sources onetbb 2022.1.0 o/onetbb/onetbb_2022.1.0.orig.tar.xz \
  c220a5e4fe452f3a24f562212377dc796d90e8d4e9bfb3392524f18c8f48cd7f LICENSE.txt
library onetbb -DTBB_TEST=OFF -DTBBMALLOC_BUILD=OFF -DTBB_STRICT=OFF -DTBB_DISABLE_HWLOC_AUTOMATIC_SEARCH=ON

sources nlohmann-json 3.11.3 n/nlohmann-json3/nlohmann-json3_3.11.3.orig.tar.gz \
  0d8ef5af7f9794e3263480193c491549b2ba6cc74bb018906202ada498a79406 LICENSE.MIT
mkdir -p "$prefix/include"
cp -r "$work/nlohmann-json/include/nlohmann" "$prefix/include/"

sources blake3 1.8.1 r/rust-blake3/librust-blake3-dev_1.8.1-1_amd64.deb \
  d3337b6525a6544f401039784603c97aa4bf84aec262cdb6204f5d7ff0173d8f LICENSE_A2
mkdir -p "$prefix/src/blake3"
cp "$work"/blake3/c/*.{c,h,S} "$prefix/src/blake3/"
ldconfig 2>/dev/null || true  # auditwheel finds libraries as the loader does
cat "$prefix"/share/mmcpp/*/libraries
