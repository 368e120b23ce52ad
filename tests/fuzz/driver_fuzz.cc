// Any request under small limits, with the chaos executor: every schedule gives one outcome, a
// packed batch fails exactly when the unpacked way fails at an item, and each item for itself is
// what it is among the others.
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "byte_reader.h"
#include "mmcpp/driver.h"
#include "mmcpp/registry.h"
#include "par/par_chaos.h"

namespace mmcpp::fuzz {
namespace {

using Seeds = std::array<uint64_t, 3>;

/// Schedules to compare with that of seed 0, in order: two that every input has, and one of its
/// own.
Seeds SeedsOf(Bytes input) {
  uint64_t drawn = 0xcbf29ce484222325u;  // FNV-1a
  for (const uint8_t byte : input) drawn = (drawn ^ byte) * 0x100000001b3u;
  return {1, 2, drawn | 1};
}

void Require(bool condition) {
  if (!condition) std::abort();
}

const Family& SmallFamily() {
  static const auto* family =
      new Result<std::unique_ptr<const Family>>(FamilyFromSpec(R"({"family": "qwen_vl",
          "image_token_id": 9, "patch_size": 4, "merge_size": 2, "temporal_patch_size": 1,
          "min_pixels": 64, "max_pixels": 4096, "image_mean": [0.5, 0.5, 0.5],
          "image_std": [0.5, 0.5, 0.5], "resample": "pil"})"));
  Require(family->ok());
  return ***family;
}

ProcessOptions ReadOptions(ByteReader* in) {
  ProcessOptions options;
  options.dtype = static_cast<DType>(in->Below(7));
  options.decode.apply_orientation = in->Below(2) == 1;
  options.decode.alpha = static_cast<AlphaMode>(in->Below(4));
  options.decode.limits.max_pixels = 1 << 14;
  options.limits.max_items = 4;
  options.limits.max_total_bytes = 1 << 16;
  options.limits.max_tokens = 256;
  return options;
}

/// Pixels with sides that may be bad but whose extent the data holds when they are good.
ImageView ReadView(ByteReader* in, const std::vector<uint8_t>& pixels) {
  ImageView view;
  view.data = in->Below(16) == 0 ? nullptr : pixels.data();
  view.height = static_cast<int>(in->Below(33)) - 1;
  view.width = static_cast<int>(in->Below(33)) - 1;
  view.row_bytes = in->Below(128);
  return view;
}

std::vector<MediaSource> ReadMedia(ByteReader* in, const std::vector<uint8_t>& pixels) {
  std::vector<MediaSource> media(in->Below(6));
  for (MediaSource& source : media) {
    if (in->Below(2) == 0) {
      source = ReadView(in, pixels);
    } else {
      const size_t size = in->Below(256) * 16;
      source = in->Take(size);
    }
  }
  return media;
}

bool SameError(const Error& a, const Error& b) {
  return a.code == b.code && a.item == b.item && a.message == b.message;
}

bool SameBytes(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.byte_count() == b.byte_count() &&
         (a.byte_count() == 0 || std::memcmp(a.data(), b.data(), a.byte_count()) == 0);
}

bool SameItems(const std::vector<OutputItem>& a, const std::vector<OutputItem>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SameBytes(a[i].feature, b[i].feature) || a[i].content_hash != b[i].content_hash) {
      return false;
    }
  }
  return true;
}

bool SameResults(const std::vector<Result<OutputItem>>& a,
                 const std::vector<Result<OutputItem>>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].ok() != b[i].ok()) return false;
    if (a[i].ok() ? !SameBytes(a[i]->feature, b[i]->feature)
                  : !SameError(a[i].error(), b[i].error())) {
      return false;
    }
  }
  return true;
}

/// Items alone against the request that they were part of.
void CheckEach(const Family& family, const std::vector<MediaSource>& media,
               const ProcessOptions& options, const Seeds& seeds, const Result<Response>& request) {
  par::SetChaosSeed(0);
  const auto each = ProcessEach(family, media, options);
  for (const uint64_t seed : seeds) {
    par::SetChaosSeed(seed);
    const auto again = ProcessEach(family, media, options);
    Require(each.ok() == again.ok());
    Require(each.ok() ? SameResults(*each, *again) : SameError(each.error(), again.error()));
  }
  if (!each.ok()) return;
  if (request.ok()) {
    for (size_t i = 0; i < media.size(); ++i) {
      Require((*each)[i].ok() && SameBytes((*each)[i]->feature, request->items[i].feature));
    }
  } else if (request.error().item >= 0) {
    const Result<OutputItem>& failed = (*each)[static_cast<size_t>(request.error().item)];
    Require(!failed.ok() && SameError(failed.error(), request.error()));
  }
}

void Check(ByteReader* in, const Seeds& seeds) {
  static const std::vector<uint8_t> pixels(32 * 128, 77);
  const ProcessOptions options = ReadOptions(in);
  std::vector<int64_t> ids(in->Below(12));
  for (int64_t& id : ids) id = in->Below(2) == 0 ? 9 : 1;
  const std::vector<MediaSource> media = ReadMedia(in, pixels);
  const Family& family = SmallFamily();

  par::SetChaosSeed(0);
  const auto first = Process(family, {ids, media, options});
  const auto batch = ProcessItems(family, media, options);
  for (const uint64_t seed : seeds) {
    par::SetChaosSeed(seed);
    const auto again = Process(family, {ids, media, options});
    Require(first.ok() == again.ok());
    if (first.ok()) {
      Require(first->input_ids == again->input_ids && SameItems(first->items, again->items));
    } else {
      Require(SameError(first.error(), again.error()));
    }
    const auto batch_again = ProcessItems(family, media, options);
    Require(batch.ok() == batch_again.ok());
    if (batch.ok()) {
      Require(SameBytes(batch->features, batch_again->features));
    } else {
      Require(SameError(batch.error(), batch_again.error()));
    }
  }
  CheckEach(family, media, options, seeds, first);
  Require(!first.ok() || batch.ok());
  if (!first.ok() && first.error().item >= 0) {
    Require(!batch.ok() && SameError(first.error(), batch.error()));
  }
}

}  // namespace
}  // namespace mmcpp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mmcpp::fuzz::ByteReader in(data, size);
  mmcpp::fuzz::Check(&in, mmcpp::fuzz::SeedsOf({data, size}));
  return 0;
}
