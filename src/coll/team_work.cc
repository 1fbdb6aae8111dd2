// What is done when the ranks of a team have met: everyone's buffers are in the slots, and hold still.
#include <algorithm>
#include <cstring>

#include "coll/pieces.h"
#include "coll/team_state.h"
#include "datatype/move.h"

namespace clump::coll {

namespace {

// What is combined or exchanged at a time: it stays in the first-level cache.
constexpr Count kChunkBytes = 8192;

bool reduces(Collective collective) {
  return collective == Collective::kReduce || collective == Collective::kAllreduce;
}

/// One of the blocks that a buffer consists of.
struct Block {
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

/// Unless the block is there already. Solid ones without a division or a call: this is done for each pair of
/// ranks.
void copy_block(const Block& to, const Block& from, Count bytes) {
  if (to.is_solid() && from.is_solid()) {
    const std::intptr_t target = to.address(bytes), source = from.address(bytes);
    if (target != source) datatype::move_short(target, source, bytes);
    return;
  }
  const Layout target = to.layout(), source = from.layout();
  if (target.base != source.base || target.type != source.type) datatype::copy(target, source, 0, bytes);
}

std::span<std::byte> span_of(std::byte* data, Count bytes) { return {data, static_cast<std::size_t>(bytes)}; }

}  // namespace

// What a group puts into the mail. Operands are combined from the last rank to the first, because the right
// one is where the result goes.
void Team::bring(Group& group, const Slot& me, Value& value) {
  value.count = me.buffers->from.count;
  value.type = me.buffers->from.type;
  if (me.bytes == 0) return;
  if (!reduces(me.call.collective())) {
    value.bytes = me.bytes;
    const int root = me.call.root();
    if (slots_[root].group != &group) return;
    value.data = group.room.data();
    return datatype::pack(span_of(value.data, value.bytes), buffers_[root].from, 0);
  }
  value.kernel = value.reduction->op->kernel(*value.type);
  value.bytes = value.count * value.type->extent();
  value.data = group.room.data();
  auto member = group.members.rbegin();
  std::memcpy(value.data, (*member)->buffers->from.base, value.bytes);
  while (++member != group.members.rend()) value.apply((*member)->buffers->from.base, value.data);
}

void Team::hand_out(const Group& group, const Slot& me, const Value& value) {
  if (me.bytes == 0) return;
  const Collective collective = me.call.collective();
  const int root = me.call.root();
  if (collective == Collective::kBroadcast) {
    for (const Slot* member : group.members)
      if (member->rank != root) datatype::unpack(member->buffers->to, 0, span_of(value.data, value.bytes));
    return;
  }
  const Layout result{value.data, value.count, value.type};
  if (collective == Collective::kReduce) {
    if (slots_[root].group == &group) datatype::copy(buffers_[root].to, result, 0, me.bytes);
    return;
  }
  for (const Slot* member : group.members) datatype::copy(member->buffers->to, result, 0, me.bytes);
}

void Team::work_for(const Group& group, const Slot& me, const Reduction* reduction) {
  if (reduction != nullptr) return reduce_slice(me, group.number, group_count_, *reduction);
  if (me.call.collective() == Collective::kNeighbours) {
    for (Slot* member : group.members) fetch_from_neighbours(*member);
    return;
  }
  for (const Slot* member : group.members) work(*member);
}

// One rank's part of moving data: where it can be, what comes to this rank. Each begins with another peer.
void Team::work(const Slot& me) {
  const Buffers& mine = *me.buffers;
  const int root = me.call.root();
  const Count bytes = me.bytes;
  switch (me.call.collective()) {
    case Collective::kBroadcast:
      if (me.rank != root) datatype::copy(mine.to, buffers_[root].from, 0, bytes);
      return;
    case Collective::kGather:
      return copy_block({buffers_[root].to, size_, me.rank}, {mine.from, 1, 0}, bytes);
    case Collective::kScatter:
      return copy_block({mine.to, 1, 0}, {buffers_[root].from, size_, me.rank}, bytes);
    case Collective::kAllgather:
      for (int i = 0, peer = me.rank; i < size_; ++i, peer = wrap(peer + 1, size_))
        copy_block({mine.to, size_, peer}, {buffers_[peer].from, 1, 0}, bytes);
      return;
    case Collective::kAlltoall:
      if (me.call.in_place()) return swap_blocks(me);
      for (int i = 0, peer = me.rank; i < size_; ++i, peer = wrap(peer + 1, size_))
        copy_block({mine.to, size_, peer}, {buffers_[peer].from, size_, me.rank}, bytes);
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
    const Layout mine = Block{me.buffers->to, size_, peer}.layout();
    const Layout theirs = Block{buffers_[peer].to, size_, me.rank}.layout();
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
  const Layout& operands = me.buffers->from;
  const datatype::Datatype& type = *operands.type;
  const datatype::Kernel kernel = reduction.op->kernel(type);
  const Count step = std::max<Count>(kChunkBytes / std::max<Count>(type.extent(), 1), 1);
  const Count end = piece_begin(operands.count, slices, slice + 1);
  const bool for_all = me.call.collective() == Collective::kAllreduce;
  const int root = me.call.root();
  for (Count first = piece_begin(operands.count, slices, slice); first < end; first += step) {
    const Layout value{room, std::min(step, end - first), &type};
    const auto operand = [&](int rank) { return part(buffers_[rank].from, first, value.count); };
    std::memcpy(room, operand(size_ - 1).base, value.count * type.extent());
    for (int rank = size_ - 2; rank >= 0; --rank) kernel(operand(rank).base, room, value.count);
    for (int rank = for_all ? 0 : root; rank < (for_all ? size_ : root + 1); ++rank)
      datatype::copy(part(buffers_[rank].to, first, value.count), value, 0, value.bytes());
  }
}

}  // namespace clump::coll
