#include "job/spawn_requests.h"

namespace clump::mpiexec {

void SpawnRequests::add_to(tools::PollSet& all) const {
  for (const Connection& one : all_)
    if (one.is_open()) one.add_to(all);
}

bool SpawnRequests::next(ControlReply& reply) {
  for (std::size_t number = 0; number < all_.size(); ++number) {
    all_[number].transfer();
    reply = {.kind = ControlReply::Kind::kSpawn, .number = static_cast<std::uint32_t>(number)};
    if (all_[number].receive(reply.bytes)) return true;
  }
  return false;
}

void SpawnRequests::answer(const ControlMessage& message) {
  if (message.number < all_.size()) all_[message.number].send(message.bytes);
}

}  // namespace clump::mpiexec
