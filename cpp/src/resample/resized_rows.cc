// Blocks of columns, one a thread, that go down together.
#include "resample/resized_rows.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "par/par.h"
#include "simd/kernels.h"

namespace mmcpp::resample {

ResizedRows::ResizedRows(Resampler resampler)
    : RowSource(resampler.out_height(), resampler.out_width()), resampler_(std::move(resampler)) {}

Result<std::unique_ptr<ResizedRows>> ResizedRows::Make(RowSource* rows, int out_height,
                                                       int out_width, Filter filter,
                                                       Convention convention) {
  using Made = Result<std::unique_ptr<ResizedRows>>;
  MMCPP_ENSURE(rows->channels() == 3);
  return CatchOutOfMemory([&]() -> Made {
    MMCPP_ASSIGN(auto resampler, Resampler::Make(rows->height(), rows->width(), out_height,
                                                 out_width, filter, convention));
    std::unique_ptr<ResizedRows> made(new ResizedRows(std::move(resampler)));
    MMCPP_ASSIGN(made->strips_, Strips::Make(made->resampler_, rows));
    const int share = (out_width - 1) / static_cast<int>(par::Concurrency()) + 1;
    const int width = std::min(share, made->resampler_.BlockWidth(1, simd::kResampleRows));
    for (int x = 0; x < out_width; x += width) {
      MMCPP_ASSIGN(auto block, BlockResampler::MakeForStrips(
                                   made->resampler_, made->strips_.input(), x,
                                   std::min(x + width, out_width), made->strips_.strip()));
      made->blocks_.push_back({x, std::move(block)});
    }
    return made;
  });
}

template <class Fn>
void ResizedRows::ForEachBlock(const Fn& fn) {
  par::ForRange(blocks_.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) fn(&blocks_[i]);
  });
}

Status ResizedRows::ReadStrip() {
  MMCPP_ASSIGN(in_end_, strips_.Read());
  ready_ = resampler_.ReadyEnd(ready_, in_end_);
  ForEachBlock([this](Block* block) { block->resampler.Take(in_end_); });
  return Ok{};
}

Status ResizedRows::Read(int rows, uint8_t* dst, size_t row_bytes) {
  MMCPP_ENSURE(rows > 0 && rows <= height() - y_);
  while (rows > 0) {
    // What is ready is made before the next strip comes in its place.
    const int n = std::min(rows, ready_ - y_);
    if (n == 0) {
      MMCPP_TRY(ReadStrip());
      continue;
    }
    ForEachBlock([&](Block* block) {
      block->resampler.Next(n, dst + static_cast<size_t>(block->x) * 3, row_bytes);
    });
    y_ += n;
    rows -= n;
    dst += static_cast<size_t>(n) * row_bytes;
  }
  return Ok{};
}

}  // namespace mmcpp::resample
