# How our own code is compiled: on targets, never in global flags, so that an embedder inherits nothing.

function(mmcpp_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_17)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON
                                             CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # No contraction: a fused multiply-add gives other bits than the two roundings that the references do.
  target_compile_options(${target} PRIVATE -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow
                                           $<$<BOOL:${MMCPP_WERROR}>:-Werror>)
endfunction()
