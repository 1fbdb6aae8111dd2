#include "net/ofi/provider.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace clump::net::ofi {

namespace {

// Providers in the order of preference: first networks that move data themselves, then those that go through
// the kernel ("net" is what "tcp" is now). A provider in neither list is unknown: most likely it is better
// than sockets.
constexpr std::string_view kFast[] = {"cxi", "efa", "verbs;ofi_rxm", "psm3", "opx", "psm2"};
constexpr std::string_view kSockets[] = {"tcp", "net", "tcp;ofi_rxm"};
// Providers that are used only if the user asks for one: they work inside one machine only, are unreliable
// underneath, are for tests, or are a layer over a provider that is found by itself.
constexpr std::string_view kNever[] = {"shm",         "sm2", "udp",         "udp;ofi_rxd", "sockets",
                                       "net;ofi_rxm", "UDP", "udp;ofi_rxm", "lnx",         "ucx"};

template <std::size_t n>
std::size_t place_in(const std::string_view (&list)[n], std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(list, name) - list);
}

std::string_view name_of(const fi_info& info) {
  const char* const name = info.fabric_attr->prov_name;
  return name == nullptr ? std::string_view() : name;
}

/// The place of a provider in the order of preference: the smaller, the better.
std::size_t rank_of(const fi_info& info) {
  const std::size_t fast = place_in(kFast, name_of(info));
  if (fast < std::size(kFast)) return fast;
  return std::size(kFast) + 1 + (place_in(kSockets, name_of(info)) + 1) % (std::size(kSockets) + 1);
}

bool is_internet(const fi_info& info) {
  return info.src_addr != nullptr &&
         (info.addr_format == FI_SOCKADDR_IN || info.addr_format == FI_SOCKADDR_IN6);
}

/// The address as numeric text; empty if it is not an address of the Internet.
std::string address_of(const fi_info& info) {
  char text[INET6_ADDRSTRLEN] = "";
  if (!is_internet(info)) return text;
  if (info.addr_format == FI_SOCKADDR_IN)
    ::inet_ntop(AF_INET, &static_cast<const sockaddr_in*>(info.src_addr)->sin_addr, text, sizeof text);
  else
    ::inet_ntop(AF_INET6, &static_cast<const sockaddr_in6*>(info.src_addr)->sin6_addr, text, sizeof text);
  return text;
}

/// Whether the address reaches this machine only, or needs more than an address to be reached.
bool is_local(const fi_info& info) {
  if (!is_internet(info)) return false;
  if (info.addr_format == FI_SOCKADDR_IN)
    return ntohl(static_cast<const sockaddr_in*>(info.src_addr)->sin_addr.s_addr) >> 24 == 127;
  const in6_addr& address = static_cast<const sockaddr_in6*>(info.src_addr)->sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_LINKLOCAL(&address);
}

/// Why a provider cannot be used; empty if it can.
std::string objection(const fi_info& info, const Wish& wish) {
  if (wish.provider.empty() && place_in(kNever, name_of(info)) < std::size(kNever))
    return "only if it is asked for";
  if (!is_internet(info)) return {};
  if (wish.interface_address.empty()) return is_local(info) ? "reaches this machine only" : "";
  // A network that is only for messages may have addresses of its own.
  const bool own_network = place_in(kFast, name_of(info)) < std::size(kFast);
  if (own_network ? is_local(info) : address_of(info) != wish.interface_address)
    return "is not at " + wish.interface_address;
  return {};
}

FabricInfo make_hints(const Libfabric& library, const Wish& wish) {
  FabricInfo hints(library.dupinfo(nullptr), {library.freeinfo});
  if (hints == nullptr) return hints;
  hints->caps = FI_MSG | FI_TAGGED | FI_MULTI_RECV;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->control_progress = hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->av_type = FI_AV_TABLE;
  if (!wish.provider.empty()) hints->fabric_attr->prov_name = ::strdup(wish.provider.c_str());
  return hints;
}

base::Status nothing_found(const Wish& wish, const std::string& tried) {
  return base::fail(MPI_ERR_OTHER,
                    "libfabric has no network{}{} that can carry messages between hosts; it was asked for "
                    "reliable datagrams with tags, and has: {}; fi_info prints what there is, "
                    "mpiexec --net or CLUMP_OFI_PROVIDER chooses",
                    wish.provider.empty() ? "" : " with the provider " + wish.provider,
                    wish.interface_address.empty() ? "" : " at " + wish.interface_address,
                    tried.empty() ? "nothing" : tried);
}

}  // namespace

std::string describe(const fi_info& info) {
  std::string text(name_of(info));
  if (info.domain_attr->name != nullptr) text += std::string(" on ") + info.domain_attr->name;
  if (const std::string address = address_of(info); !address.empty()) text += " (" + address + ")";
  return text;
}

base::Status find_providers(const Libfabric& library, const Wish& wish, std::vector<FabricInfo>& found) {
  const FabricInfo hints = make_hints(library, wish);
  if (hints == nullptr) return base::fail(MPI_ERR_NO_MEM, "no memory for a question to libfabric");
  fi_info* list = nullptr;
  const int error = library.getinfo(FI_VERSION(1, 11), nullptr, nullptr, 0, hints.get(), &list);
  if (error != 0 && error != -FI_ENODATA)
    return base::fail(MPI_ERR_OTHER, "fi_getinfo: {}", library.why(error));
  std::string tried;
  while (list != nullptr) {
    FabricInfo info(list, {library.freeinfo});
    list = std::exchange(info->next, nullptr);
    const std::string why_not = objection(*info, wish);
    if (why_not.empty())
      found.push_back(std::move(info));
    else if (const std::string entry = describe(*info) + ": " + why_not; tried.find(entry) == tried.npos)
      tried += (tried.empty() ? "" : ", ") + entry;
  }
  if (found.empty()) return nothing_found(wish, tried);
  // libfabric also takes a name as that of one part of a layered provider, so exact names come first.
  std::ranges::stable_sort(found, {}, [&](const FabricInfo& info) {
    return std::pair(name_of(*info) != wish.provider, rank_of(*info));
  });
  return {};
}

}  // namespace clump::net::ofi
