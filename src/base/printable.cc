#include "base/printable.h"

#include <algorithm>

namespace clump::base {

namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

/// How many bytes of a control character the text, which is not empty, begins with.
std::size_t length_of_control(std::string_view text) {
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f ? 1 : 0;
  if (length_of_character(text) == 0) return first < 0xa0 ? 1 : 0;
  return first == 0xc2 && byte_at(text, 1) < 0xa0 ? 2 : 0;
}

}  // namespace

std::string printable(std::string text) {
  const auto may_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\t') || byte >= 0x7f;
  };
  if (std::ranges::none_of(text, may_control)) return text;
  constexpr std::size_t kMostOfByte = 4;
  std::string shown(text.size() * kMostOfByte, '\0');
  shown.resize(printable_into(shown, text));
  return shown;
}

std::size_t printable_into(std::span<char> room, std::string_view text) {
  std::size_t used = 0;
  const auto put = [&](std::string_view piece) {
    const bool fits = piece.size() <= room.size() - used;
    if (fits) used += piece.copy(room.data() + used, piece.size());
    return fits;
  };
  while (!text.empty()) {
    const std::size_t control = text.starts_with("\r\n") ? 0 : length_of_control(text);
    const std::size_t length = control != 0 ? control : std::max<std::size_t>(length_of_character(text), 1);
    for (const char c : text.substr(0, control)) {
      constexpr char kDigits[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      const char named[] = {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      if (!put({named, sizeof named})) return used;
    }
    if (control == 0 && text.front() != '\r' && !put(text.substr(0, length))) return used;
    text.remove_prefix(length);
  }
  return used;
}

std::size_t length_of_character(std::string_view text) {
  const auto is_in = [&](std::size_t at, unsigned from, unsigned to) {
    return byte_at(text, at) >= from && byte_at(text, at) <= to;
  };
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return 1;
  if (first < 0xe0) return first >= 0xc2 && is_in(1, 0x80, 0xbf) ? 2 : 0;
  // The second byte of these has less room: no characters that are shorter, surrogates, or beyond U+10FFFF.
  const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (!is_in(1, least, most) || !is_in(2, 0x80, 0xbf)) return 0;
  if (first < 0xf0) return 3;
  return first <= 0xf4 && is_in(3, 0x80, 0xbf) ? 4 : 0;
}

}  // namespace clump::base
