#include "mpi/dynamic/connect_request.h"

#include <algorithm>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "fiber/fiber.h"
#include "mpi/job_service.h"
#include "net/link/link_channel.h"

namespace clump::mpi {

using core::Rank;

/// Those of this process. Never destroyed: ranks may still run when the process ends.
struct ConnectRequest::All {
  std::mutex mutex;  // no thread waits while it holds this
  std::vector<ConnectRequest*> requests;
};

ConnectRequest::All& ConnectRequest::all() {
  static All& made = *new All;
  return made;
}

ConnectRequest::ConnectRequest(Rank& self, const PortName& name, net::HeldPlace place)
    : self_(self), server_(name.rank), number_(next_question()), place_(std::move(place)) {
  static_cast<void>(completion.abandon());  // no thread waits for it as a request: see end_abandoned()
  {
    const std::lock_guard lock(all().mutex);
    all().requests.push_back(this);
  }
  begin(job_address(self, server_, JobTag::kAnswer, number_),
        {&answer_, sizeof answer_, datatype::predefined(MPI_BYTE)});
  const PortQuestion question{name.port, number_, name.token};
  mpi::tell(self, server_, JobTag::kPort, 0, std::as_bytes(std::span(&question, 1)));
  // It may have ended before this was among those that are told so.
  if (place_ && self.world.link->has_ended(server_)) answer_for(server_);
}

ConnectRequest::~ConnectRequest() {
  const std::lock_guard lock(all().mutex);
  std::erase(all().requests, this);
}

void ConnectRequest::answer_for(int server) {
  std::vector<std::pair<Rank*, std::uint32_t>> asking;
  {
    const std::lock_guard lock(all().mutex);
    for (const ConnectRequest* const one : all().requests)
      if (one->server_ == server) asking.emplace_back(&one->self_, one->number_);
  }
  const PortAnswer answer = PortAnswer::kEnded;
  for (const auto& [rank, number] : asking) {
    const p2p::MatchKey key = job_address(*rank, server, JobTag::kAnswer, number).key();
    rank->inbox->take({key.context, server, key.tag}, sizeof answer,
                      {const_cast<PortAnswer*>(&answer), sizeof answer, datatype::predefined(MPI_BYTE)},
                      net::Sink::Bound::kIgnore);
  }
}

bool ConnectRequest::wait_until(std::chrono::steady_clock::time_point limit) {
  constexpr std::chrono::milliseconds kLook{1};
  while (!over_.done()) {
    const auto now = fiber::now();
    if (now >= limit) {
      if (state_.exchange(kGivenUp, std::memory_order_acq_rel) == kAsked) return false;
      over_.wait();  // the answer has just come
      return true;
    }
    fiber::sleep_until(std::min(limit, now + kLook));
    p2p::poll(self_);
  }
  return true;
}

void ConnectRequest::confirm(bool is_there) {
  mpi::tell(self_, server_, JobTag::kConfirm, number_, std::as_bytes(std::span(&is_there, 1)));
}

void ConnectRequest::run() {
  // acq_rel: pairs with wait_until(): one of the two sees what the other has done.
  if (state_.exchange(kAnswered, std::memory_order_acq_rel) == kAsked) {
    over_.signal();
    return;
  }
  if (answer_ == PortAnswer::kAccepted) confirm(false);
  delete this;
}

}  // namespace clump::mpi
