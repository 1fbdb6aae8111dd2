#include "datatype/plan.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "datatype/move.h"

namespace clump::datatype {
namespace {

constexpr std::size_t kMostInPass = 4;
// Of several passes each does so many records before the next one begins, which then finds them in the cache.
constexpr Count kBatch = 64;

// What a block is moved in: the largest power of two in it up to 16, or all of a long one at once.
Count move_size(Count bytes) {
  if (bytes > kLongestDivided) return bytes;
  return static_cast<Count>(std::bit_floor(static_cast<std::uint64_t>(std::min<Count>(bytes, 16))));
}

void move_long(const Plan::Move* moves, const Grid& to, const Grid& from, Extent extent) {
  for (Count i = 0; i < extent.rows; ++i) {
    const std::intptr_t target = to.row(i) + moves->to, source = from.row(i) + moves->from;
    for (Count k = 0; k < extent.records; ++k)
      move(target + k * to.stride, source + k * from.stride, moves->bytes);
  }
}

// Moves of constant sizes at fixed places of a record.
template <Count... kSizes>
struct Moves {
  explicit Moves(const Plan::Move* moves) { std::copy_n(moves, fixed.size(), fixed.begin()); }

  void operator()(std::intptr_t to, std::intptr_t from) const {
    [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
      (move(to + fixed[kIndex].to, from + fixed[kIndex].from, kSizes), ...);
    }
    (std::make_index_sequence<sizeof...(kSizes)>{});
  }

  std::array<Plan::Move, sizeof...(kSizes)> fixed;
};

template <Count... kSizes>
void move_records(const Plan::Move* moves, const Grid& to, const Grid& from, Extent extent) {
  const Moves<kSizes...> move_record(moves);
  const Count to_stride = to.stride, from_stride = from.stride;
  for (Count i = 0; i < extent.rows; ++i) {
    std::intptr_t target = to.row(i), source = from.row(i);
    Count records = extent.records;
    if constexpr (sizeof...(kSizes) == 1) {  // too short for an iteration each
      for (; records >= 4; records -= 4, target += 4 * to_stride, source += 4 * from_stride) {
        move_record(target, source);
        move_record(target + to_stride, source + from_stride);
        move_record(target + 2 * to_stride, source + 2 * from_stride);
        move_record(target + 3 * to_stride, source + 3 * from_stride);
      }
    }
    for (; records > 0; --records, target += to_stride, source += from_stride) move_record(target, source);
  }
}

// The pass for `count` moves, whose sizes do not grow.
template <Count... kSizes>
Plan::Pass choose(const Plan::Move* moves, std::size_t count) {
  if constexpr (sizeof...(kSizes) < kMostInPass) {
    constexpr Count kLimit = std::min({Count{16}, kSizes...});
    const Count size = count > sizeof...(kSizes) ? moves[sizeof...(kSizes)].bytes : 0;
    if constexpr (kLimit >= 16)
      if (size == 16) return choose<kSizes..., 16>(moves, count);
    if constexpr (kLimit >= 8)
      if (size == 8) return choose<kSizes..., 8>(moves, count);
    if constexpr (kLimit >= 4)
      if (size == 4) return choose<kSizes..., 4>(moves, count);
    if constexpr (kLimit >= 2)
      if (size == 2) return choose<kSizes..., 2>(moves, count);
    if (size == 1) return choose<kSizes..., 1>(moves, count);
  }
  return move_records<kSizes...>;
}

}  // namespace

Plan::Plan(const Shape& shape, const Count* to, const Count* from) {
  // Larger sizes first, so that there are few different passes.
  Count size = 0;
  for (Count i = 0; i < shape.blocks; ++i)
    size = std::max(size, move_size(shape.begins[i + 1] - shape.begins[i]));
  while (size > 0) {
    Count next = 0;
    const std::size_t first = move_count_;
    for (Count i = 0; i < shape.blocks; ++i) {
      const Count bytes = shape.begins[i + 1] - shape.begins[i], own = move_size(bytes);
      if (own == size) add_block(to[i], from[i], bytes, size);
      if (own < size) next = std::max(next, own);
    }
    if (size > kLongestDivided)
      for (std::size_t i = first; i < move_count_; ++i) steps_[step_count_++] = {move_long, &moves_[i]};
    size = next;
  }
  for (std::size_t done = step_count_; done < move_count_; done += kMostInPass)
    steps_[step_count_++] = {choose<>(&moves_[done], std::min(kMostInPass, move_count_ - done)),
                             &moves_[done]};
}

void Plan::add_block(Count to, Count from, Count bytes, Count size) {
  for (Count at = 0; at < bytes; at += size) {
    const Count begin = std::min(at, bytes - size);
    moves_[move_count_++] = {to + begin, from + begin, size};
  }
}

void Plan::run_steps(const Grid& to, const Grid& from, Extent extent) const {
  for (std::size_t i = 0; i < step_count_; ++i) steps_[i].pass(steps_[i].moves, to, from, extent);
}

void Plan::run(const Grid& to, const Grid& from, Extent extent) const {
  if (step_count_ == 1) return run_steps(to, from, extent);
  const Count rows = std::max<Count>(1, kBatch / extent.records);
  for (Count row = 0; row < extent.rows; row += rows) {
    const Count some_rows = std::min(rows, extent.rows - row);
    for (Count record = 0; record < extent.records; record += kBatch) {
      const Extent some{some_rows, std::min(kBatch, extent.records - record)};
      run_steps({to.row(row) + record * to.stride, to.row_stride, to.stride},
                {from.row(row) + record * from.stride, from.row_stride, from.stride}, some);
    }
  }
}

}  // namespace clump::datatype
