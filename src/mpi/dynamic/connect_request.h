// A client's question at a port, from MPI_Comm_connect until the answer (mpi/ports.cc has the whole
// exchange).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

#include "core/rank.h"
#include "fiber/completion.h"
#include "mpi/dynamic/port_name.h"
#include "mpi/dynamic/port_table.h"
#include "net/link/held_place.h"
#include "net/progress_tasks.h"
#include "p2p/p2p.h"

namespace clump::mpi {

/// Deletes itself if the client has given up; otherwise the client does so.
class ConnectRequest final : public p2p::ReceiveOperation, net::ProgressTask {
 public:
  /// Asks. `place`: of the server, if it is of another job.
  ConnectRequest(core::Rank& self, const PortName& name, net::HeldPlace place);
  ~ConnectRequest();

  /// The process of rank `server` has ended: each request that waits for its answer gets PortAnswer::kEnded.
  static void answer_for(int server);

  std::uint32_t number() const { return number_; }
  PortAnswer answer() const { return answer_; }
  net::HeldPlace take_place() { return std::move(place_); }
  /// Waits for the answer; false if it has not come by then: the object is not the caller's any more.
  bool wait_until(std::chrono::steady_clock::time_point limit);
  void wait() { over_.wait(); }
  void confirm(bool is_there);

 private:
  enum State : std::uint8_t { kAsked, kAnswered, kGivenUp };
  struct All;
  static All& all();

  // Not at once: the thread that delivers the answer may hold locks.
  void end_abandoned() override { net::run_here(this); }
  void run() override;

  core::Rank& self_;
  const int server_;
  const std::uint32_t number_;
  net::HeldPlace place_;  // the server has a number as long as its answer is missing
  PortAnswer answer_ = PortAnswer::kNotOpen;
  std::atomic<State> state_{kAsked};
  fiber::Completion over_;
};

}  // namespace clump::mpi
