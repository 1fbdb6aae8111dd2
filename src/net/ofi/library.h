// libfabric, loaded when a job first needs it: it brings some ten libraries of its own along. All but a few
// of its functions are inline and go through tables of the objects that it makes.
#pragma once

#include <rdma/fabric.h>

#include "base/status.h"

namespace clump::net::ofi {

struct Libfabric {
  decltype(&::fi_getinfo) getinfo = nullptr;
  decltype(&::fi_freeinfo) freeinfo = nullptr;
  decltype(&::fi_dupinfo) dupinfo = nullptr;
  decltype(&::fi_fabric) fabric = nullptr;
  decltype(&::fi_strerror) strerror = nullptr;
  decltype(&::fi_version) version = nullptr;

  /// What an error number of libfabric's means, negative as its functions return it or not.
  const char* why(long error) const { return strerror(static_cast<int>(error < 0 ? -error : error)); }
};

/// Loads it, the first time. Any thread; may take some tens of milliseconds.
base::Status load_libfabric(const Libfabric*& library);

}  // namespace clump::net::ofi
