// How jobs of one machine name each other's ranks: numbers of ranks are each job's own.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

namespace clump::net::link {

/// What a job is known by outside: where its processes listen, and what a process has to know to be let in.
/// Both are drawn at random.
struct JobName {
  std::uint64_t id = 0;     ///< 0: none
  std::uint64_t token = 0;  ///< the secret
  friend auto operator<=>(const JobName&, const JobName&) = default;
};

/// A rank of any job. Ordered in the same way everywhere.
struct PeerName {
  JobName job;
  std::int32_t rank = 0;     ///< its number in its job
  std::int32_t process = 0;  ///< the process of its job that it is in

  friend auto operator<=>(const PeerName&, const PeerName&) = default;

  /// As part of a message between ranks.
  static constexpr int kInts = 6;
  std::array<int, kInts> as_ints() const {
    const auto low = [](std::uint64_t n) { return static_cast<int>(static_cast<std::uint32_t>(n)); };
    return {low(job.id), low(job.id >> 32), low(job.token), low(job.token >> 32), rank, process};
  }
  static PeerName from_ints(const int* ints) {
    const auto both = [](int low, int high) {
      return std::uint64_t{static_cast<std::uint32_t>(high)} << 32 | static_cast<std::uint32_t>(low);
    };
    return {{both(ints[0], ints[1]), both(ints[2], ints[3])}, ints[4], ints[5]};
  }
};

}  // namespace clump::net::link
