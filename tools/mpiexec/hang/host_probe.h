// The host probe: a host's part in finding out which ranks wait for which. It asks the host's processes what
// mpiexec's control messages ask, and puts their answers together into one reply (control_messages.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hang/control_messages.h"
#include "pmi/job.h"
#include "pmi/node_memory.h"
#include "pmi/waits.h"

namespace clump::mpiexec {

/// Owned by mpiexec's only thread; nothing blocks.
class HostProbe {
 public:
  /// `state_of`: what is to be told of a process that does not answer.
  void begin(const pmi::Job& job, const pmi::NodeMemory& memory,
             std::function<pmi::Standing::State(int process)> state_of);

  /// Those of its kinds; others are not for it.
  void handle(const ControlMessage& message);
  void take(const pmi::AccountNote& note);
  void take(const pmi::RestNote& note);
  /// A process will not call MPI any more: it says so, or has ended.
  void note_done() { tell_if_all_rest(); }
  void note_end(int process);
  /// The answer to a question is wanted now, as far as it is known.
  void hurry() {
    if (question_) finish_question();
  }
  /// The processes shall end: they are stuck.
  void end_all() const;

  /// What is to be told now; false if there is nothing.
  bool next(ControlReply& reply);
  /// When next() has to be called, if nothing comes before.
  std::optional<std::chrono::steady_clock::time_point> alarm() const;

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<int> running() const;
  bool all_rest() const;
  void tell_if_all_rest();
  void check(std::uint32_t number);
  void finish_check();
  void ask(std::uint32_t question);
  bool has_answered(int process) const;
  void finish_question();
  void tell_all_of(int process, pmi::Standing::State state, pmi::Account& account) const;
  void look_at_progress(std::uint32_t look);

  const pmi::Job* job_ = nullptr;
  const pmi::NodeMemory* memory_ = nullptr;
  std::function<pmi::Standing::State(int process)> state_of_;
  std::vector<bool> ended_;  // by process of this node
  std::deque<ControlReply> replies_;

  std::optional<std::uint32_t> check_;  // that is not answered
  std::map<int, pmi::RestNote> rests_;  // by process

  std::optional<std::uint32_t> question_;  // the same
  Clock::time_point patience_;
  struct Answer {
    std::string bytes;  // encoded
    bool is_complete = false;
  };
  std::map<int, Answer> answers_;  // by process
};

}  // namespace clump::mpiexec
