// Non-blocking collective access by ranks of several processes (MPI-5.0 section 14.4.2), as the leader of a
// process carries it out in the background.
//
//   leader's call --> add() --> a thread of the leader's rank: meet_as_leader(), exchange(), Round::end()
//
// It waits for the other ranks of the process and for other processes, for as long as they compute. So it is
// none of the threads of background.h, which other accesses need meanwhile. It begins with the first access
// of a file and ends with the last one, so that a file costs no thread while nothing is under way.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "core/comm.h"
#include "fiber/completion.h"
#include "fiber/identity.h"
#include "io/round.h"

namespace clump::io {

/// Of a leader; one for each open file. Its thread owns it as well: a program may end its last session with a
/// file open and a round under way, and then the last request goes, with the file, in this very thread.
class ExchangeQueue : public std::enable_shared_from_this<ExchangeQueue> {
 public:
  /// `leaders` is used by nothing else, so that blocking calls may come in between.
  ExchangeQueue(base::Ref<OpenedFile> file, base::Ref<core::Comm> leaders);

  struct Entry {
    std::uint64_t round;  ///< its number
    Part* part;           ///< the leader's
    Manner how;
    int aggregators;
  };
  /// Has a round carried out after those that were added before, which ends its parts. By threads of the
  /// leader's rank. Does not block; only if there cannot be another thread, the round is over on return.
  void add(const Entry& entry);
  /// Returns when all rounds are over. Its thread has ended, or does nothing more than that.
  void finish();

 private:
  static void* begin(void* owner);
  void run();
  void carry_out(const Entry& entry);

  const base::Ref<OpenedFile> file_;
  const base::Ref<core::Comm> leaders_;
  /// The rank's, without callbacks: functions of the program are for threads of the program.
  fiber::Identity identity_;

  std::mutex mutex_;  // for what follows
  std::deque<Entry> entries_;
  bool has_thread_ = false;
  fiber::Completion* finished_ = nullptr;  // of a thread in finish()
};

}  // namespace clump::io
