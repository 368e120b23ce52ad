# The libraries that mmcpp links, as imported targets mmcpp_dep::NAME. The source tree includes this file, and
# so does the installed package of a static library, whose user links them too. Names of our own, because
# Debian's libwebp and libdeflate come with no CMake package that is the same in every release.
# What was not found is left in mmcpp_missing.

set(mmcpp_missing)

# mmcpp_find_library(NAME HEADER LIBRARY DEBIAN_PACKAGE)
function(mmcpp_find_library name header library package)
  find_path(MMCPP_${name}_INCLUDE_DIR ${header})
  find_library(MMCPP_${name}_LIBRARY ${library})
  mark_as_advanced(MMCPP_${name}_INCLUDE_DIR MMCPP_${name}_LIBRARY)
  if(NOT MMCPP_${name}_INCLUDE_DIR OR NOT MMCPP_${name}_LIBRARY)
    list(APPEND mmcpp_missing "${header} and lib${library} (Debian: ${package})")
    set(mmcpp_missing "${mmcpp_missing}" PARENT_SCOPE)
  elseif(NOT TARGET mmcpp_dep::${name})
    add_library(mmcpp_dep::${name} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(
      mmcpp_dep::${name} PROPERTIES IMPORTED_LOCATION "${MMCPP_${name}_LIBRARY}"
                                    INTERFACE_INCLUDE_DIRECTORIES "${MMCPP_${name}_INCLUDE_DIR}")
  endif()
endfunction()

mmcpp_find_library(jpeg jpeglib.h jpeg libjpeg62-turbo-dev)
mmcpp_find_library(webp webp/decode.h webp libwebp-dev)
mmcpp_find_library(webpdemux webp/demux.h webpdemux libwebp-dev)
mmcpp_find_library(deflate libdeflate.h deflate libdeflate-dev)
mmcpp_find_library(zlib zlib.h z zlib1g-dev)
