#include "command/host_names.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "common/reach.h"

namespace clump::mpiexec {

namespace {

using Addresses = std::vector<std::string>;

std::string own_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

bool has(const Addresses& all, const std::string& one) { return std::ranges::find(all, one) != all.end(); }

/// Whether all of `some` are among `all`, and there are any. Two hosts may have one address in common, that
/// of a bridge for containers.
bool are_among(const Addresses& some, const Addresses& all) {
  return !some.empty() && std::ranges::all_of(some, [&](const std::string& one) { return has(all, one); });
}

/// The addresses that mean the same on every host; sets is_here and addresses. An address that this host has,
/// too, leads to this host: the other one is not reached by it.
Addresses look_up(Host& host, const std::string& own, const Addresses& own_addresses) {
  host.is_here = host.name == own || host.name == "localhost" || tools::is_loopback(host.name);
  if (host.is_here) return {};
  Addresses addresses = tools::addresses_of(host.name);
  const bool any = !addresses.empty();
  std::erase_if(addresses, tools::is_loopback);
  host.is_here = (any && addresses.empty()) || are_among(addresses, own_addresses);
  if (host.is_here) return addresses;
  host.addresses = addresses;
  std::erase_if(host.addresses, [&](const std::string& one) { return has(own_addresses, one); });
  return addresses;
}

}  // namespace

void merge_names(std::vector<Host>& hosts) {
  const std::string own = own_name();
  const Addresses own_addresses = tools::own_addresses();
  std::vector<Host> merged;
  std::vector<Addresses> known;  // of `merged`
  for (Host& host : hosts) {
    Addresses addresses = look_up(host, own, own_addresses);
    if (host.name == "localhost" || tools::is_loopback(host.name)) host.name = own;
    std::size_t same = 0;
    while (same < merged.size() && !(merged[same].is_here && host.is_here) &&
           merged[same].name != host.name && !are_among(addresses, known[same]) &&
           !are_among(known[same], addresses))
      ++same;
    if (same == merged.size()) {
      merged.push_back(std::move(host));
      known.push_back(std::move(addresses));
    } else {
      add_to(merged[same], host);
    }
  }
  hosts = std::move(merged);
}

std::vector<std::string> own_addresses_towards(const std::vector<Host>& hosts) {
  Addresses all;
  const auto add = [&all](const std::string& own) {
    if (!own.empty() && !own.starts_with("fe80:") && !has(all, own)) all.push_back(own);
  };
  for (const Host& host : hosts) {
    if (host.is_here) continue;
    bool is_known = false;
    for (const std::string& address : host.addresses) {
      const std::string own = tools::address_towards(address);
      is_known = is_known || !own.empty();
      add(own);
    }
    if (is_known) continue;
    for (const std::string& own : tools::own_addresses()) add(own);
  }
  if (all.empty()) all.emplace_back("127.0.0.1");
  return all;
}

}  // namespace clump::mpiexec
