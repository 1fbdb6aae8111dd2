// The key of a job: 32 random bytes, which mpiexec draws for a job whose launcher gives no stream. A proxy
// that knows it belongs to the job (handshake.h).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace clump::mpiexec {

/// Its memory is overwritten in the end. No other object of a process shares it: no lock.
class Key {
 public:
  static constexpr std::size_t kBytes = 32;
  using Bytes = std::array<unsigned char, kBytes>;

  explicit Key(const Bytes& bytes) : bytes_(bytes) {}
  Key(const Key&) = default;
  Key& operator=(const Key&) = default;
  ~Key();

  /// The system's random numbers.
  static Key draw();
  /// What text() has given; blanks around it have no meaning. Nothing: it is no key.
  static std::optional<Key> from_text(std::string_view text);
  /// 64 hexadecimal digits: for a file of this user alone, or for a terminal.
  std::string text() const;

  const unsigned char* data() const { return bytes_.data(); }

 private:
  Bytes bytes_;
};

/// Overwrites what a string had.
void wipe(std::string& text);

}  // namespace clump::mpiexec
