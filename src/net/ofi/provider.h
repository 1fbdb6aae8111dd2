// Which of libfabric's providers, and which of a machine's networks, carry the messages.
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
  std::string provider;           ///< by libfabric's name; empty: the fastest
  std::string interface_address;  ///< numeric; networks with such addresses are used with this one only
};

/// What could carry the messages, the best first, each entry linked by nothing. A failure if there is
/// nothing: what libfabric has, and why not.
base::Status find_providers(const Libfabric& library, const Wish& wish, std::vector<FabricInfo>& found);

/// "tcp;ofi_rxm on eth0 (192.0.2.2)".
std::string describe(const fi_info& info);

}  // namespace clump::net::ofi
