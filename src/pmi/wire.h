// Byte strings that the two sides of pmi exchange: numbers in the machine's order (all hosts are of
// one kind), texts with their length. Header-only; used by encode() and decode() of this folder only.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace clump::pmi {

/// A place of fixed size for bytes, for writers that must not allocate (signal handlers). What does not fit
/// is left out.
struct FixedBytes {
  char* data;
  std::size_t capacity;
  std::size_t used = 0;
  bool overflowed = false;

  void append(const char* bytes, std::size_t count) {
    overflowed = overflowed || count > capacity - used;
    if (overflowed) return;
    std::memcpy(data + used, bytes, count);
    used += count;
  }
};

template <typename Bytes>
class BasicWriter {
 public:
  BasicWriter() = default;
  explicit BasicWriter(Bytes bytes) : bytes_(bytes) {}

  template <typename Number>
  void number(Number value) {
    static_assert(std::is_integral_v<Number> || std::is_enum_v<Number>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view text) {
    number<std::uint32_t>(static_cast<std::uint32_t>(text.size()));
    bytes_.append(text.data(), text.size());
  }
  void texts(const std::vector<std::string>& all) {
    number<std::uint32_t>(static_cast<std::uint32_t>(all.size()));
    for (const std::string& one : all) text(one);
  }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_{};
};

using Writer = BasicWriter<std::string>;

/// Reads what Writer wrote, in the same order. Once something did not fit, everything read is zero or empty
/// and ok() is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <typename Number>
  Number number() {
    Number value{};
    const std::string_view raw = take(sizeof value);
    if (!raw.empty()) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(number<std::uint32_t>())); }
  std::vector<std::string> texts() {
    std::vector<std::string> all;
    for (std::uint32_t left = number<std::uint32_t>(); left > 0 && ok_; --left) all.push_back(text());
    return all;
  }
  bool ok() const { return ok_; }
  /// All was read and nothing was missing.
  bool finished() const { return ok_ && rest_.empty(); }

 private:
  std::string_view take(std::size_t bytes) {
    if (bytes > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace clump::pmi
