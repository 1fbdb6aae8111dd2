// A rank's dispatcher: notes down what happens to the rank while a tool watches, and tells the tool's
// callbacks (MPI-5.0 section 15.3.8).
//
// Events are noted by whoever makes them happen (core/tool_observer.h), and told by the rank itself, at the
// beginning of its next call of MPI. So a callback runs where any code of the program may run: it may call
// everything, and needs no particular safety. The price is that it comes later than its event, whose time it
// can ask for. Notes that nobody has fetched are kept up to kMostNotes; what is over is counted as dropped.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "core/rank.h"
#include "instruments/catalogue.h"

namespace clump::instruments {

/// Nanoseconds of the clock of all sources.
Count now();

/// One event, as it was noted down.
struct Note {
  Happening happening;
  std::uint32_t context = 0;  ///< of the communicator; 0 where there is none
  Count time = 0;
  std::uint64_t number = 0;
  std::array<Count, 3> elements{};
};

/// What a callback may ask about while it runs: MPI_T_event_instance points to one.
struct Instance {
  const EventKind& kind;
  const Note& note;
};

/// What a registration wants to be told. Plain data: the dispatcher keeps a copy.
struct Interest {
  struct Callback {
    MPI_T_event_cb_function* function = nullptr;
    void* user_data = nullptr;
  };
  static constexpr int kSafeties = 4;
  static constexpr MPI_T_cb_safety kLevels[kSafeties] = {
      MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_T_CB_REQUIRE_THREAD_SAFE,
      MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};

  MPI_T_event_registration handle = nullptr;
  const EventKind* kind = nullptr;
  std::uint32_t context = 0;  ///< of the communicator that it is bound to
  std::array<Callback, kSafeties> callbacks{};
  MPI_T_event_dropped_cb_function* dropped = nullptr;
  Count drops = 0;          ///< not told yet
  std::uint64_t since = 0;  ///< the first note that is told

  bool any() const;
  bool fits(const Note& note) const;
  /// The callback that asks for least: ours are called where anything is allowed.
  const Callback& best() const;
};

class EventDispatcher final : public core::ToolObserver {
 public:
  explicit EventDispatcher(core::Rank& rank) : rank_(rank) {}

  // By one thread of the rank at a time (Tool's lock).
  /// Replaces the interest of a registration; one without callbacks is forgotten.
  void want(const Interest& interest);
  /// The same when a registration goes: no callback of it runs afterwards, except the calling one.
  void forget(MPI_T_event_registration handle);

  /// The highest number of unexpected messages so far. It moves while it is watched.
  struct Mark {
    Count most = 0;
  };
  void add_mark(Mark& mark);
  void remove_mark(Mark& mark);
  Count most(const Mark& mark);
  void set_most(Mark& mark, Count value);

  /// Tells what was noted. Called by the rank's threads, at the beginning of a call; does nothing while a
  /// callback runs.
  void tell();
  /// Whether this is what a callback that runs now was called with.
  bool is_current(const Instance* instance) const {
    return instance != nullptr && current_.load(std::memory_order_relaxed) == instance;
  }

  // ToolObserver
  void unexpected_are(Count messages) override;
  void unexpected_came(const Message& message) override;
  void unexpected_went() override;
  void collective_begins(std::uint32_t context, int collective, int algorithm, Count bytes) override;
  void taken(int worker) override;
  void stuck(int worker) override;

 private:
  static constexpr std::size_t kMostNotes = 1024;

  void note(Note note);
  void watch();
  bool fetch(Note& note, std::vector<MPI_T_event_registration>& told);
  bool still_wants(MPI_T_event_registration handle, const Note& note, Interest& interest);
  bool fetch_drops(Interest& told);

  core::Rank& rank_;
  std::mutex watching_mutex_;  // of the next; taken before the others
  bool watching_messages_ = false;
  std::atomic<const Instance*> current_{nullptr};  // set and read by the thread that tells
  std::atomic<std::thread::id> teller_{};          // who tells; nobody: the default

  base::ShortMutex mutex_;  // of all that follows; short, because watchers are called under locks
  std::vector<Interest> interests_;
  std::vector<Mark*> marks_;
  Count unexpected_ = 0;
  std::vector<Note> notes_;  // a ring
  std::uint64_t first_ = 0, next_ = 0;
  bool dropping_ = false;  // from when the ring was full until the drops are told
};

}  // namespace clump::instruments
