// Calls of zlib, and the checksum of chunks.
#include "codec/png_inflate.h"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <climits>

#include "base/ensure.h"

namespace mmcpp::codec {
namespace {

constexpr size_t kMaxTextBytes = size_t{1} << 20;

}  // namespace

uint32_t Crc32(Bytes bytes) { return libdeflate_crc32(0, bytes.data(), bytes.size()); }

struct StreamInflater::State {
  z_stream stream = {};
  ~State() { inflateEnd(&stream); }
};

StreamInflater::StreamInflater(std::unique_ptr<State> state) : state_(std::move(state)) {}
StreamInflater::StreamInflater(StreamInflater&&) noexcept = default;
StreamInflater& StreamInflater::operator=(StreamInflater&&) noexcept = default;
StreamInflater::~StreamInflater() = default;

Result<StreamInflater> StreamInflater::Create() {
  auto state = std::make_unique<State>();
  if (inflateInit(&state->stream) != Z_OK) {
    return Error{ErrorCode::kOutOfMemory, "png: no memory for zlib"};
  }
  return StreamInflater(std::move(state));
}

void StreamInflater::Reset() { inflateReset(&state_->stream); }

StreamInflater::Progress StreamInflater::Inflate(Bytes input, uint8_t* out, size_t size) {
  z_stream& stream = state_->stream;
  const auto input_size = static_cast<uInt>(std::min<size_t>(input.size(), UINT_MAX));
  const auto output_size = static_cast<uInt>(std::min<size_t>(size, UINT_MAX));
  stream.next_in = const_cast<Bytef*>(input.data());  // zlib's type only; it does not write there
  stream.avail_in = input_size;
  stream.next_out = out;
  stream.avail_out = output_size;
  const int code = inflate(&stream, Z_NO_FLUSH);
  Progress progress;
  progress.consumed = input_size - stream.avail_in;
  progress.produced = output_size - stream.avail_out;
  progress.ended = code == Z_STREAM_END;
  progress.damaged = code < 0 && code != Z_BUF_ERROR;  // the latter: nothing to do
  return progress;
}

InflatedText InflateText(StreamInflater* inflater, Bytes stream, std::string* text) {
  inflater->Reset();
  std::array<uint8_t, 16384> piece;
  static_assert(kMaxTextBytes % sizeof piece == 0);
  InflatedText result;
  for (bool full = false; full || !stream.empty();) {
    if (result.size == kMaxTextBytes) {
      if (!stream.empty()) result.outcome = InflatedText::Outcome::kTooLarge;
      break;
    }
    const auto progress = inflater->Inflate(stream, piece.data(), piece.size());
    result.size += progress.produced;
    if (text != nullptr) text->append(piece.begin(), piece.begin() + progress.produced);
    if (progress.damaged) {
      result.outcome = InflatedText::Outcome::kDamaged;
      break;
    }
    if (progress.ended || (progress.consumed == 0 && progress.produced == 0)) break;
    full = progress.produced == piece.size();  // there may be more without more input
    stream = stream.subspan(progress.consumed, stream.size() - progress.consumed);
  }
  return result;
}

}  // namespace mmcpp::codec
