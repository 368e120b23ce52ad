# Object library mmcpp_blake3: the official C code of BLAKE3, compiled from a source folder found by name.
#
# Debian has no libblake3-dev before its unstable release, but librust-blake3-dev (1.3.1 in 12, 1.8.1 in 13)
# carries the C and assembly files. Set MMCPP_BLAKE3_SOURCE_DIR to use a folder of your own (the `c` folder
# of a BLAKE3 release).

if(NOT MMCPP_BLAKE3_SOURCE_DIR)
  file(GLOB mmcpp_blake3_candidates "/usr/share/cargo/registry/blake3-*/c")
  if(mmcpp_blake3_candidates)
    list(SORT mmcpp_blake3_candidates COMPARE NATURAL)
    list(GET mmcpp_blake3_candidates -1 mmcpp_blake3_found)
    set(MMCPP_BLAKE3_SOURCE_DIR "${mmcpp_blake3_found}" CACHE PATH "Folder of BLAKE3's C sources")
  endif()
endif()
if(NOT EXISTS "${MMCPP_BLAKE3_SOURCE_DIR}/blake3.c")
  message(FATAL_ERROR "mmcpp needs BLAKE3's C sources. On Debian: apt-get install librust-blake3-dev; "
                      "elsewhere: -DMMCPP_BLAKE3_SOURCE_DIR=<the c folder of a BLAKE3 release>")
endif()

set(mmcpp_blake3_sources blake3.c blake3_dispatch.c blake3_portable.c)
set(mmcpp_blake3_definitions)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND mmcpp_blake3_sources blake3_sse2_x86-64_unix.S blake3_sse41_x86-64_unix.S
       blake3_avx2_x86-64_unix.S blake3_avx512_x86-64_unix.S)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  list(APPEND mmcpp_blake3_sources blake3_neon.c)
  list(APPEND mmcpp_blake3_definitions BLAKE3_USE_NEON=1)
else()
  list(APPEND mmcpp_blake3_definitions BLAKE3_NO_SSE2 BLAKE3_NO_SSE41 BLAKE3_NO_AVX2 BLAKE3_NO_AVX512)
endif()
list(TRANSFORM mmcpp_blake3_sources PREPEND "${MMCPP_BLAKE3_SOURCE_DIR}/")

add_library(mmcpp_blake3 OBJECT ${mmcpp_blake3_sources})
target_include_directories(mmcpp_blake3 SYSTEM PUBLIC "$<BUILD_INTERFACE:${MMCPP_BLAKE3_SOURCE_DIR}>")
target_compile_definitions(mmcpp_blake3 PRIVATE ${mmcpp_blake3_definitions})
set_target_properties(mmcpp_blake3 PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
