// What is read is shared out over threads.
#include "resample/passed_rows.h"

#include <algorithm>

#include "base/ensure.h"
#include "par/par.h"

namespace mmcpp::resample {
namespace {

constexpr size_t kGrainBytes = size_t{64} << 10;

}  // namespace

Status PassedRows::Read(int rows, uint8_t* dst, size_t row_bytes) {
  MMCPP_TRY(rows_.Read(rows, dst, row_bytes));
  const size_t grain = std::max<size_t>(kGrainBytes / dense_row_bytes(), 1);
  par::ForRange(static_cast<size_t>(rows), grain, [&](size_t begin, size_t end) {
    fn_({y_ + static_cast<int>(begin), 0, static_cast<int>(end - begin), width(),
         dst + begin * row_bytes, row_bytes});
  });
  y_ += rows;
  return Ok{};
}

}  // namespace mmcpp::resample
