// What is done when the ranks of a team have met: everyone's buffers are in the slots, and hold still.
#include <algorithm>
#include <cstring>
#include <utility>

#include "coll/pieces.h"
#include "coll/team_state.h"
#include "datatype/move.h"
#include "datatype/stream.h"
#include "net/joint_work.h"

namespace clump::coll {

namespace {

// What is combined or exchanged at a time: it stays in the first-level cache.
constexpr Count kChunkBytes = 4096;
// The same where data is only moved: the longer, the less the streams of data disturb each other.
constexpr Count kLongChunkBytes = 32768;
// The same where it goes to one place only; and how long a block must be to go in steps.
constexpr Count kLongStep = 128 * 1024;
constexpr Count kLongBlock = 64 * 1024;
// What must be left to do for somebody to help: with less the lines come and go for nothing.
constexpr Count kWorthSharing = 128 * 1024;
constexpr Count kLine = 64;

bool reduces(Collective collective) {
  return collective == Collective::kReduce || collective == Collective::kAllreduce;
}

std::span<std::byte> span_of(std::byte* data, Count bytes) { return {data, static_cast<std::size_t>(bytes)}; }

constexpr Count kWord = sizeof(std::uint64_t);
// A larger table of blocks takes longer to carry than to fetch the blocks (measured with 2 and 4 ranks).
constexpr Count kTableBytes = 512;

/// A kernel: words of tables, of which in each place one at most is not empty.
void overlay(const void* left, const void* right, void* out, Count words) {
  for (Count at = 0; at < words * kWord; at += kWord) {
    std::uint64_t a, b;
    std::memcpy(&a, static_cast<const std::byte*>(left) + at, kWord);
    std::memcpy(&b, static_cast<const std::byte*>(right) + at, kWord);
    b |= a;
    std::memcpy(static_cast<std::byte*>(out) + at, &b, kWord);
  }
}

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

/// Operands of a predefined operation into `room`, where they lie as in an array. Without the gap that there
/// may be behind the last one, which need not be the caller's.
void load(std::byte* room, const Layout& operands) {
  copy_short({room, operands.count, operands.type}, operands, operands.bytes());
}

}  // namespace

void pack_short(std::byte* room, const Layout& from, Count bytes) {
  if (!from.type->is_dense()) return datatype::pack(span_of(room, bytes), from, 0);
  datatype::move_short(reinterpret_cast<std::intptr_t>(room), reinterpret_cast<std::intptr_t>(from.base),
                       bytes);
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

// What a group puts into the mail. Operands are combined from the last rank to the first, because the right
// one is where the result goes.
void Team::bring(Group& group, const Slot& me, Value& value) {
  if (me.bytes == 0) return;
  if (!reduces(me.call.collective())) return bring_blocks(group, me, value);
  value.count = me.buffers->from.count;
  value.type = me.buffers->from.type;
  value.kernel = value.reduction->op->kernel(*value.type);
  value.bytes = value.count * value.type->extent();
  value.data = group.room.data();
  auto member = group.members.rbegin();
  load(value.data, (*member)->buffers->from);
  while (++member != group.members.rend()) value.apply((*member)->buffers->from.base, value.data);
}

/// By each rank.
int Team::blocks_given(const Slot& me) const {
  return me.call.collective() == Collective::kAlltoall ? size_ : 1;
}

// A row for each rank of the team, with what it gives; those of other groups are empty, so that leaders can
// lay one such table over the other.
void Team::bring_blocks(Group& group, const Slot& me, Value& value) const {
  const Count row = me.bytes * blocks_given(me);
  value.count = (row * size_ + kWord - 1) / kWord;
  value.bytes = value.count * kWord;
  value.kernel = overlay;
  value.data = group.room.data();
  std::memset(value.data, 0, static_cast<std::size_t>(value.bytes));
  for (const Slot* member : group.members)
    pack_short(value.data + member->rank * row, member->buffers->from, row);
}

void Team::hand_out_blocks(const Group& group, const Slot& me, const Value& value) const {
  const int given = blocks_given(me);
  if (given == 1) {
    for (const Slot* member : group.members)
      unpack_short(member->buffers->to, 0, value.data, me.bytes * size_);
    return;
  }
  for (const Slot* member : group.members)
    for (int source = 0; source < size_; ++source)
      unpack_short(member->buffers->to, source * me.bytes,
                   value.data + (source * given + member->rank) * me.bytes, me.bytes);
}

bool Team::can_carry(Collective collective, int ranks, Count bytes) {
  if (collective == Collective::kBroadcast) return bytes <= Notice::kMostBytes;
  if (collective == Collective::kAllgather) return bytes * ranks <= kTableBytes;
  if (collective == Collective::kAlltoall) return bytes * ranks * ranks <= kTableBytes;
  return bytes <= kMailBytes;
}

void Team::hand_out(const Group& group, const Slot& me, const Value& value) {
  if (me.bytes == 0) return;
  const Collective collective = me.call.collective();
  const int root = me.call.root();
  if (!reduces(collective)) return hand_out_blocks(group, me, value);
  const Layout result{value.data, value.count, value.type};
  if (collective == Collective::kReduce) {
    if (slots_[root].group == &group) datatype::copy(buffers_[root].to, result, 0, me.bytes);
    return;
  }
  for (const Slot* member : group.members) datatype::copy(member->buffers->to, result, 0, me.bytes);
}

void Team::work_for(Group& group, const Slot& me, const Reduction* reduction) {
  switch (me.call.collective()) {
    case Collective::kReduce:
    case Collective::kAllreduce:
    case Collective::kScan:
      return combine_slice(me, group.number, group_count_, *reduction);
    case Collective::kNeighbours:
      group.block_bytes = Group::kNotCounted;
      for (Slot* member : group.members) fetch_from_neighbours(*member);
      return;
    case Collective::kGatherv:
    case Collective::kScatterv:
    case Collective::kAllgatherv:
    case Collective::kAlltoallv:
      group.block_bytes = Group::kNotCounted;
      for (Slot* member : group.members) move_blocks(*member);
      return;
    default:
      for (const Slot* member : group.members) work(*member, reduction);
  }
}

// One rank's part.
void Team::work(const Slot& me, const Reduction* reduction) {
  if (reduction == nullptr) return move(me);
  if (me.call.collective() == Collective::kReduceScatter) return reduce_block(me, *reduction);
  combine_slice(me, me.rank, size_, *reduction);
}

// By all ranks together, in what only moves data. The source of a broadcast does not count: most often
// somebody has just written it, and the copies are what he reads next (measured with roots in turn).
Count Team::bytes_touched(const Slot& me) const {
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

// Whether the leader that speaks with this group's first waits for it already: it has nothing left to do.
// Read by a rank of the group that has not yet arrived at the next meeting. Nobody tells a group that folds
// in.
bool Team::is_waited_for(const Group& group) {
  const int extra = group_count_ - active_;
  const bool folds = group.number < 2 * extra;
  if (group_count_ == 1 || (folds && group.number % 2 == 0)) return false;
  return mail(group.number, folds ? rounds_ - 2 : 0, group.exchanges & 1).sent.done();
}

// All cores of a team have about as much to do, so each does its own: of what another one has done, the lines
// lie in that one's cache, and it takes longer to get them back than it saved (alltoall of 64 KB by two
// ranks: 7 us by whoever was free, 3 us so; docs/measurements.md). But who has nothing left helps.
template <typename Work>
void Team::in_steps(const Slot& me, const Steps& all, Work work) {
  const auto [begin, end, step, bytes, streamed] = all;
  const Count of_each = end > begin ? bytes / (end - begin) : 0;
  for (Count first = begin; first < end; first += step) {
    const Count left = of_each * (end - first);
    if ((spare_ && left >= net::kWorthWaking) || (left >= kWorthSharing && is_waited_for(*me.group))) {
      net::joint_work(end - first, step, left, [&work, first, streamed](Count after, Count count) {
        work(first + after, count);
        if (streamed) datatype::drain_streams();
      });
      break;
    }
    work(first, std::min(step, end - first));
  }
  if (streamed) datatype::drain_streams();
}

void Team::fetch(const Slot& me, const Layout& to, const Layout& from) {
  const Count bytes = std::min(to.bytes(), from.bytes());
  if (bytes == 0 || are_same(to, from)) return;
  bytes < kLongBlock ? copy_short(to, from, bytes) : fetch_long(me, to, from, bytes);
}

// A function of its own, so that fetch(), which is called for each pair of ranks, is short.
[[gnu::noinline]] void Team::fetch_long(const Slot& me, const Layout& to, const Layout& from, Count bytes) {
  const bool streamed = datatype::is_streamed(bytes_touched(me));
  in_steps(me, {0, bytes, kLongStep, bytes, streamed},
           [&](Count first, Count count) { copy_piece(to, from, first, count, streamed); });
}

/// One of the blocks that a buffer consists of.
struct Team::Block {
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
void Team::copy_block(const Slot& me, const Block& to, const Block& from) {
  if (me.bytes >= kLongBlock || !to.is_solid() || !from.is_solid())
    return fetch(me, to.layout(), from.layout());
  const std::intptr_t target = to.address(me.bytes), source = from.address(me.bytes);
  if (target != source) datatype::move_short(target, source, me.bytes);
}

// One rank's part of moving data: where it can be, what comes to this rank. Each begins with another peer.
void Team::move(const Slot& me) {
  const Buffers& mine = *me.buffers;
  const int root = me.call.root();
  switch (me.call.collective()) {
    case Collective::kBroadcast:
      if (me.call.algorithm() == Algorithm::kTeamShares) return broadcast_slice(me);
      if (me.rank != root) fetch(me, mine.to, buffers_[root].from);
      return;
    case Collective::kGather:
      return copy_block(me, {buffers_[root].to, size_, me.rank}, {mine.from, 1, 0});
    case Collective::kScatter:
      return copy_block(me, {mine.to, 1, 0}, {buffers_[root].from, size_, me.rank});
    case Collective::kAllgather:
      if (me.call.algorithm() == Algorithm::kTeamShares) return give_block(me);
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

// Everyone, the root as well, brings a slice to all.
void Team::broadcast_slice(const Slot& me) {
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

// Brought to everyone, not fetched by everyone: so it is read once, and the next reads find it in the cache.
void Team::give_block(const Slot& me) {
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

void Team::swap_blocks(const Slot& me) {
  for (int peer = 0; peer < size_; ++peer) {
    if (!swaps_with(me.rank, peer)) continue;
    swap(Block{me.buffers->to, size_, peer}.layout(), Block{buffers_[peer].to, size_, me.rank}.layout(),
         me.bytes);
  }
}

// What follows is only for predefined operations: a user's may want to see its operands as a whole. In place,
// nobody else reads the elements that somebody combines, so they can be replaced as soon as that is done.

void Team::combine_slice(const Slot& me, int slice, int slices, const Reduction& reduction) {
  const Count begin = piece_begin(me.buffers->from.count, slices, slice);
  const Count end = piece_begin(me.buffers->from.count, slices, slice + 1);
  if (me.call.collective() != Collective::kScan) return reduce_slice(me, begin, end, reduction);
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
void Team::combine(Count begin, Count end, const Slot& me, const Reduction& reduction, Place place,
                   Results results, Write write) {
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

void Team::reduce_slice(const Slot& me, Count begin, Count end, const Reduction& reduction) {
  const bool for_all = me.call.collective() == Collective::kAllreduce;
  const int root = me.call.root();
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

void Team::reduce_block(const Slot& me, const Reduction& reduction) {
  const Buffers& mine = *me.buffers;
  const auto result = [&](Count first, Count count) { return part(mine.to, first - mine.first, count); };
  combine(
      mine.first, mine.first + mine.to.count, me, reduction,
      [&](Count first, Count count) { return result(first, count).base; },
      mine.to.type->is_dense() ? Results::kPlaced : Results::kCopied,
      [&](Count first, const Layout& value) { fetch(me, result(first, value.count), value); });
}

// Each result is the operand there, combined with the result of the rank below.
void Team::scan_slice(const Slot& me, Count begin, Count end, const Reduction& reduction) {
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
void Team::exscan_slice(const Slot& me, Count begin, Count end, const Reduction& reduction) {
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
