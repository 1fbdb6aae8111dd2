#include "net/ofi/addresses.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace clump::net::ofi {

namespace {

// An address is made of parts: the provider, the token, whether greetings are expected, the endpoints. Each
// part is its length, in two bytes, and so many bytes.
void append(std::vector<std::byte>& to, std::span<const std::byte> part) {
  const auto length = static_cast<std::uint16_t>(part.size());
  const auto* const bytes = reinterpret_cast<const std::byte*>(&length);
  to.insert(to.end(), bytes, bytes + sizeof length);
  to.insert(to.end(), part.begin(), part.end());
}

bool take(std::span<const std::byte>& from, Name& part) {
  std::uint16_t length = 0;
  if (from.size() < sizeof length) return false;
  std::memcpy(&length, from.data(), sizeof length);
  if (from.size() < sizeof length + length) return false;
  part.assign(from.begin() + sizeof length, from.begin() + sizeof length + length);
  from = from.subspan(sizeof length + length);
  return true;
}

}  // namespace

std::vector<std::byte> PublishedAddress::packed() const {
  std::vector<std::byte> all;
  append(all, std::as_bytes(std::span(provider)));
  append(all, std::as_bytes(std::span(&token, 1)));
  append(all, std::as_bytes(std::span(&expects_greetings, 1)));
  for (const Name& name : endpoints) append(all, name);
  return all;
}

bool PublishedAddress::unpack(std::span<const std::byte> packed, PublishedAddress& address) {
  Name part;
  if (!take(packed, part)) return false;
  address.provider.assign(reinterpret_cast<const char*>(part.data()), part.size());
  if (!take(packed, part) || part.size() != sizeof address.token) return false;
  std::memcpy(&address.token, part.data(), sizeof address.token);
  if (!take(packed, part) || part.size() != 1) return false;
  address.expects_greetings = part.front() != std::byte{0};
  address.endpoints.clear();
  while (!packed.empty())
    if (!take(packed, address.endpoints.emplace_back())) return false;
  return !address.endpoints.empty();
}

AddressBook::AddressBook(const Setup& setup, std::string provider)
    : setup_(setup),
      provider_(std::move(provider)),
      known_(static_cast<std::size_t>(1 + *std::ranges::max_element(setup.processes))) {}

base::Status AddressBook::find(int process, std::size_t endpoint, Entry& entry) {
  const std::lock_guard lock(mutex_);
  PublishedAddress& address = known_[static_cast<std::size_t>(process)];
  if (address.endpoints.empty()) CLUMP_TRY(read(process, address));
  if (!address.endpoints.empty())
    entry = {address.endpoints[endpoint], address.token, address.expects_greetings};
  return {};
}

base::Status AddressBook::read(int process, PublishedAddress& address) const {
  std::vector<std::byte> packed;
  CLUMP_TRY(setup_.find(process, packed));
  if (packed.empty()) return {};
  PublishedAddress found;
  if (!PublishedAddress::unpack(packed, found))
    return base::fail(MPI_ERR_OTHER, "what it has published as its address is none ({} bytes)",
                      packed.size());
  if (found.provider != provider_)
    return base::fail(MPI_ERR_OTHER,
                      "it uses libfabric's provider {}, but here it is {}; mpiexec --net or "
                      "CLUMP_OFI_PROVIDER chooses one for all",
                      found.provider, provider_);
  if (found.endpoints.size() != static_cast<std::size_t>(setup_.endpoints))
    return base::fail(MPI_ERR_OTHER,
                      "it has {} endpoints, but here there are {}; all must have the same number",
                      found.endpoints.size(), setup_.endpoints);
  address = std::move(found);
  return {};
}

}  // namespace clump::net::ofi
