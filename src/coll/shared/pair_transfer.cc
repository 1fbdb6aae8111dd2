#include "coll/shared/pair_transfer.h"

#include <algorithm>

#include "coll/algorithms/pieces.h"
#include "core/op.h"
#include "fiber/fiber.h"

namespace clump::coll {

namespace {

// Bytes in a nanosecond: out of the own caches it is 40 and more, out of the other core's 10.
constexpr Count kNear = 20;
constexpr Count kLineBytes = 64;
// What is combined at a time where it cannot be done in place.
constexpr Count kPairChunkBytes = 4096;

Layout block(const Layout& all, int index) {
  const Count count = all.count / 2;
  return part(all, index * count, count);
}

/// What a buffer contains.
Layout in_buffer(PairBuffer& buffer, const Layout& data, const Reduction* reduction) {
  return reduction != nullptr ? Layout{buffer.bytes, data.count, data.type}
                              : Layout{buffer.bytes, data.bytes(), datatype::predefined(MPI_BYTE)};
}

/// All that both have room for; nothing if they are the same place. (Bases alone say little: MPI_BOTTOM is
/// one.)
void copy(const Layout& to, const Layout& from) {
  if (to.base == from.base && to.type == from.type) return;
  if (const Count bytes = std::min(to.bytes(), from.bytes()); bytes > 0) datatype::copy(to, from, 0, bytes);
}

/// In the order of ranks, to where the caller takes it. A kernel may only write to its right operand.
void combine_two(int rank, const PairTransfer& transfer, const Layout& theirs, const Reduction& reduction) {
  const Layout &left = rank == 0 ? transfer.local : theirs, &right = rank == 0 ? theirs : transfer.local;
  const Layout& to = transfer.recv;
  const datatype::Kernel kernel = reduction.op->kernel(*to.type);
  if (to.type->is_dense() && to.base != left.base) return kernel(left.base, right.base, to.base, to.count);
  alignas(64) std::byte room[kPairChunkBytes];
  const Count step = std::max<Count>(kPairChunkBytes / std::max<Count>(to.type->extent(), 1), 1);
  for (Count first = 0; first < to.count; first += step) {
    const Count count = std::min(step, to.count - first);
    kernel(part(left, first, count).base, part(right, first, count).base, room, count);
    copy(part(to, first, count), {room, count, to.type});
  }
}

}  // namespace

PairTransfer PairTransfer::of(int rank, const Call& call) {
  if (call.has_blocks())
    return of_blocks(rank, call.collective, call.root, call.blocks_out(), call.blocks_in());
  const int peer = 1 - rank;
  const bool is_root = rank == call.root;
  const Layout &from = call.send, &to = call.recv;
  switch (call.collective) {
    case Collective::kBroadcast:
      return is_root ? PairTransfer{.send = from} : PairTransfer{.recv = to};
    case Collective::kGather:
      if (!is_root) return {.send = from};
      return {.recv = block(to, peer), .local = from, .local_to = block(to, rank)};
    case Collective::kScatter:
      if (!is_root) return {.recv = to};
      return {.send = block(from, peer), .local = block(from, rank), .local_to = to};
    case Collective::kAllgather:
      return {.send = from, .recv = block(to, peer), .local = from, .local_to = block(to, rank)};
    case Collective::kAlltoall:
      return {.send = block(from, peer),
              .recv = block(to, peer),
              .local = block(from, rank),
              .local_to = block(to, rank)};
    case Collective::kReduce:
      if (!is_root) return {.send = from};
      return {.recv = to, .local = from, .combines = true};
    case Collective::kAllreduce:
      return {.send = from, .recv = to, .local = from, .combines = true};
    case Collective::kReduceScatter:
      return {.send = part(from, rank == 0 ? to.count : 0, from.count - to.count),
              .recv = to,
              .local = part(from, call.first, to.count),
              .combines = true};
    case Collective::kScan:
      if (rank == 1) return {.recv = to, .local = from, .combines = !call.exclusive};
      if (call.exclusive) return {.send = from};
      return {.send = from, .local = from, .local_to = to};
    default:
      return {};
  }
}

PairTransfer PairTransfer::of_blocks(int rank, Collective collective, int root, const Blocks& out,
                                     const Blocks& in) {
  const int peer = 1 - rank;
  const bool is_root = rank == root;
  switch (collective) {
    case Collective::kGatherv:
      if (!is_root) return {.send = out[root]};
      return {.recv = in[peer], .local = out[rank], .local_to = in[rank]};
    case Collective::kScatterv:
      if (!is_root) return {.recv = in[root]};
      return {.send = out[peer], .local = out[rank], .local_to = in[rank]};
    case Collective::kAllgatherv:
    case Collective::kAlltoallv:
      return {.send = out[peer], .recv = in[peer], .local = out[rank], .local_to = in[rank]};
    default:
      return {};
  }
}

bool PairTransfer::fits(const Reduction* reduction) const {
  return (reduction != nullptr ? send.count * send.type->extent() : send.bytes()) <= kPairBuffer;
}

void PairTransfer::fill(PairBuffer& buffer, const Reduction* reduction) const {
  copy(in_buffer(buffer, send, reduction), send);
}

void PairTransfer::copy_local() const {
  if (local_to.type != nullptr) copy(local_to, local);
}

void PairTransfer::receive_from(PairBuffer& buffer, int rank, const Reduction* reduction) const {
  const Layout theirs = in_buffer(buffer, recv, reduction);
  combines ? combine_two(rank, *this, theirs, *reduction) : copy(recv, theirs);
}

bool is_far(const Layout& data) {
  if (!data.type->is_dense()) return true;
  const auto* const first = static_cast<const volatile std::byte*>(data.base);
  const auto begin = fiber::now();
  for (Count at = 0; at < kTried; at += kLineBytes) static_cast<void>(first[at]);
  return kTried < kNear * (fiber::now() - begin).count();
}

}  // namespace clump::coll
