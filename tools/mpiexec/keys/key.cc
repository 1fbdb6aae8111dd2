#include "keys/key.h"

#include <sodium.h>

namespace clump::mpiexec {

static_assert(Key::kBytes == crypto_auth_hmacsha256_KEYBYTES);

Key::~Key() { ::sodium_memzero(bytes_.data(), bytes_.size()); }

Key Key::draw() {
  Bytes bytes;
  ::randombytes_buf(bytes.data(), bytes.size());
  return Key(bytes);
}

std::optional<Key> Key::from_text(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return std::nullopt;
  text = text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
  Bytes bytes{};
  std::size_t got = 0;
  const char* end = nullptr;
  const bool is_hex = text.size() == 2 * kBytes && ::sodium_hex2bin(bytes.data(), bytes.size(), text.data(),
                                                                    text.size(), nullptr, &got, &end) == 0;
  if (!is_hex || got != kBytes || end != text.data() + text.size()) return std::nullopt;
  return Key(bytes);
}

std::string Key::text() const {
  std::string text(2 * kBytes + 1, '\0');
  ::sodium_bin2hex(text.data(), text.size(), bytes_.data(), bytes_.size());
  text.pop_back();
  return text;
}

void wipe(std::string& text) {
  ::sodium_memzero(text.data(), text.size());
  text.clear();
}

}  // namespace clump::mpiexec
