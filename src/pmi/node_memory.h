// The memory that the host processes of a job on one node have in common: a memfd that mpiexec makes and
// hands on by descriptor (CLUMP_NODE_FD). It has no name, so nothing is left of it when the last of them is
// gone, however that happens.
//
// Here is its beginning: how far each process has come, where each sleeps, and in a job of several nodes how
// the network reaches whom. What lies behind it, from end() on, is the shm channel's (net/shm). All zero is
// the state at the start.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bell.h"
#include "base/status.h"
#include "base/types.h"
#include "pmi/job.h"

namespace clump::pmi {

/// How far a host process has come.
struct alignas(64) HostState {
  /// The process that is, or holds, the ranks; 0: none yet. Of several that try, the first gets them.
  std::atomic<std::int32_t> process_id{0};
  /// Of its ranks: how many may not leave yet, because they have not finalised MPI.
  std::atomic<std::int32_t> owing{0};
  /// Of its ranks: how many have called MPI_Init, ever.
  std::atomic<std::int32_t> in_world{0};

  // exec() before MPI_Init (host/exec.cc). Ranks of a job are images or successors of them, not both.
  std::atomic<std::int32_t> replaced{0};    ///< 1 + a rank of its that a successor has replaced; 0: none
  std::atomic<std::int32_t> left_early{0};  ///< of its ranks: how many have ended without MPI
  std::atomic<bool> called_mpi{false};      ///< one of its ranks has

  /// With --gdb: its process, when all of its ranks wait for the debugger.
  std::atomic<std::int32_t> debuggee{0};

  // Who waits for whom (waits.h).
  std::atomic<std::uint32_t> news{0};  ///< futex of its observer: counted up when there is something to do
  std::atomic<bool> observes{false};   ///< there is one, which answers questions
  std::atomic<std::uint32_t> question{0};  ///< mpiexec's last one: it wants an account
  std::atomic<bool> ends{false};           ///< mpiexec's: the job is over, with this deadlock
  std::atomic<std::uint64_t> wakes{0};     ///< of threads that have slept
  // When `wakes` was one less, all of its threads slept:
  std::atomic<std::uint64_t> rested{0};  ///< in MPI, each of them, and its bells say so while they do
  std::atomic<std::uint64_t> outside{
      0};                               ///< some outside MPI, as the kernel has it; its bells may say nothing
  std::atomic<std::uint32_t> check{0};  ///< mpiexec's last one: it wants to know whether it rests (RestNote)
  std::atomic<bool> done{false};        ///< with MPI: it stays for the network's sake, and waits for nobody
  // For mpiexec --hang-after: how often it wants somebody to look, and what the last look has found.
  std::atomic<std::uint32_t> looks{0}, looked{0};
  std::atomic<std::uint64_t> progress{0};  ///< changes while messages move and collectives begin
  std::atomic<bool> in_mpi{false};  ///< since the look before, each rank has been in MPI, or waits there
};

/// How the network reaches a host process. Who needs to know wants it, and tells mpiexec so
/// (control.h); mpiexec looks it up.
struct alignas(64) Address {
  /// kOver: known, and nobody needs it any more.
  enum State : std::uint32_t { kUnknown, kWanted, kKnown, kUnreachable, kOver };
  static constexpr std::size_t kMost = 248;

  std::atomic<std::uint32_t> state{kUnknown};  ///< futex of those who want it
  std::uint32_t length = 0;                    ///< kUnreachable: of a text that says why
  std::byte bytes[kMost];

  /// Once, by whoever knows. Fails if it is longer than kMost.
  base::Status fill(State outcome, std::span<const std::byte> content);
  void end() { change(kOver); }
  /// Waits while the state is `now`; what it is then.
  State wait_while(State now);
  std::span<const std::byte> content() const { return {bytes, length}; }

 private:
  void change(State next);
};

class NodeMemory {
 public:
  /// An empty one for `job`. mpiexec's.
  static base::Status make(const Job& job, int& descriptor);
  /// Where `descriptor` is mapped. It stays until the process ends.
  static base::Status map(const Job& job, int descriptor, NodeMemory& memory);

  /// Of this node.
  HostState& host(int process) const { return hosts_[process - first_process_]; }
  /// Whether all threads of a process sleep, and since when, in wakes.
  bool rests(const Job& job, int process, std::uint64_t& since) const;
  /// Has the observer of a process look what is new.
  void call_observer(int process) const;
  /// Of any process of the job; only if it has several nodes.
  Address& address(int process) const { return addresses_[process]; }
  /// Where whoever works for a port sleeps.
  base::Bell& bell(int port) const { return bells_[port]; }

  /// Bytes of the whole: what lies behind end() is added by those who use it, each of whom may make the file
  /// as long as it needs.
  CLUMP_HOST_API static std::size_t end(const Job& job);

 private:
  HostState* hosts_ = nullptr;
  base::Bell* bells_ = nullptr;
  Address* addresses_ = nullptr;
  int first_process_ = 0;
};

}  // namespace clump::pmi
