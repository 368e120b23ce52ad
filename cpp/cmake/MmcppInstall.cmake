# What an embedder gets: the library, the public headers and a CMake package, as component `dev`.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(mmcpp_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/mmcpp")

set(mmcpp_installed mmcpp)
if(MMCPP_FETCH)
  list(APPEND mmcpp_installed mmcpp_fetch)
endif()
install(TARGETS ${mmcpp_installed} EXPORT mmcppTargets ARCHIVE COMPONENT dev LIBRARY COMPONENT dev NAMELINK_COMPONENT dev)
install(DIRECTORY include/mmcpp TYPE INCLUDE COMPONENT dev FILES_MATCHING PATTERN "*.h")
install(EXPORT mmcppTargets NAMESPACE mmcpp:: DESTINATION "${mmcpp_package_dir}" COMPONENT dev)

configure_package_config_file(cmake/mmcppConfig.cmake.in mmcppConfig.cmake INSTALL_DESTINATION "${mmcpp_package_dir}")
# While the major version is 0, a minor version may change the interface.
write_basic_package_version_file(mmcppConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/mmcppConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/mmcppConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/third_party/mmcppDeps.cmake"
        DESTINATION "${mmcpp_package_dir}" COMPONENT dev)
