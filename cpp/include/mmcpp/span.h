// A borrowed, contiguous range: pointer and length. Stands in for std::span, which C++17 lacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace mmcpp {

/// Borrows `size()` elements at `data()`; the owner must outlive it. Passed by value.
template <class T>
class Span {
 public:
  constexpr Span() = default;
  constexpr Span(T* data, size_t size) : data_(data), size_(size) {}

  /// Converts from anything with data() and size() of a matching element type: vector, array,
  /// string.
  template <class Container,
            class = std::enable_if_t<
                !std::is_same_v<std::decay_t<Container>, Span> &&
                std::is_convertible_v<decltype(std::declval<Container&>().data()), T*>>>
  constexpr Span(Container&& container)  // NOLINT(google-explicit-constructor)
      : data_(container.data()), size_(container.size()) {}

  constexpr T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](size_t i) const { return data_[i]; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }

  /// Elements [offset, offset + count); the caller guarantees the bounds.
  constexpr Span subspan(size_t offset, size_t count) const { return {data_ + offset, count}; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

using Bytes = Span<const uint8_t>;

}  // namespace mmcpp
