#include "cluster/failures.h"

#include <algorithm>
#include <utility>

namespace clump::mpiexec {

void Failures::note(std::size_t host, int code, bool follows) {
  if (std::ranges::find(entries_, host, &Entry::host) == entries_.end())
    entries_.push_back({.host = host, .code = code, .follows = follows});
}

void Failures::explain(std::size_t host, std::string why) {
  const auto entry = std::ranges::find(entries_, host, &Entry::host);
  if (entry != entries_.end()) entry->why = std::move(why);
}

std::vector<std::string> Failures::end(std::size_t host, bool all) {
  std::vector<std::string> said;
  bool is_waiting = false;  // for one that was noted before
  for (const bool follows : {false, true}) {
    for (Entry& entry : entries_) {
      if (entry.host == host) entry.has_ended = true;
      is_waiting = is_waiting || (entry.follows == follows && !entry.has_ended);
      if (entry.follows != follows || is_waiting || entry.why.empty() || (follows && !all)) continue;
      const std::string why = std::exchange(entry.why, {});
      if (said_.insert(why).second) said.push_back(why);
    }
  }
  return said;
}

int Failures::code() const {
  const auto first = std::ranges::find(entries_, false, &Entry::follows);
  if (first != entries_.end()) return first->code;
  return entries_.empty() ? 0 : entries_.front().code;
}

}  // namespace clump::mpiexec
