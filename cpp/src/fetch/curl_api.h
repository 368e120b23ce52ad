// libcurl, opened at run time, so that neither the library nor the wheel is linked with it and its
// TLS.
#pragma once

// curl marks options of this file as old; their successors are younger than the oldest libcurl
// taken.
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>

#include <memory>
#include <string>

#include "mmcpp/status.h"

namespace mmcpp::fetch {

/// The functions of libcurl that are used.
struct CurlApi {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_version_info) version_info;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_perform) multi_perform;
  decltype(&::curl_multi_poll) multi_poll;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  std::string version;  ///< "7.88.1"
};

/// Opens libcurl on the first call and keeps it; thread-safe. kUnsupported if it is absent or older
/// than 7.68, with what to install; the next call tries again.
Result<const CurlApi*> LoadCurl();

/// As LoadCurl, from a library of this name.
Result<std::unique_ptr<CurlApi>> OpenCurl(const char* library);

}  // namespace mmcpp::fetch
