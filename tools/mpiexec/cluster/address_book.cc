#include "cluster/address_book.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace clump::mpiexec {

std::vector<std::size_t> AddressBook::all_but(std::size_t host) const {
  std::vector<std::size_t> hosts;
  for (std::size_t one = 0; one < done_.size(); ++one)
    if (one != host) hosts.push_back(one);
  return hosts;
}

std::optional<AddressBook::Answer> AddressBook::take(std::size_t host, const ControlReply& reply) {
  if (reply.kind == ControlReply::Kind::kDone) {
    if (done_[host]) return {};
    done_[host] = true;
    if (!std::ranges::all_of(done_, std::identity{})) return {};
    return Answer{{ControlMessage::Kind::kAllDone, 0, {}}, all_but(done_.size())};
  }
  if (reply.number >= entries_.size()) return {};
  Entry& entry = entries_[reply.number];
  const bool is_its_own =
      static_cast<std::size_t>(job_.node_of(job_.first_rank(job_.processes[reply.number]))) == host;
  switch (reply.kind) {
    case ControlReply::Kind::kAddress:
      if (!is_its_own || entry.address) return {};
      entry.address = reply.bytes;
      return Answer{{ControlMessage::Kind::kAddress, reply.number, reply.bytes},
                    std::exchange(entry.wanted_by, {})};
    case ControlReply::Kind::kWanted:
      if (entry.address)
        return Answer{{ControlMessage::Kind::kAddress, reply.number, *entry.address}, {host}};
      entry.wanted_by.push_back(host);
      return {};
    case ControlReply::Kind::kAbsent:
      if (!is_its_own) return {};
      return Answer{{ControlMessage::Kind::kAbsent, reply.number, {}}, all_but(host)};
    default:
      return {};
  }
}

}  // namespace clump::mpiexec
