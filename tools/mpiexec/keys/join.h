// A proxy's side of the door (admission.h): connects to mpiexec at the addresses that it was told, and finds
// out which of those that answer is mpiexec.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/status.h"
#include "keys/handshake.h"
#include "keys/invitation.h"

namespace clump::mpiexec {

/// The connection to mpiexec.
struct Joined {
  int socket = -1;  ///< the receiver's
  Seal seal;
};

/// So long may it take until mpiexec is found.
inline constexpr std::chrono::seconds kPatienceOfProxies{60};

/// Tries all addresses at once, and again and again. Fails at once if all of them answer, and none knows the
/// key. What answers at an address and does not know the key is told the host's number, and nothing else.
base::Status join(const Invitation& invitation, const Key& key, std::uint32_t host,
                  std::chrono::milliseconds patience, std::optional<Joined>& joined);

}  // namespace clump::mpiexec
