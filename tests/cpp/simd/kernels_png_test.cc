// Undoing PNG's row filters, in every table, against the formulas of the PNG specification.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "support/guarded.h"
#include "support/isa_fixture.h"

namespace mmcpp::simd {
namespace {

using test::Guarded;
using Rows = std::vector<std::vector<uint8_t>>;

/// PNG specification, third edition, section 9.2 to 9.4, byte by byte.
Rows Expected(const Rows& filtered, std::vector<uint8_t> above, size_t step) {
  Rows rows;
  for (const auto& source : filtered) {
    std::vector<uint8_t> row;
    for (size_t i = 0; i + 1 < source.size(); ++i) {
      const int a = i >= step ? row[i - step] : 0, b = above[i];
      const int c = i >= step ? above[i - step] : 0;
      const int p = a + b - c;
      const int pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
      const int paeth = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
      const int predictors[] = {0, a, b, (a + b) / 2, paeth};
      row.push_back(static_cast<uint8_t>(source[i + 1] + predictors[source[0]]));
    }
    rows.push_back(row);
    above = row;
  }
  return rows;
}

class PngUnfilterTest : public test::IsaTest {
 protected:
  void Check(const Rows& filtered, const std::vector<uint8_t>& above, size_t step) {
    const size_t bytes = above.size();
    std::vector<Guarded> sources, outputs;
    std::vector<const uint8_t*> src;
    std::vector<uint8_t*> dst;
    for (const auto& row : filtered) {
      sources.emplace_back(row);
      outputs.emplace_back(std::vector<uint8_t>(bytes, 0xee));
    }
    for (auto& row : sources) src.push_back(row.data());
    for (auto& row : outputs) dst.push_back(row.data());
    Guarded guarded_above(above);
    kernels().png_unfilter(src.size(), bytes, step, src.data(), guarded_above.data(), dst.data());
    const Rows expected = Expected(filtered, above, step);
    for (size_t y = 0; y < dst.size(); ++y) {
      ASSERT_EQ(std::memcmp(dst[y], expected[y].data(), bytes), 0)
          << "row " << y << " of " << dst.size() << ", " << bytes << " bytes, step " << step;
      ASSERT_TRUE(outputs[y].Intact());
    }
  }
};

TEST_P(PngUnfilterTest, EqualsTheSpecification) {
  std::mt19937 random(1);
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  for (int round = 0; round < 500; ++round) {
    const size_t step = std::vector<size_t>{1, 2, 3, 4, 6, 8}[static_cast<size_t>(below(6))];
    const size_t bytes = step * static_cast<size_t>(1 + below(round % 8 == 0 ? 300 : 60));
    const int only = below(8);  // one filter alone below 5, else a mix
    const int noise = below(3);
    const auto byte = [&] {
      return static_cast<uint8_t>(noise == 0 ? below(256) : noise == 1 ? below(3) : below(2) * 255);
    };
    Rows filtered(static_cast<size_t>(1 + below(20)));
    for (auto& row : filtered) {
      row.push_back(static_cast<uint8_t>(only < 5 ? only : below(5)));
      for (size_t i = 0; i < bytes; ++i) row.push_back(byte());
    }
    std::vector<uint8_t> above(bytes);
    for (uint8_t& value : above) value = byte();
    Check(filtered, above, step);
  }
}

// Every relation of left, above and corner that the Paeth predictor tells apart, ties included.
TEST_P(PngUnfilterTest, PaethBreaksTiesInOrder) {
  const uint8_t values[] = {0, 1, 3, 127, 128, 254, 255};
  for (uint8_t left : values) {
    for (uint8_t above : values) {
      for (uint8_t corner : values) {
        // The first pixel of a Paeth row is the sum with what is above it.
        const uint8_t first = static_cast<uint8_t>(left - corner);
        Check(Rows(3, {4, first, 0, 1}), {corner, above, corner}, 1);
      }
    }
  }
}

// By hand, so that not only formulas are compared.
TEST_P(PngUnfilterTest, KnownRows) {
  const std::vector<uint8_t> above = {10, 200, 30, 40};
  const Rows filtered = {
      {0, 1, 2, 250, 9}, {1, 1, 2, 250, 9}, {3, 1, 2, 250, 9}, {4, 1, 2, 250, 9}};
  const Rows expected = {{1, 2, 250, 9}, {1, 3, 253, 6}, {1, 4, 122, 73}, {2, 6, 116, 82}};
  std::vector<std::vector<uint8_t>> rows(4, std::vector<uint8_t>(4));
  std::vector<const uint8_t*> src;
  std::vector<uint8_t*> dst;
  for (const auto& row : filtered) src.push_back(row.data());
  for (auto& row : rows) dst.push_back(row.data());
  kernels().png_unfilter(4, 4, 1, src.data(), above.data(), dst.data());
  EXPECT_EQ(rows, expected);
}

MMCPP_INSTANTIATE_ISA_TEST(PngUnfilterTest);

}  // namespace
}  // namespace mmcpp::simd
