// What one thread of control writes down about its calls (layout.h). The calls are told to it by the entry
// points (mpi/trace/recording.h), in the order of the functions here; how long it waited in between, and for
// whom, by those who let it sleep.
#pragma once

#include <cstdint>

#include "record/clock.h"
#include "record/core_delay.h"
#include "record/region.h"

namespace clump::record {

/// The records of this host process. Opened before its first rank calls MPI, or never.
class Book {
 public:
  static bool is_open() { return book_.region_.is_there(); }
  /// The region that mpiexec has made for a job of so many ranks. Fails with MPI_ERR_ARG if it is another
  /// file.
  static base::Status open(int descriptor, int ranks);

  /// A rank's calls are watched from now on, or no longer. One thread of the rank at a time.
  static void watch(int rank);
  static void unwatch(int rank);

  /// The clock of records.
  static std::uint64_t now() { return ticks(book_.by_counter_); }

 private:
  friend class Recorder;
  static std::uint64_t ticks_of(std::uint64_t nanoseconds);
  static Book book_;
  Region region_;
  bool by_counter_ = false;
  // When it was opened, by both clocks.
  std::uint64_t opened_ticks_ = 0, opened_nanoseconds_ = 0;
};

/// A message, as far as one side of it knows.
struct Message {
  int peer = kNobody;  ///< its rank in the job
  int tag = 0;
  std::int64_t bytes = 0;
};

class Recorder {
 public:
  /// The calling thread of control's own.
  static Recorder& mine();

  // How long it could go on and had no core. What happens in a wait of a fiber is known to the tick; of a
  // kernel thread, and of a fiber's between its calls, the kernel is asked where that took long.

  /// The rank is watched from now on. `is_fiber`: its kernel thread runs others while it waits.
  void begins_watch(bool is_fiber);
  /// The fiber goes on, and could have since then. In a wait this is told before its end.
  void had_no_core(std::uint64_t since);

  /// Whether it is in a call that is written down. What MPI and functions of the user's call meanwhile is
  /// part of that call.
  bool is_in_call() const { return in_call_; }

  void begin(int rank, unsigned call) {
    in_call_ = true;
    if (record_ == nullptr) [[unlikely]]
      find_record(rank);
    call_ = call;
    waited_ = unknown_ = 0;
    peer_ = kNobody;
    only_waits_ = false;
    no_core_ = 0;
    begun_ = Book::now();
    if (record_ == nullptr) [[unlikely]]
      return;
    if (begun_ - ended_ > kLong) [[unlikely]]
      comes_from_afar();
    record_->call.store(call, std::memory_order_relaxed);
    record_->call_begun.store(begun_, std::memory_order_relaxed);
  }
  /// Whom the call will wait for, if it waits for one.
  void expects(int peer) { peer_ = peer; }
  /// The call has nothing else to do than to wait: then its beginning and the wait's, and both ends, are the
  /// same moments, and the clock is read half as often.
  void only_waits() { only_waits_ = true; }
  /// The last of `size` ranks or fewer to begin the collective with this number is who all wait for.
  void begins_collective(std::uint64_t collective, int rank);

  /// The call has come back. The time of what is told from here on is the program's.
  void end() {
    ended_ = only_waits_ && waited_ != 0 ? wait_ended_ : Book::now();
    in_call_ = false;
    if (record_ == nullptr) [[unlikely]]
      return;
    if (ended_ - begun_ > kLong) [[unlikely]]
      took_long();
    record_->call_begun.store(0, std::memory_order_relaxed);
    CallRecord& total = record_->calls[call_];
    total.calls.add();
    total.ticks.add(ended_ - begun_);
    if (waited_ != 0) total.waited.add(waited_);
    if (no_core_ != 0) [[unlikely]]
      total.no_core.add(no_core_);
  }
  void sent(const Message& message) {
    if (record_ == nullptr) [[unlikely]]
      return;
    count(message.bytes, record_->messages);
    if (PeerRecord* const peer = find_peer(message.peer)) {
      peer->messages.add();
      peer->bytes.add(static_cast<std::uint64_t>(message.bytes));
    }
  }
  void received(std::int64_t bytes) {
    if (record_ != nullptr) record_->calls[call_].bytes.add(static_cast<std::uint64_t>(bytes));
  }
  /// What the rank gives to a collective operation.
  void gave(std::int64_t bytes) {
    if (record_ != nullptr) count(bytes, record_->collectives);
  }
  /// Who it was that was waited for, where nobody knew before.
  void waited_for(int peer) {
    if (unknown_ != 0 && peer >= 0) blame(peer, std::exchange(unknown_, 0));
  }
  void waited_for_last(std::uint64_t collective);
  /// The last word about a call, if events are kept.
  void keep(const Message& out, const Message& in, std::uint32_t context) {
    if (record_ != nullptr && Book::book_.region_.header().event_chunks != 0) [[unlikely]]
      keep_event(out, in, context);
  }

  /// The thread is going to wait; `wait_ended` says for whom it was, if that is known.
  void wait_begins() {
    if (in_call_) wait_begun_ = only_waits_ && waited_ == 0 ? begun_ : Book::now();
  }
  void wait_ended(int peer);

 private:
  /// Ticks, of a third to a whole millisecond: less than a thread that the kernel has put aside is away.
  static constexpr std::uint64_t kLong = std::uint64_t{1} << 20;
  struct Lease;
  void comes_from_afar();
  void took_long();
  std::uint64_t look_for_core(std::uint64_t most);
  void find_record(int rank);
  PeerRecord* find_peer(int peer);
  void blame(int peer, std::uint64_t ticks);
  void keep_event(const Message& out, const Message& in, std::uint32_t context);
  EventChunk* room_for_event();
  void count(std::int64_t bytes, std::array<SizeRecord, kSizes>& sizes) {
    SizeRecord& size = sizes[size_class(static_cast<std::uint64_t>(bytes))];
    size.messages.add();
    size.bytes.add(static_cast<std::uint64_t>(bytes));
    record_->calls[call_].bytes.add(static_cast<std::uint64_t>(bytes));
  }

  ThreadRecord* record_ = nullptr;  ///< null: none yet, or no room for one
  int rank_ = 0;
  bool in_call_ = false;
  bool only_waits_ = false;
  unsigned call_ = 0;
  int peer_ = kNobody;
  std::uint64_t watched_since_ = 0;  ///< of the thread that has begun to use MPI; others have 0
  std::uint64_t begun_ = 0, ended_ = 0;
  std::uint64_t wait_begun_ = 0, wait_ended_ = 0;
  std::uint64_t waited_ = 0;       ///< in this call
  std::uint64_t unknown_ = 0;      ///< of that, for nobody knows whom
  std::uint64_t no_core_ = 0;      ///< in this call
  std::uint64_t could_go_on_ = 0;  ///< in the wait that is about to end; 0: it did not sleep, or is no fiber
  bool is_fiber_ = false;
  bool has_moved_ = false;  ///< since its last call a fiber has let others run
  CoreDelay delay_;
};

}  // namespace clump::record
