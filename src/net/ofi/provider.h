// Chooses which of libfabric's providers, and which of a machine's networks, carry the messages.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/ofi/library.h"

namespace clump::net::ofi {

struct FreeInfo {
  void (*free)(fi_info*);
  void operator()(fi_info* info) const { free(info); }
};
using FabricInfo = std::unique_ptr<fi_info, FreeInfo>;

struct Wish {
  std::string provider;           ///< libfabric's name of it; empty: the fastest
  std::string interface_address;  ///< numeric; of networks with such addresses only the one with this address
                                  ///< is used
};

/// The providers that can carry the messages, the best first, each entry linked by nothing. If there is none,
/// an error that lists what libfabric has, and why it cannot be used.
base::Status find_providers(const Libfabric& library, const Wish& wish, std::vector<FabricInfo>& found);

/// A provider and its network as text: "tcp;ofi_rxm on eth0 (192.0.2.2)".
std::string describe(const fi_info& info);

}  // namespace clump::net::ofi
