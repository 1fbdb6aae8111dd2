#include "net/ofi/internet.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace clump::net::ofi {

namespace {

const sockaddr_in& as_v4(const sockaddr_storage& storage) {
  return reinterpret_cast<const sockaddr_in&>(storage);
}
const sockaddr_in6& as_v6(const sockaddr_storage& storage) {
  return reinterpret_cast<const sockaddr_in6&>(storage);
}

template <typename Get>
InternetAddress end_of(int descriptor, Get get) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (get(descriptor, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return {};
  return InternetAddress(std::as_bytes(std::span(&storage, 1)).first(length));
}

}  // namespace

InternetAddress::InternetAddress(std::span<const std::byte> name) {
  if (name.size() < sizeof(sockaddr_in) || name.size() > sizeof storage_) return;
  std::memcpy(&storage_, name.data(), name.size());
  length_ = static_cast<socklen_t>(name.size());
  const bool four = storage_.ss_family == AF_INET;
  const bool six = storage_.ss_family == AF_INET6 && name.size() >= sizeof(sockaddr_in6);
  if (!four && !six) storage_.ss_family = AF_UNSPEC;
}

InternetAddress InternetAddress::of_peer(int descriptor) { return end_of(descriptor, &::getpeername); }
InternetAddress InternetAddress::of_self(int descriptor) { return end_of(descriptor, &::getsockname); }

std::span<const std::byte> InternetAddress::number() const {
  if (storage_.ss_family == AF_INET) return std::as_bytes(std::span(&as_v4(storage_).sin_addr, 1));
  return std::as_bytes(std::span(&as_v6(storage_).sin6_addr, 1));
}

int InternetAddress::port() const {
  return ntohs(storage_.ss_family == AF_INET ? as_v4(storage_).sin_port : as_v6(storage_).sin6_port);
}

bool InternetAddress::is_same_host(const InternetAddress& other) const {
  return valid() && storage_.ss_family == other.storage_.ss_family &&
         std::ranges::equal(number(), other.number());
}

std::string InternetAddress::text() const {
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(storage_.ss_family, number().data(), text, sizeof text);
  return fmt::format("{} port {}", text, port());
}

}  // namespace clump::net::ofi
