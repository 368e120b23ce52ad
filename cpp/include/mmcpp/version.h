// The library's version; CMakeLists.txt and pyproject.toml read the numbers from here.
#pragma once

#define MMCPP_VERSION_MAJOR 0
#define MMCPP_VERSION_MINOR 1
#define MMCPP_VERSION_PATCH 0
