// libfabric. It is loaded when a job first needs it, because it loads some ten other libraries. All but a few
// of its functions are inline and go through tables in its objects.
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

  /// The meaning of an error number of libfabric. The number may be negative, as its functions return it, or
  /// not.
  const char* why(long error) const { return strerror(static_cast<int>(error < 0 ? -error : error)); }
};

/// Loads libfabric, if it is not loaded yet. Any thread; may take some tens of milliseconds.
base::Status load_libfabric(const Libfabric*& library);

}  // namespace clump::net::ofi
