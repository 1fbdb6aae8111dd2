// Communicators (MPI-5.0 chapter 7). Each rank has its own Comm object for each communicator it is in; all of
// them agree on the context.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/ref.h"
#include "base/types.h"
#include "core/attributes.h"
#include "core/errhandler.h"
#include "core/group.h"
#include "core/info.h"
#include "core/object_name.h"
#include "core/send_buffer.h"
#include "core/tool_observer.h"
#include "core/topology.h"
#include "net/link/held_place.h"

namespace clump::core {

class Rank;

/// Keeps messages of different communicators apart. A communicator owns two: point-to-point, and (with the
/// lowest bit set) collective.
enum class ContextId : std::uint32_t {};
constexpr ContextId collective(ContextId context) {
  return ContextId{static_cast<std::uint32_t>(context) | 1u};
}

/// What the ranks of an intracommunicator share for their collectives. Its contents belong to src/coll.
class Team : public base::RefCounted {
 public:
  enum class Kind : std::uint8_t {
    kNone,   ///< no team: collectives use messages
    kHere,   ///< the ranks are in one address space and share one team
    kNode,   ///< each rank has its own team object, and they use memory that the node's processes share
    kHosts,  ///< each rank has its own team object: the ranks are on several hosts, and there are messages
             ///< too
  };
  explicit Team(Kind kind) : kind(kind) {}
  const Kind kind;
};

class Comm final : public base::RefCounted {
 public:
  Comm(Rank& owner, ContextId context, base::Ref<const Group> local, base::Ref<const Group> remote);
  ~Comm() override;

  ContextId context;                          ///< fixed, once the request of an MPI_Comm_idup is complete
  Rank& owner;                                ///< the rank whose communicator this is
  const base::Ref<const Group> group;         ///< local group
  const base::Ref<const Group> remote_group;  ///< null: an intracommunicator
  const int rank;                             ///< of the owner in the local group

  MPI_Comm handle = MPI_COMM_NULL;  ///< set by Rank::add()
  ObjectName name;
  Attributes attributes;
  Info info;  ///< hints (MPI_Comm_set_info)
  ErrhandlerSlot errhandler{Errhandler::fatal()};
  base::Ref<const Topology> topology;  ///< null: none
  /// The local group of an intercommunicator as a communicator of its own, with its own context, for
  /// agreements within the group. Null in an intracommunicator.
  base::Ref<Comm> local;
  SendBufferSlot send_buffer;  ///< MPI_Comm_attach_buffer
  /// The wishes of the hints; null: none. Changed only by collective calls (MPI_Comm_set_info).
  std::unique_ptr<CollectiveWishes> wishes;
  /// The team; null until the first collective that uses it has found it.
  base::Ref<Team> team;
  /// The thread that is in a collective call (pthread_self(); 0: none), and the call. Kept for a rank with
  /// several threads.
  std::atomic<std::uintptr_t> collective_thread{0};
  std::atomic<const char*> collective_call{nullptr};

  /// Whether there are ranks of other jobs in it, or in the remote group.
  bool crosses_jobs() const { return !places_.empty(); }
  /// Whether its ranks are those of the owner's MPI_COMM_WORLD.
  bool has_whole_world() const;
  /// Once the context is known: ends the job if another communicator of the rank has the same, which jobs on
  /// different hosts may have drawn (net/link). Their messages would be taken for each other's. Any thread.
  void claim_context();
  /// For a communicator of ranks of this one: by its rank 0 alone.
  ContextId new_context() const;
  bool is_inter() const { return static_cast<bool>(remote_group); }
  int size() const { return group->size(); }
  /// The group that the destination and source ranks of messages refer to.
  const Group& peers() const { return peers_; }

  /// The tag of the next collective operation. All ranks call collectives in the same order, so all get the
  /// same tag.
  int next_collective_tag() {
    return static_cast<int>(collectives_.fetch_add(1, std::memory_order_relaxed) & 0x1fffffff);
  }
  /// How many of these tags were taken so far.
  int collective_tags() const {
    return static_cast<int>(collectives_.load(std::memory_order_relaxed) & 0x1fffffff);
  }
  /// The first of kCheckTags tags for the messages by which ranks compare what they call before a collective
  /// of the program. Different from all tags of collectives.
  static constexpr int kCheckTags = 4;
  int next_check_tags() {
    const std::uint32_t number = checks_.fetch_add(kCheckTags, std::memory_order_relaxed);
    return static_cast<int>((number & 0x1fffffff) | 0x20000000);
  }
  /// The number of a collective call of this communicator in the records of calls: the same on all ranks.
  std::uint32_t next_recorded_collective() { return recorded_.fetch_add(1, std::memory_order_relaxed); }
  /// The first of `partitions` numbers, one for each partition that this rank sends. After 2^32 the numbers
  /// begin again with 0.
  std::uint32_t next_partition_tags(int partitions) {
    return partition_tags_.fetch_add(static_cast<std::uint32_t>(partitions), std::memory_order_relaxed);
  }

 private:
  void hold_places();

  const Group& peers_;
  std::vector<net::HeldPlace> places_;  // of its ranks of other jobs
  std::atomic<std::uint32_t> collectives_{0}, partition_tags_{0}, checks_{0}, recorded_{0};
};

}  // namespace clump::core
