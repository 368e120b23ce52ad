// Every kernel of every table against its formula, byte for byte: awkward sizes, windows of every
// length, weights at the ends of their range, and nothing read or written outside.
#include "simd/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "mmcpp/tensor.h"
#include "support/guarded.h"
#include "support/isa_fixture.h"

namespace mmcpp::simd {
namespace {

using test::Guarded;

// An axis whose windows and weights are the test's own choice.
class TestAxis {
 public:
  TestAxis(int in_size, int out_size, int max_count, int precision)
      : in_size_(in_size), precision_(precision), stride_(static_cast<size_t>(max_count)) {
    first_.resize(static_cast<size_t>(out_size));
    count_.resize(first_.size());
    weights_.resize(first_.size() * stride_);
  }

  // Windows in ascending order over the whole input, with counts that vary up to max_count.
  void Spread(std::mt19937* random) {
    const int n = static_cast<int>(first_.size());
    for (int i = 0; i < n; ++i) {
      const int most = std::min<int>(static_cast<int>(stride_), in_size_);
      const int count = std::uniform_int_distribution<int>(std::max(1, most - 7), most)(*random);
      const int last_first = in_size_ - count;
      first_[static_cast<size_t>(i)] =
          n == 1 ? last_first / 2 : static_cast<int>(int64_t{last_first} * i / (n - 1));
      count_[static_cast<size_t>(i)] = count;
    }
    // Ascending even though counts vary.
    for (int i = n - 2; i >= 0; --i) {
      first_[static_cast<size_t>(i)] =
          std::min(first_[static_cast<size_t>(i)], first_[static_cast<size_t>(i) + 1]);
    }
  }

  // The only window.
  void Place(int first, int count) {
    first_[0] = first;
    count_[0] = count;
  }

  // Weights with sum |w| below 2^31/255 that go up to `largest`.
  void Fill(std::mt19937* random, int32_t largest) {
    for (size_t i = 0; i < first_.size(); ++i) {
      int64_t left = (int64_t{1} << 31) / 256;
      for (int k = 0; k < count_[i]; ++k) {
        const int32_t most = static_cast<int32_t>(std::min<int64_t>(largest, left));
        const int32_t weight = std::uniform_int_distribution<int32_t>(-most, most)(*random);
        weights_[i * stride_ + static_cast<size_t>(k)] = weight;
        left -= std::abs(weight);
      }
    }
  }

  int32_t& weight(size_t i, size_t k) { return weights_[i * stride_ + k]; }
  int32_t count(size_t i) const { return count_[i]; }
  int32_t first(size_t i) const { return first_[i]; }
  size_t size() const { return first_.size(); }

  ResampleAxis View(const Kernels& kernels, bool vertical) {
    ResampleAxis view = {in_size_,        static_cast<int32_t>(first_.size()),
                         precision_,      *std::max_element(count_.begin(), count_.end()),
                         first_.data(),   count_.data(),
                         weights_.data(), stride_,
                         nullptr};
    const auto bytes = vertical ? kernels.packed_vertical_bytes : kernels.packed_horizontal_bytes;
    const auto pack = vertical ? kernels.pack_vertical : kernels.pack_horizontal;
    if (bytes != nullptr) {
      packed_ = *Buffer::Allocate(bytes(&view));
      pack(&view, packed_.data());
      view.packed = packed_.data();
    }
    return view;
  }

  uint8_t Expected(size_t i, const uint8_t* in, size_t step) const {
    int64_t sum = int64_t{1} << (precision_ - 1);
    for (int k = 0; k < count_[i]; ++k) {
      sum += int64_t{in[static_cast<size_t>(k) * step]} *
             weights_[i * stride_ + static_cast<size_t>(k)];
    }
    return static_cast<uint8_t>(std::clamp<int64_t>(sum >> precision_, 0, 255));
  }

 private:
  int in_size_, precision_;
  size_t stride_;
  std::vector<int32_t> first_, count_, weights_;
  Buffer packed_;
};

std::vector<uint8_t> RandomBytes(std::mt19937* random, size_t n) {
  std::vector<uint8_t> bytes(n);
  // Many extremes: they are what overflows.
  for (auto& byte : bytes) {
    const uint32_t r = (*random)();
    byte = static_cast<uint8_t>((r & 0x300) == 0 ? 255 : (r & 0x300) == 0x100 ? 0 : r);
  }
  return bytes;
}

// Calls check(axis of 40 inputs and one window) for weights of which one is large and the others
// are what is left of it where it is split into a high and a low part, as much as that can be: all
// of one sign, or of both in turn.
template <class Check>
void ForLowPartsAtTheirLimits(const Check& check) {
  // With a precision of 9 the low parts decide where the large weight's input is zero.
  for (int precision : {22, 9}) {
    for (int32_t largest : {32768, 70000, 1 << 20, 3 << 20, 4193000, 4194304, 4227000, 4450000,
                            5400000, 6290000, 6300000}) {
      for (int taps = 1; taps <= 24; ++taps) {
        for (int32_t sign : {1, -1, 0}) {
          TestAxis axis(40, 1, taps, precision);
          axis.Place(9, taps);
          for (int k = 0; k < taps; ++k) {
            const int32_t low = largest / 65528 * (sign != 0 ? sign : k % 2 == 0 ? 1 : -1);
            axis.weight(0, static_cast<size_t>(k)) = k == taps / 2 ? largest : low;
          }
          check(&axis);
        }
      }
    }
  }
}

class HorizontalTest : public test::IsaTest {
 protected:
  // Resamples `rows` rows and compares the columns [x_begin, x_end) with the formula.
  void Check(TestAxis* axis, int in_size, size_t rows, int x_begin, int x_end,
             std::mt19937* random) {
    const ResampleAxis view = axis->View(kernels(), false);
    const size_t begin = static_cast<size_t>(x_begin), end = static_cast<size_t>(x_end);
    RowSpan span = {x_begin, x_end, axis->first(begin), 0};
    for (size_t x = begin; x < end; ++x) {
      span.in_end = std::max(span.in_end, axis->first(x) + axis->count(x));
    }
    const size_t in_bytes = static_cast<size_t>(span.in_end - span.in_begin) * 3;
    std::vector<Guarded> in, out;
    std::vector<const uint8_t*> src;
    std::vector<uint8_t*> dst;
    for (size_t row = 0; row < rows; ++row) {
      in.emplace_back(RandomBytes(random, in_bytes));
      out.emplace_back(std::vector<uint8_t>((end - begin) * 3));
    }
    for (size_t row = 0; row < rows; ++row) {
      src.push_back(in[row].data());
      dst.push_back(out[row].data());
    }
    kernels().resample_horizontal_rgb8(&view, &span, rows, src.data(), dst.data());
    for (size_t row = 0; row < rows; ++row) {
      ASSERT_TRUE(out[row].Intact());
      for (size_t x = begin; x < end; ++x) {
        const uint8_t* window = src[row] + static_cast<size_t>(axis->first(x) - span.in_begin) * 3;
        for (size_t c = 0; c < 3; ++c) {
          ASSERT_EQ(dst[row][(x - begin) * 3 + c], axis->Expected(x, window + c, 3))
              << "in " << in_size << " rows " << rows << " row " << row << " x " << x << " of "
              << axis->size() << " channel " << c << " taps " << axis->count(x);
        }
      }
    }
  }
};

TEST_P(HorizontalTest, WindowsOfEveryLength) {
  std::mt19937 random(1);
  for (int taps = 1; taps <= 70; ++taps) {
    TestAxis axis(taps + 33, 19, taps, 22);
    axis.Spread(&random);
    axis.Fill(&random, 1 << 22);
    Check(&axis, taps + 33, 3, 0, 19, &random);
  }
}

TEST_P(HorizontalTest, EveryNumberOfRowsAndColumns) {
  std::mt19937 random(2);
  for (size_t rows = 1; rows <= 35; ++rows) {
    const int out = static_cast<int>(rows * 2 - 1);
    TestAxis axis(50, out, 5, 22);
    axis.Spread(&random);
    axis.Fill(&random, 3 << 20);
    Check(&axis, 50, rows, 0, out, &random);
  }
}

TEST_P(HorizontalTest, PartsOfARow) {
  std::mt19937 random(3);
  TestAxis axis(300, 100, 9, 22);
  axis.Spread(&random);
  axis.Fill(&random, 1 << 21);
  for (int begin : {0, 1, 2, 3, 16, 50, 99}) {
    for (int end : {begin + 1, begin + 15, begin + 17, 100}) {
      if (end <= 100) Check(&axis, 300, 5, begin, end, &random);
    }
  }
}

TEST_P(HorizontalTest, TinyInputs) {
  std::mt19937 random(4);
  for (int in = 1; in <= 24; ++in) {
    for (int out : {1, 2, 40}) {
      TestAxis axis(in, out, in, 22);
      axis.Spread(&random);
      axis.Fill(&random, 1 << 22);
      Check(&axis, in, 2, 0, out, &random);
    }
  }
}

TEST_P(HorizontalTest, LongWindows) {
  std::mt19937 random(5);
  for (int taps : {200, 511, 512, 513, 1000, 5000}) {
    TestAxis axis(taps + 100, 4, taps, 22);
    axis.Spread(&random);
    axis.Fill(&random, (1 << 23) / taps);
    Check(&axis, taps + 100, 17, 0, 4, &random);
  }
}

TEST_P(HorizontalTest, EveryPrecisionAndWeightsOfSixteenBits) {
  std::mt19937 random(6);
  for (int precision = 1; precision <= 22; ++precision) {
    TestAxis axis(64, 30, 6, precision);
    axis.Spread(&random);
    axis.Fill(&random, 32767);
    axis.weight(3, 0) = 32767;
    axis.weight(4, 0) = -32767;
    Check(&axis, 64, 4, 0, 30, &random);
  }
}

TEST_P(HorizontalTest, WeightsAtDigitBorders) {
  std::mt19937 random(7);
  const int32_t borders[] = {0,        1,     -1,    127,    128,    -128,   -129,  255,   256,
                             32639,    32640, 32767, -32768, -32896, -32897, 65535, 65536, 8355711,
                             -8355711, 2047,  2048,  -2048,  -2049,  4095,   4096};
  TestAxis axis(64, static_cast<int>(std::size(borders)), 3, 22);
  axis.Spread(&random);
  for (size_t i = 0; i < std::size(borders); ++i) axis.weight(i, 0) = borders[i];
  Check(&axis, 64, 16, 0, static_cast<int>(std::size(borders)), &random);
}

TEST_P(HorizontalTest, LowPartsAtTheirLimits) {
  std::mt19937 random(8);
  ForLowPartsAtTheirLimits([&](TestAxis* axis) { Check(axis, 40, 16, 0, 1, &random); });
}

MMCPP_INSTANTIATE_ISA_TEST(HorizontalTest);

class VerticalTest : public test::IsaTest {
 protected:
  void Check(TestAxis* axis, size_t y, size_t bytes, std::mt19937* random) {
    const ResampleAxis view = axis->View(kernels(), true);
    const size_t count = static_cast<size_t>(axis->count(y));
    std::vector<Guarded> rows;
    for (size_t k = 0; k < count; ++k) rows.emplace_back(RandomBytes(random, bytes));
    std::vector<const uint8_t*> src;
    for (auto& row : rows) src.push_back(row.data());
    Guarded out{std::vector<uint8_t>(bytes)};
    kernels().resample_vertical_u8(&view, static_cast<int32_t>(y), bytes, src.data(), out.data());
    ASSERT_TRUE(out.Intact());
    std::vector<uint8_t> column(count);
    for (size_t i = 0; i < bytes; ++i) {
      for (size_t k = 0; k < count; ++k) column[k] = src[k][i];
      ASSERT_EQ(out.data()[i], axis->Expected(y, column.data(), 1))
          << "byte " << i << " of " << bytes << ", taps " << count;
    }
  }
};

TEST_P(VerticalTest, WindowsOfEveryLength) {
  std::mt19937 random(11);
  for (int taps = 1; taps <= 70; ++taps) {
    TestAxis axis(taps + 10, 3, taps, 22);
    axis.Spread(&random);
    axis.Fill(&random, 1 << 22);
    for (size_t y = 0; y < 3; ++y) Check(&axis, y, 77, &random);
  }
}

TEST_P(VerticalTest, EveryNumberOfBytes) {
  std::mt19937 random(12);
  TestAxis axis(20, 2, 7, 22);
  axis.Spread(&random);
  axis.Fill(&random, 1 << 22);
  for (size_t bytes = 1; bytes <= 300; ++bytes) Check(&axis, 1, bytes, &random);
}

TEST_P(VerticalTest, LongWindows) {
  std::mt19937 random(13);
  for (int taps : {1000, 5001}) {
    TestAxis axis(taps, 1, taps, 22);
    axis.Spread(&random);
    axis.Fill(&random, (1 << 23) / taps);
    Check(&axis, 0, 67, &random);
  }
}

TEST_P(VerticalTest, EveryPrecisionAndWeightsOfSixteenBits) {
  std::mt19937 random(14);
  for (int precision = 1; precision <= 22; ++precision) {
    TestAxis axis(64, 3, 6, precision);
    axis.Spread(&random);
    axis.Fill(&random, 32767);
    axis.weight(0, 0) = 32767;
    axis.weight(1, 0) = -32767;
    for (size_t y = 0; y < 3; ++y) Check(&axis, y, 130, &random);
  }
}

TEST_P(VerticalTest, LowPartsAtTheirLimits) {
  std::mt19937 random(15);
  ForLowPartsAtTheirLimits([&](TestAxis* axis) { Check(axis, 0, 96, &random); });
}

MMCPP_INSTANTIATE_ISA_TEST(VerticalTest);

class SplitTest : public test::IsaTest {};

TEST_P(SplitTest, EveryShape) {
  std::mt19937 random(21);
  for (size_t rows : {1u, 2u, 5u, 16u}) {
    for (size_t columns = 1; columns <= 70; ++columns) {
      const size_t row_bytes = columns * 3 + columns % 5;
      Guarded in(RandomBytes(&random, (rows - 1) * row_bytes + columns * 3));
      Guarded out{std::vector<uint8_t>(rows * columns * 3)};
      kernels().split_rgb8(in.data(), row_bytes, rows, columns, out.data());
      ASSERT_TRUE(out.Intact());
      for (size_t c = 0; c < 3; ++c) {
        for (size_t y = 0; y < rows; ++y) {
          for (size_t x = 0; x < columns; ++x) {
            ASSERT_EQ(out.data()[(c * rows + y) * columns + x],
                      in.data()[y * row_bytes + x * 3 + c])
                << rows << "x" << columns << " at " << y << ", " << x << ", " << c;
          }
        }
      }
    }
  }
}

MMCPP_INSTANTIATE_ISA_TEST(SplitTest);

class MapTest : public test::IsaTest {
 protected:
  ByteTable RandomTable(std::mt19937* random, size_t element_bytes) {
    ByteTable table;
    for (size_t i = 0; i < 256; ++i) {
      table.value[i] = (*random)() >> (32 - 8 * element_bytes);
      for (size_t k = 0; k < 4; ++k) {
        table.plane[k][i] = static_cast<uint8_t>(table.value[i] >> (8 * k));
      }
    }
    return table;
  }

  template <class T, class Map>
  void Check(Map map) {
    std::mt19937 random(31);
    const auto table = std::make_unique<ByteTable>(RandomTable(&random, sizeof(T)));
    for (size_t n = 1; n <= 300; ++n) {
      const size_t copies = 1 + n % 3;
      Guarded in(RandomBytes(&random, n));
      Guarded out{std::vector<uint8_t>(n * copies * sizeof(T))};
      map(table.get(), in.data(), n, copies, out.data());
      ASSERT_TRUE(out.Intact());
      for (size_t i = 0; i < n * copies; ++i) {
        T value;
        std::memcpy(&value, out.data() + i * sizeof(T), sizeof(T));
        ASSERT_EQ(value, static_cast<T>(table->value[in.data()[i % n]])) << "element " << i;
      }
    }
  }
};

TEST_P(MapTest, To32) { Check<uint32_t>(kernels().map_to_32); }
TEST_P(MapTest, To16) { Check<uint16_t>(kernels().map_to_16); }

MMCPP_INSTANTIATE_ISA_TEST(MapTest);

}  // namespace
}  // namespace mmcpp::simd
