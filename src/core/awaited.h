// What requests, and calls that wait, tell to who asks what all wait for (docs/decisions/018-who-waits-for-whom.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/types.h"
#include "fiber/sleepers.h"

namespace clump::core {

class Comm;
class Group;
class Request;
class Team;

/// One thing that has not happened yet.
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
  int world_peer = -1;  ///< the same as a rank of the job; -1: not known here
  int tag = 0;          ///< of a collective: its number in the communicator, as Comm::next_collective_tag()
  Count bytes = 0;  ///< of a partitioned send: how many partitions are not ready
  const char* call = nullptr;  ///< of a collective: the function that has begun it; may be null
};

/// Lies on the stack of a call while it waits, where it could not be found otherwise: receives are where they
/// were posted, and who waits for one request has left its name there.
class Waiting {
 public:
  explicit Waiting(const Request& request) : request(&request) {}
  explicit Waiting(std::span<const MPI_Request> handles) : handles(handles) {}
  /// The ranks of `part` do, if it is not null.
  Waiting(const Comm& comm, int tag, const Group* part) : comm(&comm), part(part), tag(tag) {}
  explicit Waiting(const Team& team) : team(&team) {}
  ~Waiting() { fiber::detail::innermost_wait = outer_; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  const Request* const request = nullptr;
  const std::span<const MPI_Request> handles;
  const Comm* const comm = nullptr;
  const Group* const part = nullptr;
  const int tag = 0;
  const Team* const team = nullptr;

 private:
  const void* const outer_ = std::exchange(fiber::detail::innermost_wait, this);
};

}  // namespace clump::core
