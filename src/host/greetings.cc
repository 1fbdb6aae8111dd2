// Greetings over connections that libfabric makes.
#include "process/files/greetings.h"

#include "host/host.h"
#include "image/own_calls.h"

namespace clump::host {

void keep_calls_of_network(const void* inside) { image::keep_calls_of_network(inside); }

void expect_greetings(int listener, std::uint64_t token) { image::greetings::expect_at(listener, token); }

void give_greetings(std::span<const std::byte> address, std::uint64_t token) {
  image::greetings::give_at(reinterpret_cast<const sockaddr*>(address.data()),
                            static_cast<socklen_t>(address.size()), token);
}

}  // namespace clump::host
