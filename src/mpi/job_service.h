// Questions that ranks of a job ask each other, and that the process of the rank that is asked answers,
// whatever its program does: as it serves puts (rma/service.h). In Rank::comm_job, in which a rank is its
// number in the job.
//
//   rank that asks                             process of the rank that is asked
//     --- question ------------------------->  Listener: a receive that is always posted
//     <-- answer, by the number of the question
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "core/rank.h"
#include "net/progress_tasks.h"
#include "p2p/p2p.h"

namespace clump::mpi {

/// The tags in the collective context of Rank::comm_job.
enum class JobTag : int {
  kPort = 1,  ///< a question to a rank that has opened a port
  kName,      ///< a question to the rank that keeps the published names
  kLocation,  ///< a question to the first rank of a process: where other hosts reach it
  // To these the number of the question is added.
  kAnswer = 0x01000000,
  kConfirm = 0x02000000,
};
/// Numbers of questions begin again after so many.
inline constexpr std::uint32_t kQuestions = 0x00ffffff;
/// The longest question, in bytes.
inline constexpr std::size_t kMostAsked = 64 + 2 * MPI_MAX_PORT_NAME;

/// Where such messages between `self` and `peer` go.
p2p::Address job_address(core::Rank& self, int peer, JobTag tag, std::uint32_t number = 0);
/// Sends bytes that are the caller's again when this returns. Never waits; any thread.
void tell(core::Rank& self, int peer, JobTag tag, std::uint32_t number, std::span<const std::byte> bytes);
/// A number for a question of `self`.
std::uint32_t next_question();

/// Takes questions for one rank, one after the other, and hands them to `asked`, on whichever thread delivers
/// them. It must live until the process ends.
class Listener final : public p2p::ReceiveOperation, net::ProgressTask {
 public:
  struct Owner {
    /// `rank`: the number in the job of the rank that asks. Never waits.
    virtual void asked(int rank, std::span<const std::byte> question) = 0;

   protected:
    ~Owner() = default;
  };
  Listener(core::Rank& rank, JobTag tag, Owner& owner) : rank_(rank), tag_(tag), owner_(owner) {}
  /// By a thread of the rank, or before the rank runs.
  void begin_listening() { post(); }

 private:
  void post();
  void end_abandoned() override { net::run_here(this); }
  void run() override;

  core::Rank& rank_;
  const JobTag tag_;
  Owner& owner_;
  std::array<std::byte, kMostAsked> question_;
};

}  // namespace clump::mpi
