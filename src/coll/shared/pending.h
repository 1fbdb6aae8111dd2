// Non-blocking and persistent collectives among ranks of one address space, without messages.
//
//   MPI_Iallreduce of ranks 0 ... n-1 --> arguments in slots --> the last rank: little work: does all of it
//                                                                much work: one WorkTask for each worker
//   the worker's progress, or a rank that waits, runs the task --> the last part: completes all requests
//
// Each rank registers its arguments with the PendingCollective of the operation and returns. The last rank to
// register does the work itself if it is little (below 8 KB), or submits one task for each worker with the
// parts of the ranks at home there. A thread that has finished its own parts takes parts that no thread has
// begun. The end of the last part completes the requests of all ranks.
// docs/decisions/024-pending-collectives.md
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/mutex.h"
#include "coll/shared/shared_collective.h"
#include "core/rank.h"
#include "net/progress_tasks.h"

namespace clump::coll {

class PendingCollectives;
class Team;
class TeamRequest;

class PendingCollective final : SharedCollective {
 private:
  friend class PendingCollectives;
  /// Work for the worker of a group: the parts of its ranks, and the completion of their requests.
  struct WorkTask final : net::ProgressTask {
    PendingCollective* pending = nullptr;
    int group = 0;
    std::atomic<std::size_t> begun{0};
    void run() override { pending->work_from(group); }
  };
  struct CompletionTask final : net::ProgressTask {
    PendingCollective* pending = nullptr;
    int group = 0;
    void run() override { pending->end(group); }
  };

  PendingCollective(const core::Comm& comm, PendingCollectives& owner);
  ~PendingCollective() = default;

  /// Writes the call of an arriving rank to its slot.
  void write_down(TeamRequest& operation);
  /// All ranks have arrived; `last` is that of the last one.
  void begin(const TeamRequest& last);
  bool all_agree(const ArgumentSlot& me) const;
  void tell_all();
  void do_part(ArgumentSlot& member);
  void submit_work(int group, Count effort);
  void submit(int group, net::ProgressTask& task);
  void work_from(int group);
  void end_all(int group);
  void prepare_completions(int group) const;
  void end(int group);
  void complete(int group);
  void let_go();
  /// About how many bytes could be copied in the time that one core needs for all the work.
  Count effort(const ArgumentSlot& me) const;
  bool is_waited_for(const LocalGroup&) const override;
  PackedSignature broadcast(std::uint64_t) const override;

  PendingCollectives& owner_;
  const core::World& world_;
  std::vector<int> first_;                              ///< by group: the number of its first rank in the job
  std::unique_ptr<WorkTask[]> work_tasks_;              ///< by group
  std::unique_ptr<CompletionTask[]> completion_tasks_;  ///< by group
  // On a line of its own: what is above is read by all ranks that join.
  alignas(64) Reduction reduction_;
  base::Ref<core::Team> team_;      ///< while tasks are out: some may be run after all requests are complete
  std::atomic<int> parts_left_{0};  ///< that are not done
  std::atomic<int> users_{0};       ///< tasks that have not run to their end, and the thread that begins
  /// Of parts: a thread has found none while others are at work. relaxed: a hint.
  std::atomic<bool> is_short_{false};
};

/// Those of a team: the ones that not all ranks have come to, and memory for others. Any thread.
///
/// Ranks of a worker come one after the other, so they count themselves where only they do; the last one of
/// them counts all of them in.
class PendingCollectives {
 public:
  explicit PendingCollectives(Team& team);
  ~PendingCollectives();
  PendingCollectives(const PendingCollectives&) = delete;
  PendingCollectives& operator=(const PendingCollectives&) = delete;

  /// The rank comes. The operation is complete later, or when this returns.
  void join(TeamRequest& operation);

 private:
  friend class PendingCollective;

  /// Open ones, and how many have come to each.
  class Table {
   public:
    struct Entry {
      int tag, come;
      PendingCollective* pending;
    };
    /// Held by a thread that reads or changes it.
    base::ShortMutex mutex;
    Entry* find(int tag);
    Entry& add(int tag, PendingCollective& pending);
    /// One comes: whether it is the last one of so many. Then the entry is gone.
    bool count_in(Entry& entry, int of);

   private:
    /// So many are in the line of the mutex; others are few.
    static constexpr std::size_t kFirst = 2;
    Entry& at(std::size_t i) { return i < kFirst ? first_[i] : (*more_)[i - kFirst]; }
    std::uint32_t count_ = 0;
    Entry first_[kFirst];
    std::unique_ptr<std::vector<Entry>> more_;
    friend PendingCollectives;
  };
  struct alignas(64) LocalGroup {
    Table table;  ///< counts ranks
  };

  Table::Entry& find_or_open(const TeamRequest& operation, std::unique_lock<base::ShortMutex>& lock);
  PendingCollective* count_in(TeamRequest& operation);
  PendingCollective* take_spare();
  void keep_spare(PendingCollective& pending);
  void give_back(PendingCollective& pending);

  Team& team_;
  std::unique_ptr<LocalGroup[]> groups_;
  alignas(64) Table all_;  ///< counts groups
  // With the mutex of all_:
  std::array<PendingCollective*, 2> first_spares_{};  ///< in the line of that
  std::vector<PendingCollective*> spares_;            ///< more of them
};

}  // namespace clump::coll
