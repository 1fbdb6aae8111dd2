// The work after the ranks have met: the buffers of all ranks are in the slots, and do not change.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "coll/algorithms/pieces.h"
#include "coll/shared/shared_state.h"
#include "core/rank.h"
#include "datatype/move.h"
#include "datatype/stream.h"
#include "fiber/fiber.h"
#include "fiber/help.h"
#include "net/joint_work.h"

namespace clump::coll {

namespace {

// Bytes that are combined or exchanged at a time: they stay in the first-level cache.
constexpr Count kChunkBytes = 4096;
// The same where data is only moved: the longer, the less the streams of data disturb each other.
constexpr Count kLongChunkBytes = 32768;
// The same where it goes to one place only; and the least length of a block that goes in steps.
constexpr Count kLongStep = 128 * 1024;
constexpr Count kLongBlock = 64 * 1024;
// The least length of a block that its owner writes into the buffers of others. Shorter blocks are in the
// caches, and a rank reads its result faster if it has written it (experiment 059).
constexpr Count kWorthGiving = 128 * 1024;
// The least work left for which another thread helps: with less the lines come and go for nothing.
constexpr Count kWorthSharing = 128 * 1024;
constexpr Count kLine = 64;

std::span<std::byte> span_of(std::byte* data, Count bytes) { return {data, static_cast<std::size_t>(bytes)}; }

/// datatype::copy(); past the caches if `streamed`, and then see drain_streams().
void copy_piece(const Layout& to, const Layout& from, Count first, Count bytes, bool streamed) {
  if (!streamed || !to.type->is_dense() || !from.type->is_dense())
    return datatype::copy(to, from, first, bytes);
  datatype::stream(static_cast<std::byte*>(to.base) + first, static_cast<const std::byte*>(from.base) + first,
                   bytes);
}

bool are_same(const Layout& to, const Layout& from) { return to.base == from.base && to.type == from.type; }

void copy_short(const Layout& to, const Layout& from, Count bytes) {
  if (!to.type->is_dense() || !from.type->is_dense()) return datatype::copy(to, from, 0, bytes);
  datatype::move_short(reinterpret_cast<std::intptr_t>(to.base), reinterpret_cast<std::intptr_t>(from.base),
                       bytes);
}

}  // namespace

SharedCollective::SharedCollective(const core::Comm& comm)
    : size_(comm.size()),
      slots_(std::make_unique<ArgumentSlot[]>(size_)),
      buffers_(std::make_unique<Buffers[]>(size_)) {
  const std::vector<int>& homes = comm.owner.world.homes;
  std::unordered_map<int, int> number_of;  // of the group of a home
  std::vector<std::vector<ArgumentSlot*>> members;
  int previous = -1;
  for (int rank = 0; rank < size_; ++rank) {
    const int home = homes.empty() ? 0 : homes[comm.group->world_rank(rank)];
    const auto [entry, is_new] = number_of.try_emplace(home, static_cast<int>(members.size()));
    const int number = entry->second;
    if (is_new) members.emplace_back();
    ordered_ = ordered_ && (is_new || number == previous);
    previous = number;
    slots_[rank].rank = rank;
    slots_[rank].buffers = &buffers_[rank];
    members[number].push_back(&slots_[rank]);
  }
  group_count_ = static_cast<int>(members.size());
  spare_ = group_count_ < fiber::worker_count() || fiber::has_helpers();
  groups_ = std::make_unique<LocalGroup[]>(group_count_);
  for (int number = 0; number < group_count_; ++number) {
    LocalGroup& group = groups_[number];
    group.number = number;
    for (ArgumentSlot* slot : members[number]) slot->group = &group;
    group.members = std::move(members[number]);
  }
}

SharedCollective::~SharedCollective() = default;

/// Whether the caller's own two buffers have blocks of different sizes.
bool SharedCollective::is_mismatched(int rank, const Call& call) const {
  if (!has_equal_blocks(call.collective)) return false;
  const bool has_root = call.collective == Collective::kGather || call.collective == Collective::kScatter;
  if (has_root && rank != call.root) return false;
  const Layout& all = call.collective == Collective::kScatter ? call.send : call.recv;
  return coll::block_bytes(all, size_) != call.bytes;
}

PackedSignature SharedCollective::signature_of(int rank, const Call& call, Algorithm algorithm,
                                               std::uint64_t broadcasts) const {
  return PackedSignature(call, algorithm, is_mismatched(rank, call), broadcasts);
}

void pack_short(std::byte* room, const Layout& from, Count bytes) {
  if (!from.type->is_dense()) return datatype::pack(span_of(room, bytes), from, 0);
  datatype::move_short(reinterpret_cast<std::intptr_t>(room), reinterpret_cast<std::intptr_t>(from.base),
                       bytes);
}

void load(std::byte* room, const Layout& operands) {
  copy_short({room, operands.count, operands.type}, operands, operands.bytes());
}

void unpack_short(const Layout& to, Count offset, const std::byte* room, Count bytes) {
  if (!to.type->is_dense()) return datatype::unpack(to, offset, {room, static_cast<std::size_t>(bytes)});
  datatype::move_short(reinterpret_cast<std::intptr_t>(to.base) + offset,
                       reinterpret_cast<std::intptr_t>(room), bytes);
}

void swap(const Layout& one, const Layout& other, Count bytes) {
  alignas(64) std::byte room[kChunkBytes];
  for (Count done = 0; done < bytes; done += kChunkBytes) {
    const Count now = std::min(kChunkBytes, bytes - done);
    datatype::pack(span_of(room, now), one, done);
    datatype::copy(one, other, done, now);
    datatype::unpack(other, done, span_of(room, now));
  }
}

namespace {

/// Whether the operands of all ranks are combined in slices.
bool is_sliced(Collective collective) {
  return combines(collective) && collective != Collective::kReduceScatter;
}

}  // namespace

void SharedCollective::work_for(LocalGroup& group, const ArgumentSlot& me, const Reduction* reduction) {
  if (is_sliced(me.call.collective())) return combine_slice(me, group.number, group_count_, *reduction);
  for (ArgumentSlot* member : group.members) work(*member, reduction);
}

void SharedCollective::work(ArgumentSlot& me, const Reduction* reduction) {
  const Collective collective = me.call.collective();
  if (is_sliced(collective)) return combine_slice(me, me.rank, size_, *reduction);
  if (collective == Collective::kReduceScatter) return reduce_block(me, *reduction);
  if (collective == Collective::kNeighbours) return fetch_from_neighbours(me);
  if (has_uneven_blocks(collective)) return move_blocks(me);
  move(me);
}

// By all ranks together, in operations that only move data. The source of a broadcast does not count: most
// often the root has just written it, and the ranks read the copies next (measured with roots in turn).
Count SharedCollective::bytes_touched(const ArgumentSlot& me) const {
  switch (me.call.collective()) {
    case Collective::kBroadcast:
      return me.bytes * (size_ - 1);
    case Collective::kAllgather:
      return me.bytes * size_ * (1 + size_);
    case Collective::kAlltoall:
      return 2 * me.bytes * size_ * size_;
    case Collective::kGather:
    case Collective::kScatter:
      return 2 * me.bytes * size_;
    default:  // blocks that may differ in size: as if all groups had as much
      return 2 * block_bytes(*me.group) * group_count_;
  }
}

// All cores have about as much work, so each does its own part. If another core does some of it, the lines
// lie in that core's cache, and to fetch them takes longer than the help has saved (docs/experiments/056).
// Only a thread without work left helps.
template <typename Work>
void SharedCollective::in_steps(const ArgumentSlot& me, const Steps& all, Work work) {
  const Count of_each = all.end > all.begin ? all.bytes / (all.end - all.begin) : 0;
  for (Count first = all.begin; first < all.end; first += all.step) {
    const Count left = of_each * (all.end - first);
    if ((spare_ && left >= net::kWorthWaking) || (left >= kWorthSharing && is_waited_for(*me.group))) {
      net::joint_work(all.end - first, all.step, left,
                      [&work, first, streamed = all.streamed](Count after, Count count) {
                        work(first + after, count);
                        if (streamed) datatype::drain_streams();
                      });
      break;
    }
    work(first, std::min(all.step, all.end - first));
  }
  if (all.streamed) datatype::drain_streams();
}

void SharedCollective::fetch(const ArgumentSlot& me, const Layout& to, const Layout& from) {
  const Count bytes = std::min(to.bytes(), from.bytes());
  if (bytes == 0 || are_same(to, from)) return;
  bytes < kLongBlock ? copy_short(to, from, bytes) : fetch_long(me, to, from, bytes);
}

// A function of its own, so that fetch(), which is called for each pair of ranks, is short.
[[gnu::noinline]] void SharedCollective::fetch_long(const ArgumentSlot& me, const Layout& to,
                                                    const Layout& from, Count bytes) {
  const bool streamed = datatype::is_streamed(bytes_touched(me));
  in_steps(me, {0, bytes, kLongStep, bytes, streamed},
           [&](Count first, Count count) { copy_piece(to, from, first, count, streamed); });
}

/// One of the blocks that a buffer consists of.
struct SharedCollective::Block {
  const Layout& buffer;
  int blocks;
  int index;

  bool is_solid() const { return buffer.type->is_dense(); }
  /// Of a solid one.
  std::intptr_t address(Count bytes) const {
    return reinterpret_cast<std::intptr_t>(buffer.base) + index * bytes;
  }
  Layout layout() const {
    const Count count = buffer.count / blocks;
    return part(buffer, index * count, count);
  }
};

// Solid short ones without a division or a call: this is done for each pair of ranks.
void SharedCollective::copy_block(const ArgumentSlot& me, const Block& to, const Block& from) {
  if (me.bytes >= kLongBlock || !to.is_solid() || !from.is_solid())
    return fetch(me, to.layout(), from.layout());
  const std::intptr_t target = to.address(me.bytes), source = from.address(me.bytes);
  if (target != source) datatype::move_short(target, source, me.bytes);
}

// One rank's part of moving data: where it can be, what comes to this rank. Each begins with another peer.
void SharedCollective::move(const ArgumentSlot& me) {
  const Buffers& mine = *me.buffers;
  const int root = me.call.root();
  switch (me.call.collective()) {
    case Collective::kBroadcast:
      if (me.call.algorithm() == Algorithm::kShmAll) return broadcast_slice(me);
      if (me.rank != root) fetch(me, mine.to, buffers_[root].from);
      return;
    case Collective::kGather:
      return copy_block(me, {buffers_[root].to, size_, me.rank}, {mine.from, 1, 0});
    case Collective::kScatter:
      return copy_block(me, {mine.to, 1, 0}, {buffers_[root].from, size_, me.rank});
    case Collective::kAllgather:
      if (me.call.algorithm() == Algorithm::kShmAll && me.bytes >= kWorthGiving) return give_block(me);
      for (int i = 0, peer = me.rank; i < size_; ++i, peer = wrap(peer + 1, size_))
        copy_block(me, {mine.to, size_, peer}, {buffers_[peer].from, 1, 0});
      return;
    case Collective::kAlltoall:
      if (me.call.in_place()) return swap_blocks(me);
      for (int i = 0, peer = me.rank; i < size_; ++i, peer = wrap(peer + 1, size_))
        copy_block(me, {mine.to, size_, peer}, {buffers_[peer].from, size_, me.rank});
      return;
    default:
      return;
  }
}

// Each rank, the root as well, copies a slice to all.
void SharedCollective::broadcast_slice(const ArgumentSlot& me) {
  const int root = me.call.root();
  const Count lines = (me.bytes + kLine - 1) / kLine;
  const Count begin = piece_begin(lines, size_, me.rank) * kLine;
  const Count end = std::min(me.bytes, piece_begin(lines, size_, me.rank + 1) * kLine);
  const bool streamed = datatype::is_streamed(bytes_touched(me));
  const Steps steps{begin, end, kLongChunkBytes, (end - begin) * size_, streamed};
  in_steps(me, steps, [&](Count first, Count bytes) {
    for (int i = 1, rank = wrap(root + 1, size_); i < size_; ++i, rank = wrap(rank + 1, size_))
      copy_piece(buffers_[rank].to, buffers_[root].from, first, bytes, streamed);
  });
}

// Its owner writes the block to all ranks, instead of each rank fetching it: so it is read from memory once,
// and the next reads find it in the cache.
void SharedCollective::give_block(const ArgumentSlot& me) {
  const bool streamed = datatype::is_streamed(bytes_touched(me));
  const Layout& from = me.buffers->from;
  const Steps steps{0, me.bytes, kLongChunkBytes, me.bytes * size_, streamed};
  in_steps(me, steps, [&](Count first, Count bytes) {
    for (int i = 0, rank = me.rank; i < size_; ++i, rank = wrap(rank + 1, size_)) {
      const Layout to = Block{buffers_[rank].to, size_, me.rank}.layout();
      if (!are_same(to, from)) copy_piece(to, from, first, bytes, streamed);
    }
  });
}

void SharedCollective::swap_blocks(const ArgumentSlot& me) {
  for (int peer = 0; peer < size_; ++peer) {
    if (!swaps_with(me.rank, peer)) continue;
    swap(Block{me.buffers->to, size_, peer}.layout(), Block{buffers_[peer].to, size_, me.rank}.layout(),
         me.bytes);
  }
}

// The functions below are only for predefined operations: a user's may want to see its operands as a whole.
// In place, no other rank reads the elements that a rank combines, so it can replace them at once.

void SharedCollective::combine_slice(const ArgumentSlot& me, int slice, int slices,
                                     const Reduction& reduction) {
  const Count begin = piece_begin(me.buffers->from.count, slices, slice);
  const Count end = piece_begin(me.buffers->from.count, slices, slice + 1);
  const bool for_all = me.call.collective() == Collective::kAllreduce;
  if (me.call.collective() != Collective::kScan)
    return reduce_slice(me, begin, end, for_all ? kAll : me.call.root(), reduction);
  if (me.call.exclusive()) return exscan_slice(me, begin, end, reduction);
  scan_slice(me, begin, end, reduction);
}

namespace {

/// How many elements are combined at a time.
Count step_of(const datatype::Datatype& type) {
  return std::max<Count>(kChunkBytes / std::max<Count>(type.extent(), 1), 1);
}

}  // namespace

/// Combines the elements of all ranks, some of them at a time, and calls write(first, value) for these. They
/// grow at place(first, count), or in a room of their own.
template <typename Place, typename Write>
void SharedCollective::combine(Count begin, Count end, const ArgumentSlot& me, const Reduction& reduction,
                               Place place, Results results, Write write) {
  const datatype::Datatype& type = *me.buffers->from.type;
  const datatype::Kernel kernel = reduction.op->kernel(type);
  const Count bytes = (end - begin) * type.extent() * size_;
  in_steps(me, {begin, end, step_of(type), bytes, results == Results::kStreamed},
           [&](Count first, Count count) {
             alignas(64) std::byte room[kChunkBytes];
             void* const value = results == Results::kPlaced ? place(first, count) : room;
             const auto operand = [&](int rank) { return part(buffers_[rank].from, first, count).base; };
             kernel(operand(size_ - 2), operand(size_ - 1), value, count);
             for (int rank = size_ - 3; rank >= 0; --rank) kernel(operand(rank), value, value, count);
             write(first, Layout{value, count, &type});
           });
}

void SharedCollective::reduce_slice(const ArgumentSlot& me, Count begin, Count end, int root,
                                    const Reduction& reduction) {
  const bool for_all = root == kAll;
  // The results grow where one of them goes, unless that is where another operand is.
  const int home = !for_all ? root : me.call.in_place() ? size_ - 1 : me.rank;
  const Buffers& at = buffers_[home];
  const bool streamed = datatype::is_streamed(me.bytes * (for_all ? 2 * size_ : size_ + 1));
  const bool fits = at.to.type->is_dense() && (home == size_ - 1 || at.to.base != at.from.base);
  combine(
      begin, end, me, reduction, [&](Count first, Count count) { return part(at.to, first, count).base; },
      streamed ? Results::kStreamed
      : fits   ? Results::kPlaced
               : Results::kCopied,
      [&](Count first, const Layout& value) {
        for (int rank = for_all ? 0 : root; rank < (for_all ? size_ : root + 1); ++rank) {
          const Layout to = part(buffers_[rank].to, first, value.count);
          streamed ? copy_piece(to, value, 0, value.bytes(), true) : fetch(me, to, value);
        }
      });
}

void SharedCollective::reduce_block(const ArgumentSlot& me, const Reduction& reduction) {
  const Buffers& mine = *me.buffers;
  const auto result = [&](Count first, Count count) { return part(mine.to, first - mine.first, count); };
  combine(
      mine.first, mine.first + mine.to.count, me, reduction,
      [&](Count first, Count count) { return result(first, count).base; },
      mine.to.type->is_dense() ? Results::kPlaced : Results::kCopied,
      [&](Count first, const Layout& value) { fetch(me, result(first, value.count), value); });
}

// Each result is the operand there, combined with the result of the rank below.
void SharedCollective::scan_slice(const ArgumentSlot& me, Count begin, Count end,
                                  const Reduction& reduction) {
  const datatype::Datatype& type = *me.buffers->from.type;
  const datatype::Kernel kernel = reduction.op->kernel(type);
  const Steps steps{begin, end, step_of(type), (end - begin) * type.extent() * size_};
  in_steps(me, steps, [&](Count first, Count count) {
    for (int rank = 0; rank < size_; ++rank) {
      const Layout operand = part(buffers_[rank].from, first, count),
                   result = part(buffers_[rank].to, first, count);
      if (rank == 0)
        fetch(me, result, operand);
      else
        kernel(part(buffers_[rank - 1].to, first, count).base, operand.base, result.base, count);
    }
  });
}

// In place the result takes the place of an operand, which the ranks above need as well.
void SharedCollective::exscan_slice(const ArgumentSlot& me, Count begin, Count end,
                                    const Reduction& reduction) {
  const datatype::Datatype& type = *me.buffers->from.type;
  const datatype::Kernel kernel = reduction.op->kernel(type);
  const Steps steps{begin, end, step_of(type), (end - begin) * type.extent() * size_};
  in_steps(me, steps, [&](Count first, Count count) {
    alignas(64) std::byte rooms[2][kChunkBytes];
    std::byte *below = rooms[0], *next = rooms[1];
    load(below, part(buffers_[0].from, first, count));
    for (int rank = 1; rank < size_; ++rank) {
      kernel(below, part(buffers_[rank].from, first, count).base, next, count);
      fetch(me, part(buffers_[rank].to, first, count), {below, count, &type});
      std::swap(below, next);
    }
  });
}

}  // namespace clump::coll
