// Which parts of a file an owner of record locks has, as the kernel keeps them: a later lock takes the place
// of an earlier one where they overlap.
#pragma once

#include <fcntl.h>

#include <vector>

namespace clump::image::locks {

/// A lock, or a wish for one. Up to `end`, which it does not hold.
struct Range {
  off_t begin = 0;
  off_t end = 0;
  short type = F_UNLCK;

  /// From a lock that counts from the beginning of the file.
  static Range of(const struct flock& lock);
  bool overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
  bool excludes(const Range& other) const {
    return overlaps(other) && (type == F_WRLCK || other.type == F_WRLCK);
  }
};

class Ranges {
 public:
  /// The owner has this lock now; F_UNLCK: none there.
  void set(const Range& range);
  void clear() { all_.clear(); }
  /// Whether another owner cannot have `range`.
  bool exclude(const Range& range) const;

 private:
  std::vector<Range> all_;  // they do not overlap
};

}  // namespace clump::image::locks
