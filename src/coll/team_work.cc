// What is done when the ranks of a team have met: everyone's buffers are in the slots, and hold still.
#include <algorithm>
#include <cstring>

#include "coll/pieces.h"
#include "coll/team_state.h"

namespace clump::coll {

namespace {

// What is combined or exchanged at a time: it stays in the first-level cache.
constexpr Count kChunkBytes = 8192;

bool reduces(Collective collective) {
  return collective == Collective::kReduce || collective == Collective::kAllreduce;
}

bool same_place(const Layout& a, const Layout& b) { return a.base == b.base && a.type == b.type; }

/// Copies a block, unless it is there already.
void copy_block(const Layout& to, const Layout& from) {
  if (!same_place(to, from)) datatype::copy(to, from, 0, from.bytes());
}

/// Block `i` of a buffer with `blocks`.
Layout block_of(const Layout& whole, int blocks, int i) {
  const Count count = whole.count / blocks;
  return part(whole, i * count, count);
}

std::span<std::byte> span_of(std::byte* data, Count bytes) { return {data, static_cast<std::size_t>(bytes)}; }

}  // namespace

// What a group puts into the mail. Operands are combined from the last rank to the first, because the right
// one is where the result goes.
void Team::bring(Group& group, const Slot& me, Value& value) {
  value.count = me.from.count;
  value.type = me.from.type;
  if (me.bytes == 0) return;
  if (!reduces(me.call.collective())) {
    value.bytes = me.bytes;
    const Slot& root = slots_[me.call.root()];
    if (root.group != &group) return;
    value.data = group.room.data();
    return datatype::pack(span_of(value.data, value.bytes), root.from, 0);
  }
  value.kernel = value.reduction->op->kernel(*value.type);
  value.bytes = value.count * value.type->extent();
  value.data = group.room.data();
  auto member = group.members.rbegin();
  std::memcpy(value.data, (*member)->from.base, value.bytes);
  while (++member != group.members.rend()) value.apply((*member)->from.base, value.data);
}

void Team::hand_out(const Group& group, const Slot& me, const Value& value) {
  if (me.bytes == 0) return;
  const Collective collective = me.call.collective();
  const int root = me.call.root();
  if (collective == Collective::kBroadcast) {
    for (const Slot* member : group.members)
      if (member->rank != root) datatype::unpack(member->to, 0, span_of(value.data, value.bytes));
    return;
  }
  const Layout result{value.data, value.count, value.type};
  for (const Slot* member : group.members)
    if (collective == Collective::kAllreduce || member->rank == root)
      datatype::copy(member->to, result, 0, me.bytes);
}

void Team::work_for(const Group& group, const Slot& me, const Reduction* reduction) {
  if (reduction != nullptr) return reduce_slice(me, group.number, group_count_, *reduction);
  for (const Slot* member : group.members) work(*member);
}

// One rank's part of moving data: where it can be, what comes to this rank. Each begins with another peer.
void Team::work(const Slot& me) {
  const Slot& root = slots_[me.call.root()];
  switch (me.call.collective()) {
    case Collective::kBroadcast:
      if (me.rank != root.rank) datatype::copy(me.to, root.from, 0, me.bytes);
      return;
    case Collective::kGather:
      return copy_block(block_of(root.to, size_, me.rank), me.from);
    case Collective::kScatter:
      return copy_block(me.to, block_of(root.from, size_, me.rank));
    case Collective::kAllgather:
      for (int i = 0; i < size_; ++i) {
        const int peer = wrap(me.rank + i, size_);
        copy_block(block_of(me.to, size_, peer), slots_[peer].from);
      }
      return;
    case Collective::kAlltoall:
      if (me.call.in_place()) return swap_blocks(me);
      for (int i = 0; i < size_; ++i) {
        const int peer = wrap(me.rank + i, size_);
        copy_block(block_of(me.to, size_, peer), block_of(slots_[peer].from, size_, me.rank));
      }
      return;
    default:
      return;
  }
}

// In place: of each pair, one exchanges the two blocks.
void Team::swap_blocks(const Slot& me) {
  alignas(64) std::byte room[kChunkBytes];
  for (int peer = 0; peer < size_; ++peer) {
    const bool odd_pair = (me.rank + peer) % 2 != 0;
    if (peer == me.rank || (peer < me.rank) == odd_pair) continue;
    const Layout mine = block_of(me.to, size_, peer);
    const Layout theirs = block_of(slots_[peer].to, size_, me.rank);
    for (Count done = 0; done < me.bytes; done += kChunkBytes) {
      const Count bytes = std::min(kChunkBytes, me.bytes - done);
      datatype::pack(span_of(room, bytes), mine, done);
      datatype::copy(mine, theirs, done, bytes);
      datatype::unpack(theirs, done, span_of(room, bytes));
    }
  }
}

// Only for predefined operations: a user's may want to see its operands as a whole. In place, nobody else
// reads the elements of this slice, so they can be replaced as soon as they are combined.
void Team::reduce_slice(const Slot& me, int slice, int slices, const Reduction& reduction) {
  alignas(64) std::byte room[kChunkBytes];
  const datatype::Datatype& type = *me.from.type;
  const datatype::Kernel kernel = reduction.op->kernel(type);
  const Count step = std::max<Count>(kChunkBytes / std::max<Count>(type.extent(), 1), 1);
  const Count end = piece_begin(me.from.count, slices, slice + 1);
  const bool for_all = me.call.collective() == Collective::kAllreduce;
  const int root = me.call.root();
  for (Count first = piece_begin(me.from.count, slices, slice); first < end; first += step) {
    const Layout value{room, std::min(step, end - first), &type};
    const auto operand = [&](int rank) { return part(slots_[rank].from, first, value.count); };
    std::memcpy(room, operand(size_ - 1).base, value.count * type.extent());
    for (int rank = size_ - 2; rank >= 0; --rank) kernel(operand(rank).base, room, value.count);
    for (int rank = for_all ? 0 : root; rank < (for_all ? size_ : root + 1); ++rank)
      datatype::copy(part(slots_[rank].to, first, value.count), value, 0, value.bytes());
  }
}

}  // namespace clump::coll
