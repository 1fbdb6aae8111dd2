// What requests and waiting calls report about themselves when it is asked what all ranks wait for
// (docs/decisions/018-who-waits-for-whom.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "fiber/world_stop.h"

namespace clump::core {

class Comm;
class Group;
class Request;
class Team;

/// One event that has not happened yet.
struct Awaited {
  enum class Kind : std::uint8_t {
    kReceive,
    kSend,
    kCollective,
    kPartitionedSend,
    kPartitionedReceive,
    kUser  ///< a generalised request, which the program itself has to complete
  };
  Kind kind = Kind::kUser;
  std::uint32_t context = 0;
  int peer = 0;         ///< of messages: a rank of the communicator's peers, or MPI_ANY_SOURCE
  int world_peer = -1;  ///< the same as a rank of the job; -1: unknown here
  int tag = 0;          ///< of a collective: its number in the communicator, as Comm::next_collective_tag()
  Count bytes = 0;      ///< of a partitioned send: how many partitions are not ready
  const char* call = nullptr;  ///< of a collective: the function that has begun it; may be null
};

/// A collective by messages that a call waits for.
struct AwaitedCollective {
  const Comm& comm;
  int tag;
  const Group* part;  ///< the ranks that take part; null: all
};

/// Records what a call waits for; lies on the call's stack meanwhile. It is used only where the report finds
/// that nowhere else: a posted receive is in the matcher, and a call that waits for one request has left the
/// request in Request::being_awaited. Small, as it is written often.
class Waiting {
 public:
  enum class For : std::uint32_t { kRequest, kHandles, kCollective, kTeam };

  explicit Waiting(const Request& request) : Waiting(For::kRequest, &request) {}
  explicit Waiting(std::span<const MPI_Request> handles)
      : Waiting(For::kHandles, handles.data(), static_cast<std::uint32_t>(handles.size())) {}
  explicit Waiting(const AwaitedCollective& collective) : Waiting(For::kCollective, &collective) {}
  explicit Waiting(const Team& team) : Waiting(For::kTeam, &team) {}
  ~Waiting() { fiber::detail::innermost_wait = outer_; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  const Request* request() const { return as<Request>(For::kRequest); }
  std::span<const MPI_Request> handles() const { return {as<MPI_Request>(For::kHandles), count_}; }
  const AwaitedCollective* collective() const { return as<AwaitedCollective>(For::kCollective); }
  const Team* team() const { return as<Team>(For::kTeam); }

 private:
  Waiting(For kind, const void* what, std::uint32_t count = 0)
      : what_(what), kind_(kind), count_(count), outer_(fiber::detail::innermost_wait) {
    fiber::detail::innermost_wait = this;
  }
  /// Null if the call waits for something else.
  template <typename What>
  const What* as(For kind) const {
    return kind_ == kind ? static_cast<const What*>(what_) : nullptr;
  }

  const void* const what_;
  const For kind_;
  const std::uint32_t count_;
  const void* const outer_;
};

}  // namespace clump::core
