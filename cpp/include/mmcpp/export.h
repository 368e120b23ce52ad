// Symbol visibility of the public interface. MMCPP_EXPORT is empty in static builds, so that a
// program or extension module that links the static library does not export our functions a second
// time.
#pragma once

#if defined(MMCPP_STATIC_DEFINE)
#define MMCPP_EXPORT
#else
#define MMCPP_EXPORT __attribute__((visibility("default")))
#endif
