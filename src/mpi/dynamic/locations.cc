// Where other hosts reach the processes of this job: before ranks of it are introduced to a job on another
// host, the leader asks each of their processes, which listens from then on
// (docs/decisions/063-jobs-over-hosts.md).
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "mpi/job_service.h"
#include "mpi/ports.h"
#include "mpi/process.h"
#include "net/link/host_socket.h"
#include "net/link/link_channel.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Rank;
using net::link::Location;

/// A process that has no address of its own to listen at takes that of the one that asks: the job is on one
/// host.
struct Question {
  std::uint32_t number = 0;
  std::array<char, 60> address{};
};

class Locations final : public Listener::Owner {
 public:
  explicit Locations(Rank& rank) : rank_(rank), listener_(rank, JobTag::kLocation, *this) {
    listener_.begin_listening();
  }

 private:
  void asked(int rank, std::span<const std::byte> bytes) override {
    Question question;
    if (bytes.size() != sizeof question) return;
    std::memcpy(&question, bytes.data(), sizeof question);
    question.address.back() = '\0';
    net::LinkChannel& link = *rank_.world.link;
    // What it cannot do shows in the answer, which is no place then.
    if (link.listen().ok()) static_cast<void>(link.listen_to_hosts(question.address.data()));
    const Location::Ints answer = link.where().as_ints();
    tell(rank_, rank, JobTag::kAnswer, question.number, std::as_bytes(std::span(answer)));
  }

  Rank& rank_;
  Listener listener_;
};

Status ask(Rank& self, int process) {
  const int rank = first_rank_of(process);
  Question question{.number = next_question()};
  net::link::numeric_address(self.world.link->where())
      .copy(question.address.data(), question.address.size() - 1);
  tell(self, rank, JobTag::kLocation, 0, std::as_bytes(std::span(&question, 1)));
  Location::Ints answer{};
  core::Operation operation;
  CLUMP_TRY(p2p::receive(job_address(self, rank, JobTag::kAnswer, question.number),
                         {answer.data(), sizeof answer, datatype::predefined(MPI_BYTE)}, operation));
  const Location where = Location::from_ints(answer.data());
  if (!where.is_reachable())
    return base::fail(MPI_ERR_OTHER,
                      "the process of rank {} cannot listen for jobs on other hosts: name an interface that "
                      "all hosts of the job have, with mpiexec --iface",
                      rank);
  self.world.link->note_location(process, where);
  return {};
}

}  // namespace

void answer_locations(Rank& rank) { static auto& locations [[maybe_unused]] = *new Locations(rank); }

Status find_locations(Rank& self, const core::Group& group) {
  const net::LinkChannel& link = *self.world.link;
  for (int rank = 0; rank < group.size(); ++rank) {
    const int number = group.world_rank(rank);
    if (link.is_place(number)) continue;
    const int process = link.name_of(number).process;
    if (!link.knows_location(process)) CLUMP_TRY(ask(self, process));
  }
  return {};
}

}  // namespace clump::mpi
