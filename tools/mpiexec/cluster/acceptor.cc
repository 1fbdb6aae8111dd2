#include "cluster/acceptor.h"

#include <utility>

namespace clump::mpiexec {

namespace {

constexpr std::size_t kMostUnknown = 1024;

}  // namespace

void Acceptor::add_descriptors(std::vector<pollfd>& all) const {
  all.push_back({listener_.descriptor(), POLLIN, 0});
  for (const Connection& stranger : unknown_)
    if (stranger.is_open()) all.push_back(stranger.events());
}

void Acceptor::greet(const std::function<void(std::size_t, Connection)>& admit) {
  for (int socket; unknown_.size() < kMostUnknown && (socket = listener_.accept()) >= 0;)
    unknown_.emplace_back(socket);
  std::erase_if(unknown_, [&](Connection& stranger) {
    Hello hello{};
    stranger.transfer();
    if (!stranger.receive_head(&hello, sizeof hello)) return !stranger.is_open();
    const auto host = static_cast<std::size_t>(hello.host);
    if (listener_.knows(hello) && hello.host >= 0 && host < hosts_) admit(host, std::move(stranger));
    return true;
  });
}

}  // namespace clump::mpiexec
