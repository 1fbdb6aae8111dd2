// Appointments: collective operations of a team that do not block.
//
// Ranks come when they like, say what they call and with which buffers, and go on with what they do. Who
// comes last sees that all are there: little work he does himself, at once; more is left for the workers of
// the ranks, each with the parts of its own ranks, and whoever waits there, or has nothing to do and looks
// after others, does it (net/tasks.h). Who is through with that goes on with the parts that nobody has begun.
// The last part's end completes the requests of all. docs/decisions/024-appointments.md
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/mutex.h"
#include "coll/meeting.h"
#include "coll/swap_rooms.h"
#include "net/tasks.h"

namespace clump::coll {

class Appointments;
class Team;
class TeamOperation;

class Appointment final : Meeting {
 private:
  friend class Appointments;
  /// What is left for the worker of a group: the parts of its ranks, and to tell them that all is over.
  struct Share final : net::Task {
    Appointment* appointment = nullptr;
    int group = 0;
    std::atomic<std::size_t> begun{0};
    void run() override { appointment->work_from(group); }
  };
  struct Ending final : net::Task {
    Appointment* appointment = nullptr;
    int group = 0;
    void run() override { appointment->end(group); }
  };

  Appointment(const core::Comm& comm, Appointments& keeper);
  ~Appointment() = default;

  /// What a rank calls that comes.
  void write_down(TeamOperation& operation);
  /// All have come, this one as the last.
  void begin(const TeamOperation& last);
  bool all_agree(const Slot& me) const;
  void tell_all();
  bool can_swap() const;
  void take_rooms_back();
  bool has_part(int group) const;
  void do_part(Slot& member, int group);
  void swap(Slot& member);
  void leave_shares(int group, Count effort);
  void leave(int group, net::Task& task);
  void work_from(int group);
  void end_all(int group);
  void prepare_endings(int group) const;
  void end(int group);
  void complete(int group);
  void let_go();
  /// About how many bytes could be copied in the time that one core needs for all the work.
  Count effort(const Slot& me) const;
  bool is_waited_for(const Group&) const override;

  Appointments& keeper_;
  const core::World& world_;
  std::vector<int> first_;             ///< by group: the number of its first rank in the job
  std::unique_ptr<Share[]> shares_;    ///< by group
  std::unique_ptr<Ending[]> endings_;  ///< by group
  /// By rank, of two ranks: with what it gives. A line that is not written where there are none.
  alignas(64) std::array<SwapRoom*, 2> rooms_{};
  // On a line of its own: what is above is read by all who come.
  alignas(64) Reduction reduction_;
  bool swaps_ = false;          ///< each rank's part reads the other one's room, and completes its request
  base::Ref<core::Team> team_;  ///< while tasks are out: some may be run after all requests are complete
  std::atomic<int> parts_left_{0};  ///< that are not done
  std::atomic<int> users_{0};       ///< tasks that were left and not yet run to their end, and who begins
  /// Of parts: somebody has found none while others are at work. relaxed: a hint.
  std::atomic<bool> is_short_{false};
};

/// Those of a team: the ones that not all ranks have come to, and memory for others. Any thread.
///
/// Ranks of a worker come one after the other, so they count themselves where only they do; the last one of
/// them counts all of them in.
class Appointments {
 public:
  explicit Appointments(Team& team);
  ~Appointments();
  Appointments(const Appointments&) = delete;
  Appointments& operator=(const Appointments&) = delete;

  /// The rank comes. The operation is complete later, or when this returns.
  void come(TeamOperation& operation);

 private:
  friend class Appointment;

  /// Open ones, and how many have come to each.
  class Table {
   public:
    struct Entry {
      int tag, come;
      Appointment* appointment;
    };
    /// By whoever reads or changes it.
    base::ShortMutex mutex;
    Entry* find(int tag);
    Entry& add(int tag, Appointment& appointment);
    /// One comes: whether it is the last one of so many. Then the entry is gone.
    bool count_in(Entry& entry, int of);

   private:
    /// So many are in the line of the mutex; others are few.
    static constexpr std::size_t kFirst = 2;
    Entry& at(std::size_t i) { return i < kFirst ? first_[i] : (*more_)[i - kFirst]; }
    std::uint32_t count_ = 0;
    Entry first_[kFirst];
    std::unique_ptr<std::vector<Entry>> more_;
    friend Appointments;
  };
  struct alignas(64) Group {
    Table table;  ///< counts ranks
  };

  Table::Entry& find_or_open(const TeamOperation& operation, std::unique_lock<base::ShortMutex>& lock);
  Appointment* count_in(TeamOperation& operation);
  Appointment* take_spare();
  void keep_spare(Appointment& appointment);
  void give_back(Appointment& appointment);

  Team& team_;
  const std::unique_ptr<SwapRooms>
      rooms_;  ///< of two ranks, each alone at its worker, and no cores are spare
  std::unique_ptr<Group[]> groups_;
  alignas(64) Table all_;  ///< counts groups
  // With the mutex of all_:
  std::array<Appointment*, 2> first_spares_{};  ///< in the line of that
  std::vector<Appointment*> spares_;            ///< more of them
};

}  // namespace clump::coll
