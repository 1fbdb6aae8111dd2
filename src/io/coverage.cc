#include "io/coverage.h"

#include <algorithm>

namespace clump::io {

namespace {
constexpr Count kWord = 64;
}

void Coverage::measure(const datatype::Run& run) {
  grain_ = std::gcd(grain_, run.block);
  if (run.offsets == nullptr) {
    grain_ = std::gcd(grain_, static_cast<Count>(run.base) - begin_);
    if (run.count > 1) grain_ = std::gcd(grain_, run.stride);
    return;
  }
  for (Count i = 0; i < run.count; ++i)
    grain_ = std::gcd(grain_, static_cast<Count>(run.address(i)) - begin_);
}

void Coverage::begin_to_add() {
  grains_ = (end_ - begin_ + grain_ - 1) / grain_;
  marks_.assign(static_cast<std::size_t>((grains_ + kWord - 1) / kWord), 0);
}

void Coverage::add(const datatype::Run& run) {
  if (marks_.empty()) begin_to_add();
  for (Count i = 0; i < run.count; ++i) mark(static_cast<Count>(run.address(i)), run.block);
}

void Coverage::mark(Count offset, Count bytes) {
  Count first = (offset - begin_) / grain_;
  const Count last = first + bytes / grain_;
  while (first < last) {
    const Count inside = first % kWord, count = std::min(kWord - inside, last - first);
    const std::uint64_t ones = count == kWord ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    marks_[static_cast<std::size_t>(first / kWord)] |= ones << inside;
    first += count;
  }
}

Count Coverage::next(Count grain, bool marked) const {
  while (grain < grains_) {
    std::uint64_t word = marks_[static_cast<std::size_t>(grain / kWord)];
    if (!marked) word = ~word;
    word >>= grain % kWord;
    if (word != 0) return std::min(grains_, grain + std::countr_zero(word));
    grain += kWord - grain % kWord;
  }
  return grains_;
}

}  // namespace clump::io
