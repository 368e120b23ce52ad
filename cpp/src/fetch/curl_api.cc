// dlopen and dlsym for libcurl.
#include "fetch/curl_api.h"

#include <dlfcn.h>

#include <mutex>
#include <utility>

#include "base/ensure.h"

#undef curl_easy_setopt
#undef curl_easy_getinfo

namespace mmcpp::fetch {
namespace {

// curl_multi_poll came with 7.66, a wake-up of it that works with 7.68.
constexpr unsigned kOldest = 0x074400;
constexpr const char* kLibraries[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

template <class Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

bool FindAll(void* library, CurlApi* api) {
  return Find(library, "curl_global_init", &api->global_init) &&
         Find(library, "curl_version_info", &api->version_info) &&
         Find(library, "curl_slist_append", &api->slist_append) &&
         Find(library, "curl_slist_free_all", &api->slist_free_all) &&
         Find(library, "curl_easy_init", &api->easy_init) &&
         Find(library, "curl_easy_setopt", &api->easy_setopt) &&
         Find(library, "curl_easy_getinfo", &api->easy_getinfo) &&
         Find(library, "curl_easy_strerror", &api->easy_strerror) &&
         Find(library, "curl_easy_cleanup", &api->easy_cleanup) &&
         Find(library, "curl_multi_init", &api->multi_init) &&
         Find(library, "curl_multi_add_handle", &api->multi_add_handle) &&
         Find(library, "curl_multi_remove_handle", &api->multi_remove_handle) &&
         Find(library, "curl_multi_perform", &api->multi_perform) &&
         Find(library, "curl_multi_poll", &api->multi_poll) &&
         Find(library, "curl_multi_info_read", &api->multi_info_read) &&
         Find(library, "curl_multi_cleanup", &api->multi_cleanup);
}

}  // namespace

Result<std::unique_ptr<CurlApi>> OpenCurl(const char* name) {
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  auto api = std::make_unique<CurlApi>();
  if (library == nullptr) {
    return Unsupported("fetch: http needs libcurl, which is not installed (" + std::string(name) +
                       "); on Debian: apt-get install libcurl4");
  }
  if (!FindAll(library, api.get()) || api->version_info(CURLVERSION_NOW)->version_num < kOldest) {
    dlclose(library);
    return Unsupported("fetch: http needs libcurl 7.68 or newer; " + std::string(name) +
                       " is older");
  }
  if (api->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    dlclose(library);
    return Error{ErrorCode::kInternal, "fetch: libcurl cannot be initialised"};
  }
  api->version = api->version_info(CURLVERSION_NOW)->version;
  return api;
}

Result<const CurlApi*> LoadCurl() {
  static std::mutex mutex;
  static CurlApi* loaded = nullptr;  // lives as long as the process: libcurl is not closed again
  const std::lock_guard<std::mutex> lock(mutex);
  if (loaded != nullptr) return loaded;
  for (const char* name : kLibraries) {
    auto api = OpenCurl(name);
    if (api.ok()) {
      loaded = (*api).release();
      return loaded;
    }
  }
  return OpenCurl(kLibraries[0]).error();
}

}  // namespace mmcpp::fetch
