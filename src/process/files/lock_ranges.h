// The parts of a file in which an owner has record locks, as the kernel keeps them: a later lock replaces an
// earlier one where the two overlap.
#pragma once

#include <fcntl.h>

#include "process/mapped_heap.h"

namespace clump::image::locks {

/// The tables of record locks; record_locks.cc has their lock.
struct Tables;

/// A lock, or a wish for one. `end` is the first byte behind it.
struct Range {
  off_t begin = 0;
  off_t end = 0;
  short type = F_UNLCK;

  /// The range of a lock that counts from the beginning of the file.
  static Range of(const struct flock& lock);
  bool overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
  bool excludes(const Range& other) const {
    return overlaps(other) && (type == F_WRLCK || other.type == F_WRLCK);
  }
};

class Ranges {
 public:
  /// The owner now has this lock; F_UNLCK: it has none in the range.
  void set(const Range& range);
  void clear() { all_.clear(); }
  /// Whether these locks keep another owner from having `range`.
  bool exclude(const Range& range) const;

 private:
  MappedVector<Range, Tables> all_;  // they do not overlap
};

}  // namespace clump::image::locks
