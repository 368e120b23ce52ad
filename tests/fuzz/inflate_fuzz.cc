// The decoder of sound zlib streams beside zlib: it takes what zlib takes, and gives the same
// bytes, however the stream is cut into pieces and the output asked for.
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "byte_reader.h"
#include "codec/inflate.h"

namespace mmcpp::fuzz {
namespace {

constexpr size_t kMaxOutput = size_t{1} << 16;

void Require(bool condition) {
  if (!condition) std::abort();
}

/// What zlib gives, up to more than kMaxOutput; *sound tells whether it is all.
std::vector<uint8_t> ZlibInflate(Bytes stream, bool* sound) {
  z_stream z = {};
  if (inflateInit(&z) != Z_OK) std::abort();
  std::vector<uint8_t> out(kMaxOutput + 1);
  z.next_in = const_cast<Bytef*>(stream.data());  // zlib's type only
  z.avail_in = static_cast<uInt>(stream.size());
  z.next_out = out.data();
  z.avail_out = static_cast<uInt>(out.size());
  *sound = inflate(&z, Z_FINISH) == Z_STREAM_END;
  out.resize(out.size() - z.avail_out);
  inflateEnd(&z);
  return out;
}

/// Exactly as large as it says, so that a sanitizer sees what lies outside.
bool Inflate(const std::vector<Bytes>& pieces, size_t step, size_t size, uint8_t* out) {
  const auto inflater = std::make_unique<codec::Inflater>(pieces, out, size);
  for (size_t target = 0;;) {
    target = std::min(size, target + step);
    if (!inflater->InflateTo(target)) return false;
    Require(inflater->produced() >= target && inflater->produced() <= size);
    if (target == size) return inflater->produced() == size;
  }
}

}  // namespace
}  // namespace mmcpp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mmcpp::fuzz;
  ByteReader in(data, size);
  // Of the pieces, sizes that come in turn; 0 stands for all the rest.
  const mmcpp::Bytes cuts = in.Take(3);
  const size_t step = 1 + size_t{in.Byte()} * 64;
  const size_t off = in.Below(3);
  const mmcpp::Bytes stream = in.Take(size);
  std::vector<std::vector<uint8_t>> copies;
  for (mmcpp::Bytes rest = stream; !rest.empty();) {
    const size_t cut = cuts[copies.size() % cuts.size()];
    const size_t length = cut == 0 ? rest.size() : std::min(cut, rest.size());
    copies.emplace_back(rest.begin(), rest.begin() + length);
    rest = rest.subspan(length, rest.size() - length);
  }
  const std::vector<mmcpp::Bytes> pieces(copies.begin(), copies.end());

  bool sound = false;
  const std::vector<uint8_t> want = ZlibInflate(stream, &sound);
  if (want.size() > kMaxOutput) return 0;
  std::vector<uint8_t> out(want.size());
  Require(Inflate(pieces, step, out.size(), out.data()) == sound);
  Require(!sound || out == want);
  // Another size is wrong.
  if (off == 0 || want.size() + off < 2) return 0;
  std::vector<uint8_t> other(off == 1 ? want.size() - 1 : want.size() + 1);
  Require(!Inflate(pieces, step, other.size(), other.data()));
  return 0;
}
