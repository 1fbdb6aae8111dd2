// Greetings over connections that libfabric makes.
#include "process/files/greetings.h"

#include "host/host.h"

namespace clump::host {

bool expect_greetings(int listener, std::uint64_t token) {
  if (!image::greetings::are_possible()) return false;
  image::greetings::expect_at(listener, token);
  return true;
}

void give_greetings(std::span<const std::byte> address, std::uint64_t token) {
  image::greetings::give_at(reinterpret_cast<const sockaddr*>(address.data()),
                            static_cast<socklen_t>(address.size()), token);
}

}  // namespace clump::host
