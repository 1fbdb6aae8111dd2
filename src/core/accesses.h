// What a rank has moved from and to windows and files, for tools (MPI-5.0 section 15.3.7).
#pragma once

#include <array>
#include <cstdint>

#include "base/counter.h"
#include "base/types.h"

namespace clump::core {

class Rank;

enum class AccessKind : std::uint8_t { kPut, kGet, kAccumulate, kRead, kWrite };
inline constexpr std::size_t kAccessKinds = 5;

/// Written by the rank's threads. No other rank writes its cache lines.
struct alignas(64) AccessCounters {
  std::array<base::Counter, kAccessKinds> calls, bytes;  ///< by AccessKind
  base::Counter lock_waits;                              ///< locks of windows that were not free
  base::Counter epochs;  ///< calls of MPI_Win_post, start, complete and wait, for which no message may move

  void add(AccessKind kind, Count more) {
    calls[static_cast<std::size_t>(kind)].add();
    bytes[static_cast<std::size_t>(kind)].add(static_cast<std::uint64_t>(more));
  }
};

/// Those of a rank, for as long as the process lives. Takes a lock: keep the reference.
AccessCounters& access_counters_of(const Rank& rank);

}  // namespace clump::core
