// How jobs of one user name each other's ranks: numbers of ranks are each job's own.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
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

/// Where a process is: on which host, and where processes of other hosts connect to it.
struct Location {
  std::uint64_t host = 0;                  ///< own_host() there (host_socket.h); 0: not known
  std::array<std::uint8_t, 16> address{};  ///< of IPv6, or of IPv4 as ::ffff:a.b.c.d
  std::uint16_t port = 0;                  ///< 0: it listens on its own host only
  std::array<std::uint8_t, 6> unused{};    ///< in place of padding, which would be sent as it lies in memory

  bool is_reachable() const { return port != 0; }
  friend bool operator==(const Location&, const Location&) = default;

  static constexpr int kInts = 7;
  using Ints = std::array<int, kInts>;
  Ints as_ints() const {
    const auto ends = std::bit_cast<std::array<int, 2>>(host);
    const auto parts = std::bit_cast<std::array<int, 4>>(address);
    return {ends[0], ends[1], parts[0], parts[1], parts[2], parts[3], port};
  }
  static Location from_ints(const int* ints) {
    return {std::bit_cast<std::uint64_t>(std::array{ints[0], ints[1]}),
            std::bit_cast<std::array<std::uint8_t, 16>>(std::array{ints[2], ints[3], ints[4], ints[5]}),
            static_cast<std::uint16_t>(ints[6])};
  }
};

/// A rank of any job. Ordered in the same way everywhere, whether or not it is known where the rank is.
struct PeerName {
  JobName job;
  std::int32_t rank = 0;     ///< its number in its job
  std::int32_t process = 0;  ///< the process of its job that it is in

  Location where;  ///< of the process

  friend bool operator==(const PeerName& one, const PeerName& other) { return (one <=> other) == 0; }
  friend std::strong_ordering operator<=>(const PeerName& one, const PeerName& other) {
    if (const auto jobs = one.job <=> other.job; jobs != 0) return jobs;
    if (const auto ranks = one.rank <=> other.rank; ranks != 0) return ranks;
    return one.process <=> other.process;
  }

  /// As part of a message between ranks.
  static constexpr int kInts = 6 + Location::kInts;
  std::array<int, kInts> as_ints() const {
    const auto low = [](std::uint64_t n) { return static_cast<int>(static_cast<std::uint32_t>(n)); };
    std::array<int, kInts> all{low(job.id), low(job.id >> 32), low(job.token), low(job.token >> 32), rank,
                               process};
    std::ranges::copy(where.as_ints(), all.begin() + 6);
    return all;
  }
  static PeerName from_ints(const int* ints) {
    const auto both = [](int low, int high) {
      return std::uint64_t{static_cast<std::uint32_t>(high)} << 32 | static_cast<std::uint32_t>(low);
    };
    return {
        {both(ints[0], ints[1]), both(ints[2], ints[3])}, ints[4], ints[5], Location::from_ints(ints + 6)};
  }
};

}  // namespace clump::net::link
