#include "mpi/job_service.h"

#include <atomic>

#include "rma/service.h"

namespace clump::mpi {

namespace {

datatype::Layout bytes_at(std::byte* base, std::size_t bytes) {
  return {base, static_cast<Count>(bytes), datatype::predefined(MPI_BYTE)};
}

}  // namespace

p2p::Address job_address(core::Rank& self, int peer, JobTag tag, std::uint32_t number) {
  return {*self.comm_job, peer, static_cast<int>(tag) + static_cast<int>(number), true};
}

void tell(core::Rank& self, int peer, JobTag tag, std::uint32_t number, std::span<const std::byte> bytes) {
  rma::OutgoingMessage::send(job_address(self, peer, tag, number), bytes);
}

std::uint32_t next_question() {
  static std::atomic<std::uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) & kQuestions;
}

void Listener::post() {
  result = {};
  completion.reset();
  static_cast<void>(completion.abandon());  // no thread waits: it ends in end_abandoned()
  begin(job_address(rank_, MPI_ANY_SOURCE, tag_), bytes_at(question_.data(), question_.size()));
}

void Listener::run() {
  owner_.asked(result.source, std::span(question_).first(static_cast<std::size_t>(result.bytes)));
  post();
}

}  // namespace clump::mpi
