#include "cluster/failures.h"

#include <algorithm>
#include <utility>

namespace clump::mpiexec {

void Failures::note(std::size_t host, int code, Cause cause) {
  if (std::ranges::find(entries_, host, &Entry::host) == entries_.end())
    entries_.push_back({.host = host, .code = code, .cause = cause});
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
      const bool is_one = (entry.cause != Cause::kOwn) == follows;
      is_waiting = is_waiting || (is_one && !entry.has_ended);
      if (!is_one || is_waiting || entry.why.empty() || (follows && !all)) continue;
      const std::string why = std::exchange(entry.why, {});
      if (said_.insert(why).second) said.push_back(why);
    }
  }
  return said;
}

int Failures::code_of(Cause last) const {
  const auto own = std::ranges::find(entries_, Cause::kOwn, &Entry::cause);
  const auto first = own != entries_.end() ? own : std::ranges::find_if(entries_, [last](const Entry& one) {
    return one.cause <= last;
  });
  return first != entries_.end() ? first->code : 0;
}

}  // namespace clump::mpiexec
