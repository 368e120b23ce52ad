// A resize as rows that are made when they are read.
#pragma once

#include <memory>
#include <vector>

#include "mmcpp/image.h"
#include "mmcpp/resize.h"
#include "mmcpp/status.h"
#include "resample/resampler.h"
#include "resample/strips.h"

namespace mmcpp::resample {

/// The rows of what Resize gives of `rows`, of which no more is kept than the resize looks back for
/// and a strip. With the last row read, all of `rows` are, since its window ends with their last;
/// errors of reading them are errors of this.
class ResizedRows final : public RowSource {
 public:
  /// `rows` must have three channels and outlive this. Errors as Resize.
  static Result<std::unique_ptr<ResizedRows>> Make(RowSource* rows, int out_height, int out_width,
                                                   Filter filter, Convention convention);

  Status Read(int rows, uint8_t* dst, size_t row_bytes) override;

 private:
  struct Block {
    int x;
    BlockResampler resampler;
  };

  explicit ResizedRows(Resampler resampler);
  Status ReadStrip();
  template <class Fn>
  void ForEachBlock(const Fn& fn);

  const Resampler resampler_;
  Strips strips_;
  std::vector<Block> blocks_;
  int in_end_ = 0;  // input rows read
  int ready_ = 0;   // output rows for which they suffice
  int y_ = 0;       // output rows made
};

}  // namespace mmcpp::resample
