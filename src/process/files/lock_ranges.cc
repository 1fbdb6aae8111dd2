#include "process/files/lock_ranges.h"

#include <algorithm>
#include <limits>

namespace clump::image::locks {

Range Range::of(const struct flock& lock) {
  constexpr off_t kEndOfAll = std::numeric_limits<off_t>::max();
  if (lock.l_len == 0) return {lock.l_start, kEndOfAll, lock.l_type};
  if (lock.l_len < 0) return {lock.l_start + lock.l_len, lock.l_start, lock.l_type};
  const bool is_to_end = lock.l_start > kEndOfAll - lock.l_len;
  return {lock.l_start, is_to_end ? kEndOfAll : lock.l_start + lock.l_len, lock.l_type};
}

void Ranges::set(const Range& range) {
  MappedVector<Range, Tables> left;
  for (const Range& one : all_) {
    if (!one.overlaps(range)) {
      left.push_back(one);
      continue;
    }
    if (one.begin < range.begin) left.push_back({one.begin, range.begin, one.type});
    if (range.end < one.end) left.push_back({range.end, one.end, one.type});
  }
  if (range.type != F_UNLCK) left.push_back(range);
  all_ = std::move(left);
}

bool Ranges::exclude(const Range& range) const {
  return std::ranges::any_of(all_, [&](const Range& one) { return one.excludes(range); });
}

}  // namespace clump::image::locks
