// Rows that are looked at on their way.
#pragma once

#include "mmcpp/image.h"
#include "mmcpp/status.h"
#include "resample/tiles.h"

namespace mmcpp::resample {

/// The rows of another source, which are handed to a callable, too, when they are read: one resize
/// can be written out while another is made of it, and it never exists as a whole.
class PassedRows final : public RowSource {
 public:
  /// `rows`, of three channels, and `fn` must outlive this. Tiles are whole rows, any number at a
  /// time, from several threads at once.
  PassedRows(RowSource* rows, TileFn fn)
      : RowSource(rows->height(), rows->width()), rows_(*rows), fn_(fn) {}

  Status Read(int rows, uint8_t* dst, size_t row_bytes) override;

 private:
  RowSource& rows_;
  TileFn fn_;
  int y_ = 0;
};

}  // namespace mmcpp::resample
