// What two ranks, each alone at its worker, give each other where it is too long for mail and short enough
// for their caches. Each copies what it gives into a room, they meet, each copies it out of the other one's
// room, and that is his from then on: he gives with it next. To write lines that one was the last to read
// takes a third to a tenth of the time that it takes to write lines that another core was. So two copies take
// less than one out of the other one's buffer, whose owner has to get all lines back when he writes it again;
// and as nobody reads a room but who owns it next, the two need not meet again afterwards.
// docs/decisions/027-swapped-rooms.md
//
// Programs that do not write what they give find it in both caches still, and then nothing is better than to
// read it there. Which of the two a program does shows when one tries, now and then.
#include <algorithm>
#include <chrono>

#include "coll/pieces.h"
#include "coll/team_state.h"
#include "fiber/fiber.h"

namespace clump::coll {

namespace {

// From here on it makes a difference whether a program touches its data; and for how many operations we think
// that we know. A trial in vain takes as long as it took before there were rooms.
constexpr Count kWorthTrying = 4 * 1024;
constexpr int kSwaps = 64, kDirectOnes = 16;
// What is read in a trial; and bytes in a nanosecond: out of the own caches it is 40 and more, out of the
// other core's 10.
constexpr Count kTried = 4 * 1024, kNear = 20;
constexpr Count kLine = 64;
// What is combined at a time where it cannot be done in place.
constexpr Count kChunkBytes = 4096;

Count bytes_of(const Layout& data) { return data.type != nullptr ? data.bytes() : 0; }

Layout block(const Layout& all, int index) {
  const Count count = all.count / 2;
  return part(all, index * count, count);
}

/// What a room contains.
Layout in_room(std::byte* room, const Layout& data, bool as_array) {
  return as_array ? Layout{room, data.count, data.type}
                  : Layout{room, data.bytes(), datatype::predefined(MPI_BYTE)};
}

/// Whether the first kTried bytes come from another core.
bool is_far(const Layout& data) {
  const auto* const first = static_cast<const volatile std::byte*>(data.base);
  const auto begin = fiber::now();
  for (Count at = 0; at < kTried; at += kLine) static_cast<void>(first[at]);
  return kTried < kNear * (fiber::now() - begin).count();
}

/// All that both have room for; nothing if they are the same place. (Bases alone say little: MPI_BOTTOM is
/// one.)
void copy(const Layout& to, const Layout& from) {
  if (to.base == from.base && to.type == from.type) return;
  if (const Count bytes = std::min(to.bytes(), from.bytes()); bytes > 0) datatype::copy(to, from, 0, bytes);
}

}  // namespace

Team::Trade Team::trade_of(int rank, const Call& call) {
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

/// The same for blocks that may differ in size.
Team::Trade Team::trade_of(int rank, Collective collective, int root, const Blocks& out, const Blocks& in) {
  const int peer = 1 - rank;
  const bool is_root = rank == root;
  switch (collective) {
    case Collective::kGatherv:
      if (!is_root) return {.give = out[root]};
      return {.take = in[peer], .own = out[rank], .own_to = in[rank]};
    case Collective::kScatterv:
      if (!is_root) return {.take = in[root]};
      return {.give = out[peer], .own = out[rank], .own_to = in[rank]};
    default:
      return {.give = out[peer], .take = in[peer], .own = out[rank], .own_to = in[rank]};
  }
}

Count Team::most_of_trade(int rank, Collective collective, int root, const Blocks& out, const Blocks& in) {
  const Trade trade = trade_of(rank, collective, root, out, in);
  return std::max(bytes_of(trade.give), bytes_of(trade.take));
}

/// They meet on what each of them gives, so both know whether they think the same of it.
base::Status Team::swap_rooms(Slot& me, Collective collective, int root, const Blocks& out,
                              const Blocks& in) {
  const Trade trade = trade_of(me.rank, collective, root, out, in);
  const Count given = bytes_of(trade.give), taken = bytes_of(trade.take);
  me.bytes = me.rank == 0 ? given | taken << 32 : taken | given << 32;
  const bool in_place = collective == Collective::kAlltoallv && out == in && me.bytes != 0;
  me.call = Word(collective, Algorithm::kTeamSwaps, root, in_place,
                 bytes_of(trade.own) != bytes_of(trade.own_to), me.broadcasts);
  return swap_rooms(me, trade, nullptr, turns_of(me.rank, collective, std::max(given, taken)));
}

base::Status Team::swap_rooms(Slot& me, const Trade& trade, const Reduction* reduction, Turns* turns) {
  Pair& pair = *pair_;
  int& room = pair.sides[me.rank].room;
  std::call_once(pair.made, [&] { pair.rooms = std::make_unique_for_overwrite<Pair::Room[]>(2); });
  const bool as_array = reduction != nullptr;
  if (trade.gives()) copy(in_room(pair.rooms[room].bytes, trade.give, as_array), trade.give);
  if (trade.keeps()) copy(trade.own_to, trade.own);
  meet(me, nullptr);
  if (me.is_settled()) [[unlikely]]
    return depart(me);
  room = 1 - room;
  if (trade.takes()) {
    const Layout theirs = in_room(pair.rooms[room].bytes, trade.take, as_array);
    trade.combines ? combine_two(me.rank, trade, theirs, *reduction) : copy(trade.take, theirs);
  }
  if (turns != nullptr) --turns->left;
  return {};
}

/// In the order of ranks, to where the caller takes it. A kernel may only write to its right operand.
void Team::combine_two(int rank, const Trade& trade, const Layout& theirs, const Reduction& reduction) {
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

bool Team::is_touched(int rank, Collective collective, Count bytes) const {
  const Turns* const turns = turns_of(rank, collective, bytes);
  return turns == nullptr || (turns->touched && turns->left > 0);
}

/// Null: it makes no difference whether the data is touched.
Team::Turns* Team::turns_of(int rank, Collective collective, Count bytes) const {
  if (pair_ == nullptr || bytes < kWorthTrying || bytes > kSwapRoom) return nullptr;
  return &pair_->sides[rank].turns[static_cast<std::size_t>(collective)];
}

/// All buffers are known, and the caller will read what the other one has `given` where it lies.
void Team::try_out(Collective collective, const Turns& turns, const Layout& given) {
  if (turns.left > 0 || given.bytes() < kTried) return;
  if (!given.type->is_dense() || is_far(given))
    pair_->touched_in[static_cast<std::size_t>(collective)].store(turns.trials + 1,
                                                                  std::memory_order_relaxed);
}

/// Both are through with that.
void Team::learn(Collective collective, Turns& turns) {
  if (--turns.left >= 0) return;
  ++turns.trials;
  turns.touched =
      pair_->touched_in[static_cast<std::size_t>(collective)].load(std::memory_order_relaxed) == turns.trials;
  turns.left = turns.touched ? kSwaps : kDirectOnes;
}

}  // namespace clump::coll
