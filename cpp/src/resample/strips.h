// The rows of a picture that is never in memory as a whole, as far as a resize still needs them.
#pragma once

#include "mmcpp/image.h"
#include "mmcpp/status.h"
#include "mmcpp/tensor.h"
#include "resample/resampler.h"

namespace mmcpp::resample {

/// The input rows that are still needed, in a ring of whole strips of about 256 KiB.
class Strips {
 public:
  /// `rows` must outlive this. kOutOfMemory.
  static Result<Strips> Make(const Resampler& resampler, RowSource* rows);

  int strip() const { return strip_; }  ///< rows of one
  InputRows input() const { return {view_, kept_}; }

  /// Reads the next strip and gives the number of rows read so far.
  Result<int> Read();

 private:
  RowSource* rows_ = nullptr;
  int strip_ = 0, kept_ = 0, read_ = 0;
  Buffer memory_;
  ImageView view_;
};

}  // namespace mmcpp::resample
