// Coverage: which bytes of a file domain some blocks make up together.
//
// A collective write that collects data in a buffer writes exactly these bytes and no gap in between, as
// other ranks or other programs may write there.
#pragma once

#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "datatype/cursor.h"

namespace clump::io {

/// All blocks are told of twice: first to measure(), then to add(). Belongs to one thread.
class Coverage {
 public:
  /// For bytes [begin, end) of the file.
  Coverage(Count begin, Count end) : begin_(begin), end_(end), grain_(0) {}

  /// The blocks of `run`, whose addresses are places in the file within the domain.
  void measure(const datatype::Run& run);
  void add(const datatype::Run& run);

  /// Calls visit(offset, bytes) for each covered stretch, in rising order. It goes on while `visit` returns
  /// true.
  template <typename Visit>
  void for_each(Visit visit) const;

 private:
  void begin_to_add();
  void mark(Count offset, Count bytes);
  /// The first grain from `grain` on that is marked, or not marked.
  Count next(Count grain, bool marked) const;

  const Count begin_, end_;
  Count grain_;  // all blocks begin and end at multiples of it, seen from begin_
  Count grains_ = 0;
  std::vector<std::uint64_t> marks_;
};

template <typename Visit>
void Coverage::for_each(Visit visit) const {
  if (grains_ == 0) return;
  for (Count first = next(0, true); first < grains_;) {
    const Count last = next(first, false);
    if (!visit(begin_ + first * grain_, (last - first) * grain_)) return;
    first = next(last, true);
  }
}

}  // namespace clump::io
