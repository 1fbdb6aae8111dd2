// What protects a connection after its handshake: records that only the other side can read and write. A
// record that is changed, left out, repeated, or of another connection or direction is no record
// (ChaCha20-Poly1305, RFC 8439; the number of the record is the nonce).
//
//   record: length (4 bytes), encrypted bytes, authentication (16 bytes)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace clump::mpiexec {

/// Of one side of a connection, and of the thread that moves its bytes.
class Seal {
 public:
  /// Bytes of a record: what a stranger can make its receiver keep.
  static constexpr std::size_t kMost = 64 << 10;
  static constexpr std::size_t kAround = 4 + 16;  ///< bytes more on the wire
  using DirectionKey = std::array<unsigned char, 32>;

  Seal(const DirectionKey& sends, const DirectionKey& receives) : sends_(sends), receives_(receives) {}
  Seal(Seal&&) = default;
  Seal& operator=(Seal&&) = default;
  Seal(const Seal&) = delete;
  Seal& operator=(const Seal&) = delete;
  ~Seal();

  /// Records with these bytes.
  std::string seal(std::string_view bytes);
  /// Takes whole records from the front of `came`, and appends what they have to `bytes`. False: what has
  /// come is no record of the other side; the connection is to be closed.
  bool open(std::string& came, std::string& bytes);

 private:
  DirectionKey sends_, receives_;
  std::uint64_t sent_ = 0, received_ = 0;  ///< records
};

}  // namespace clump::mpiexec
