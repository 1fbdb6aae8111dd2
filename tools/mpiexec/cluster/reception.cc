#include "cluster/reception.h"

#include <utility>

namespace clump::mpiexec {

namespace {

constexpr std::size_t kMostStrangers = 1024;

}  // namespace

void Reception::add_descriptors(std::vector<pollfd>& all) const {
  all.push_back({meeting_.descriptor(), POLLIN, 0});
  for (const Connection& stranger : strangers_)
    if (stranger.is_open()) all.push_back(stranger.events());
}

void Reception::greet(const std::function<void(std::size_t, Connection)>& admit) {
  for (int socket; strangers_.size() < kMostStrangers && (socket = meeting_.accept()) >= 0;)
    strangers_.emplace_back(socket);
  std::erase_if(strangers_, [&](Connection& stranger) {
    Hello hello{};
    stranger.transfer();
    if (!stranger.receive_head(&hello, sizeof hello)) return !stranger.is_open();
    const auto host = static_cast<std::size_t>(hello.host);
    if (meeting_.knows(hello) && hello.host >= 0 && host < hosts_) admit(host, std::move(stranger));
    return true;
  });
}

}  // namespace clump::mpiexec
