// The shared file pointer (MPI-5.0 section 14.4.4): one number for all ranks of a file, in etypes.
//
//   ranks of one process      a word of the process
//   several processes         a word in memory that the processes of rank 0's node share
//   several hosts             other hosts ask rank 0 by messages, which the thread that delivers them
//   answers:
//                             the network's. What rank 0's program does is not needed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/comm.h"
#include "fiber/completion.h"
#include "net/progress_tasks.h"
#include "p2p/p2p.h"

namespace clump::io {

/// The word, where a process has it.
using SharedWord = std::atomic<Count>;

/// Answers for rank 0, while one lives. By threads of rank 0.
class PointerService final : public p2p::ReceiveOperation, net::ProgressTask {
 public:
  PointerService(core::Comm& comm, SharedWord& word);
  /// Returns when no more questions will be received. After all ranks have asked what they will.
  ~PointerService() override;

 private:
  void post();
  void end_abandoned() override { net::run_here(this); }
  void run() override;

  core::Comm& comm_;
  SharedWord& word_;
  struct Question {
    std::int32_t number;
    std::int32_t stops;
    Count add;
  };
  Question question_{};
  fiber::Completion stopped_;
  friend class SharedPointer;
};

/// The pointer as one rank has it. Any thread of the rank.
class SharedPointer {
 public:
  /// `word`: null if the rank has to ask rank 0 of `comm`.
  void place(core::Comm& comm, SharedWord* word) { comm_ = &comm, word_ = word; }
  /// Adds to it; returns what it was. Blocks where rank 0 is asked.
  Count add(Count etypes);
  Count value() { return word_ != nullptr ? word_->load(std::memory_order_acquire) : add(0); }
  /// By rank 0 alone.
  void set(Count etypes) { word_->store(etypes, std::memory_order_release); }

 private:
  core::Comm* comm_ = nullptr;
  SharedWord* word_ = nullptr;
  std::atomic<std::uint32_t> questions_{0};
};

}  // namespace clump::io
