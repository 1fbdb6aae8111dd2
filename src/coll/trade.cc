#include "coll/trade.h"

#include <algorithm>

#include "coll/pieces.h"
#include "core/op.h"
#include "fiber/fiber.h"

namespace clump::coll {

namespace {

// Bytes in a nanosecond: out of the own caches it is 40 and more, out of the other core's 10.
constexpr Count kNear = 20;
constexpr Count kLine = 64;
// What is combined at a time where it cannot be done in place.
constexpr Count kChunkBytes = 4096;

Layout block(const Layout& all, int index) {
  const Count count = all.count / 2;
  return part(all, index * count, count);
}

/// What a room contains.
Layout in_room(SwapRoom& room, const Layout& data, const Reduction* reduction) {
  return reduction != nullptr ? Layout{room.bytes, data.count, data.type}
                              : Layout{room.bytes, data.bytes(), datatype::predefined(MPI_BYTE)};
}

/// All that both have room for; nothing if they are the same place. (Bases alone say little: MPI_BOTTOM is
/// one.)
void copy(const Layout& to, const Layout& from) {
  if (to.base == from.base && to.type == from.type) return;
  if (const Count bytes = std::min(to.bytes(), from.bytes()); bytes > 0) datatype::copy(to, from, 0, bytes);
}

/// In the order of ranks, to where the caller takes it. A kernel may only write to its right operand.
void combine_two(int rank, const Trade& trade, const Layout& theirs, const Reduction& reduction) {
  const Layout &left = rank == 0 ? trade.own : theirs, &right = rank == 0 ? theirs : trade.own;
  const Layout& to = trade.take;
  const datatype::Kernel kernel = reduction.op->kernel(*to.type);
  if (to.type->is_dense() && to.base != left.base) return kernel(left.base, right.base, to.base, to.count);
  alignas(64) std::byte room[kChunkBytes];
  const Count step = std::max<Count>(kChunkBytes / std::max<Count>(to.type->extent(), 1), 1);
  for (Count first = 0; first < to.count; first += step) {
    const Count count = std::min(step, to.count - first);
    kernel(part(left, first, count).base, part(right, first, count).base, room, count);
    copy(part(to, first, count), {room, count, to.type});
  }
}

}  // namespace

Trade Trade::of(int rank, const Meeting::Call& call) {
  const int peer = 1 - rank;
  const bool is_root = rank == call.root;
  const Layout &from = call.from, &to = call.to;
  switch (call.collective) {
    case Collective::kBroadcast:
      return is_root ? Trade{.give = from} : Trade{.take = to};
    case Collective::kGather:
      if (!is_root) return {.give = from};
      return {.take = block(to, peer), .own = from, .own_to = block(to, rank)};
    case Collective::kScatter:
      if (!is_root) return {.take = to};
      return {.give = block(from, peer), .own = block(from, rank), .own_to = to};
    case Collective::kAllgather:
      return {.give = from, .take = block(to, peer), .own = from, .own_to = block(to, rank)};
    case Collective::kAlltoall:
      return {.give = block(from, peer),
              .take = block(to, peer),
              .own = block(from, rank),
              .own_to = block(to, rank)};
    case Collective::kReduce:
      if (!is_root) return {.give = from};
      return {.take = to, .own = from, .combines = true};
    case Collective::kAllreduce:
      return {.give = from, .take = to, .own = from, .combines = true};
    case Collective::kReduceScatter:
      return {.give = part(from, rank == 0 ? to.count : 0, from.count - to.count),
              .take = to,
              .own = part(from, call.first, to.count),
              .combines = true};
    case Collective::kScan:
      if (rank == 1) return {.take = to, .own = from, .combines = !call.exclusive};
      if (call.exclusive) return {.give = from};
      return {.give = from, .own = from, .own_to = to};
    default:
      return {};
  }
}

Trade Trade::of(int rank, Collective collective, int root, const Blocks& out, const Blocks& in) {
  const int peer = 1 - rank;
  const bool is_root = rank == root;
  switch (collective) {
    case Collective::kGatherv:
      if (!is_root) return {.give = out[root]};
      return {.take = in[peer], .own = out[rank], .own_to = in[rank]};
    case Collective::kScatterv:
      if (!is_root) return {.take = in[root]};
      return {.give = out[peer], .own = out[rank], .own_to = in[rank]};
    case Collective::kAllgatherv:
    case Collective::kAlltoallv:
      return {.give = out[peer], .take = in[peer], .own = out[rank], .own_to = in[rank]};
    default:
      return {};
  }
}

bool Trade::fits(const Reduction* reduction) const {
  return (reduction != nullptr ? give.count * give.type->extent() : give.bytes()) <= kSwapRoom;
}

void Trade::fill(SwapRoom& room, const Reduction* reduction) const {
  copy(in_room(room, give, reduction), give);
}

void Trade::keep() const {
  if (own_to.type != nullptr) copy(own_to, own);
}

void Trade::take_from(SwapRoom& room, int rank, const Reduction* reduction) const {
  const Layout theirs = in_room(room, take, reduction);
  combines ? combine_two(rank, *this, theirs, *reduction) : copy(take, theirs);
}

bool is_far(const Layout& data) {
  if (!data.type->is_dense()) return true;
  const auto* const first = static_cast<const volatile std::byte*>(data.base);
  const auto begin = fiber::now();
  for (Count at = 0; at < kTried; at += kLine) static_cast<void>(first[at]);
  return kTried < kNear * (fiber::now() - begin).count();
}

}  // namespace clump::coll
