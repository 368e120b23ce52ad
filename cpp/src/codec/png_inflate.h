// zlib streams of a PNG by zlib itself: pixels that are not sound, and texts.
//
// inflate.h is several times faster, but says nothing about a stream that is damaged, short or too
// long. zlib decides about those, called just as Pillow 13 calls it: how much of a broken stream
// counts depends on the size of every call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "mmcpp/span.h"
#include "mmcpp/status.h"

namespace mmcpp::codec {

/// CRC-32 as PNG chunks carry it.
uint32_t Crc32(Bytes bytes);

/// Inflates piece by piece.
class StreamInflater {
 public:
  static Result<StreamInflater> Create();
  StreamInflater(StreamInflater&&) noexcept;
  StreamInflater& operator=(StreamInflater&&) noexcept;
  ~StreamInflater();

  struct Progress {
    size_t consumed = 0;
    size_t produced = 0;
    bool ended = false;    ///< the stream's end was seen, its checksum right
    bool damaged = false;  ///< nothing after this call counts
  };
  /// Starts over with another stream.
  void Reset();
  /// One call of zlib's inflate with room for `size` bytes, which must not be zero.
  Progress Inflate(Bytes input, uint8_t* out, size_t size);

 private:
  struct State;
  explicit StreamInflater(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// What Pillow 13 makes of a compressed text or profile.
struct InflatedText {
  enum class Outcome : uint8_t { kWhole, kDamaged, kTooLarge } outcome = Outcome::kWhole;
  size_t size = 0;  ///< bytes inflated; of a damaged one, those before the damage
};

/// Inflates up to 1 MiB (Pillow's PngImagePlugin.MAX_TEXT_CHUNK) in small pieces, appended to *text
/// unless it is null.
InflatedText InflateText(StreamInflater* inflater, Bytes stream, std::string* text);

}  // namespace mmcpp::codec
