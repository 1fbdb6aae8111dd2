// Hardware that libraries of others look for.
#pragma once

#include <filesystem>
#include <system_error>

namespace clump::base {

/// Whether the kernel has an adapter for InfiniBand, or one that its drivers show as such: RoCE, iWARP,
/// Omni-Path, EFA.
inline bool has_rdma_adapter() {
  std::error_code none;
  return !std::filesystem::is_empty("/sys/class/infiniband", none) && !none;
}

}  // namespace clump::base
