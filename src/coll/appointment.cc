#include "coll/appointment.h"

#include <mutex>
#include <utility>

#include "coll/meeting_state.h"
#include "coll/pieces.h"
#include "coll/team.h"
#include "coll/team_operation.h"
#include "core/rank.h"
#include "fiber/own_worker.h"
#include "fiber/fiber.h"

namespace clump::coll {

namespace {

// Less work than this the last one does himself: to tell another core of it, and to fetch what it has
// written, would take as long.
constexpr Count kLittle = 8 * 1024;
// For this much a worker that sleeps is woken.
constexpr Count kMuch = 128 * 1024;
// To find a block and to call a copy takes as long as to copy so many bytes.
constexpr Count kBlockEffort = 64;

}  // namespace

Appointment::Appointment(const core::Comm& comm, Appointments& keeper)
    : Meeting(comm),
      keeper_(keeper),
      world_(comm.owner.world),
      shares_(std::make_unique<Share[]>(group_count_)),
      endings_(std::make_unique<Ending[]>(group_count_)) {
  for (int group = 0; group < group_count_; ++group) {
    first_.push_back(comm.group->world_rank(groups_[group].members.front()->rank));
    shares_[group].appointment = endings_[group].appointment = this;
    shares_[group].group = endings_[group].group = group;
  }
}

void Appointment::write_down(TeamOperation& operation) {
  const core::Comm& comm = operation.communicator();
  Slot& me = slots_[comm.rank];
  me.operation = &operation;
  me.call = operation.word_;
  me.bytes = operation.bytes_;
  me.outcome = Slot::kOpen;
  if (keeper_.rooms_ != nullptr && rooms_[comm.rank] != operation.room_) rooms_[comm.rank] = operation.room_;
  if (!operation.has_blocks_) [[likely]]
    return me.buffers->set(operation.from_, operation.to_, operation.first_);
  me.buffers->set(operation.extra_->out, operation.extra_->in);
  auto& neighbourhood = me.buffers->neighbourhood;
  if (me.call.collective() == Collective::kNeighbours && !neighbourhood)
    neighbourhood = std::make_unique<Neighbourhood>(*comm.topology);
}

void Appointment::begin(const TeamOperation& last) {
  const Slot& me = slots_[last.communicator().rank];
  const int group = me.group->number;
  reduction_ = last.reduction();
  users_.store(1, std::memory_order_relaxed);
  for (int i = 0; i < group_count_; ++i)
    groups_[i].block_bytes.store(Group::kNotCounted, std::memory_order_relaxed);
  const bool agree = all_agree(me);
  swaps_ = agree && can_swap();
  if (!swaps_) take_rooms_back();
  if (!agree) [[unlikely]] {
    tell_all();
    end_all(group);
  } else if (const Count all = effort(me); all >= kLittle) {
    leave_shares(group, all);
  } else {
    prepare_endings(group);
    for (int i = 0; i < group_count_; ++i)
      for (Slot* const member : groups_[i].members) do_part(*member, i);
    end_all(group);
  }
  let_go();
}

/// Whether both, or the one who gives, have filled a room, with as much as the other one takes.
bool Appointment::can_swap() const {
  if (keeper_.rooms_ == nullptr || (rooms_[0] == nullptr && rooms_[1] == nullptr)) return false;
  for (int rank = 0; rank < 2; ++rank) {
    const Count given = slots_[rank].operation->trade_.given();
    if (given != slots_[1 - rank].operation->trade_.taken() || (given > 0) != (rooms_[rank] != nullptr))
      return false;
  }
  return true;
}

void Appointment::take_rooms_back() {
  for (int rank = 0; rank < 2; ++rank)
    if (rooms_[rank] != nullptr) keeper_.rooms_->give_back(rank, *std::exchange(rooms_[rank], nullptr));
}

/// By somebody who works for the group's worker.
void Appointment::do_part(Slot& member, int group) {
  if (SwapRooms* const rooms = keeper_.rooms_.get(); rooms != nullptr) {
    const int peer = 1 - member.rank;
    if (member.group->number != group)
      rooms->note_help();
    else if (!swaps_ && rooms->is_asked(peer))
      rooms->judge(peer, slots_[peer].operation->trade_);
  }
  swaps_ ? swap(member) : work(member, &reduction_);
}

/// The other one's buffers are not looked at, so it may go on already.
void Appointment::swap(Slot& member) {
  const int rank = member.rank, peer = 1 - rank;
  const Trade& trade = member.operation->trade_;
  const bool gives = rooms_[rank] != nullptr;
  trade.keep();
  if (trade.takes()) {
    trade.take_from(*rooms_[peer], rank, member.operation->combining());
    keeper_.rooms_->read(peer, *rooms_[peer], gives);
  }
  complete(member.group->number);
}

bool Appointment::all_agree(const Slot& me) const {
  bool agree = true;
  for (int rank = 0; rank < size_; ++rank) {
    const Slot& other = slots_[rank];
    agree = agree && other.call == me.call && other.bytes == me.bytes && !other.call.odd();
  }
  return agree;
}

void Appointment::tell_all() {
  for (int rank = 0; rank < size_; ++rank) slots_[rank].settle(complain(slots_[rank]));
}

Count Appointment::effort(const Slot& me) const {
  const Count pairs = Count{size_} * size_ * kBlockEffort;
  switch (me.call.collective()) {
    case Collective::kBarrier:
      return 0;
    case Collective::kReduce:
    case Collective::kAllreduce:
    case Collective::kScan:
    case Collective::kReduceScatter:
      return 2 * size_ * (me.bytes + kBlockEffort);
    case Collective::kBroadcast:
    case Collective::kGather:
    case Collective::kScatter:
      return bytes_touched(me) + size_ * kBlockEffort;
    default:
      return bytes_touched(me) + pairs;
  }
}

void Appointment::leave(int group, net::Task& task) {
  if (!team_) team_ = base::Ref<core::Team>(&keeper_.team_);
  users_.fetch_add(1, std::memory_order_relaxed);  // not the last one: the caller is one
  const int number = first_[static_cast<std::size_t>(group)];
  world_.routes[static_cast<std::size_t>(number)]->leave(number, task);
}

// Those of others first, who may have time.
void Appointment::leave_shares(int group, Count effort) {
  is_short_.store(fiber::worker_count() == 0, std::memory_order_relaxed);
  parts_left_.store(size_, std::memory_order_relaxed);  // both by release of the shares
  for (int i = 0; i < group_count_; ++i)
    shares_[i].begun.store(has_part(i) ? 0 : groups_[i].members.size(), std::memory_order_relaxed);
  if (effort >= kMuch) fiber::wake_idle_worker();
  for (int i = 1; i <= group_count_; ++i) {
    const int to = wrap(group + i, group_count_);
    has_part(to) ? leave(to, shares_[to]) : complete(to);
  }
}

/// Who only gives by a room is through when all have come. (The other one is about to take it, most likely,
/// so nothing is left that he could do.)
bool Appointment::has_part(int group) const {
  return !swaps_ || groups_[group].members.front()->operation->trade_.has_work();
}

void Appointment::work_from(int group) {
  int done = 0;
  for (int i = 0; i < group_count_; ++i) {
    const int from = wrap(group + i, group_count_);
    const std::vector<Slot*>& members = groups_[from].members;
    std::atomic<std::size_t>& begun = shares_[from].begun;
    while (begun.load(std::memory_order_relaxed) < members.size()) {
      const std::size_t next = begun.fetch_add(1, std::memory_order_relaxed);
      if (next >= members.size()) break;
      do_part(*members[next], group);
      ++done;
    }
  }
  // acq_rel: who ends it has seen all parts.
  if (done > 0 && parts_left_.fetch_sub(done, std::memory_order_acq_rel) == done)
    end_all(group);
  else
    is_short_.store(true, std::memory_order_relaxed);
  let_go();
}

// To wake ranks of another worker takes several cache lines each: that is for somebody there.
void Appointment::end_all(int group) {
  if (swaps_) return;
  for (int i = 1; i < group_count_; ++i) {
    const int to = wrap(group + i, group_count_);
    groups_[to].members.size() == 1 ? complete(to) : leave(to, endings_[to]);
  }
  complete(group);
}

/// Asks for the lines that end_all() will write to.
void Appointment::prepare_endings(int group) const {
  for (int i = 0; i < group_count_; ++i)
    if (i != group && groups_[i].members.size() == 1)
      __builtin_prefetch(groups_[i].members.front()->operation, 1);
}

void Appointment::end(int group) {
  complete(group);
  let_go();
}

void Appointment::complete(int group) {
  for (const Slot* member : groups_[group].members) {
    member->operation->result.error = member->is_settled() ? member->outcome : MPI_SUCCESS;
    member->operation->complete();
  }
}

void Appointment::let_go() {
  // acquire, acq_rel: the last one is who gives it back.
  if (users_.load(std::memory_order_acquire) != 1 && users_.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  const base::Ref<core::Team> team = std::move(team_);  // of which the keeper is a part
  keeper_.give_back(*this);
}

// Mostly each worker does the parts of its own ranks, whose data it has in its cache.
bool Appointment::is_waited_for(const Group&) const { return is_short_.load(std::memory_order_relaxed); }

Appointments::Table::Entry* Appointments::Table::find(int tag) {
  for (std::size_t i = count_; i-- > 0;)
    if (at(i).tag == tag) return &at(i);
  return nullptr;
}

Appointments::Table::Entry& Appointments::Table::add(int tag, Appointment& appointment) {
  if (count_ >= kFirst) {
    if (more_ == nullptr) more_ = std::make_unique<std::vector<Entry>>();
    more_->resize(count_ - kFirst + 1);
  }
  return at(count_++) = {tag, 0, &appointment};
}

bool Appointments::Table::count_in(Entry& entry, int of) {
  if (++entry.come != of) return false;
  entry = at(--count_);
  if (count_ >= kFirst) more_->pop_back();
  return true;
}

Appointments::Appointments(Team& team)
    : team_(team),
      rooms_(team.size_ == 2 && team.group_count_ == 2 && !team.spare_ ? std::make_unique<SwapRooms>()
                                                                       : nullptr),
      groups_(std::make_unique<Group[]>(static_cast<std::size_t>(team.group_count_))) {}

Appointments::~Appointments() {
  for (Appointment* const spare : first_spares_) delete spare;
  for (Appointment* const spare : spares_) delete spare;
  for (std::size_t i = 0; i < all_.count_; ++i) delete all_.at(i).appointment;  // of a job that was ended
}

/// With a lock of all_.
Appointments::Table::Entry& Appointments::find_or_open(const TeamOperation& operation,
                                                       std::unique_lock<base::ShortMutex>& lock) {
  if (auto* const open = all_.find(operation.tag())) return *open;
  Appointment* taken = take_spare();
  if (taken == nullptr) [[unlikely]] {
    lock.unlock();
    taken = new Appointment(operation.communicator(), *this);
    lock.lock();
    if (auto* const open = all_.find(operation.tag())) {
      keep_spare(*taken);
      return *open;
    }
  }
  return all_.add(operation.tag(), *taken);
}

Appointment* Appointments::take_spare() {
  for (Appointment*& spare : first_spares_)
    if (spare != nullptr) return std::exchange(spare, nullptr);
  if (spares_.empty()) return nullptr;
  Appointment* const spare = spares_.back();
  spares_.pop_back();
  return spare;
}

void Appointments::keep_spare(Appointment& appointment) {
  for (Appointment*& spare : first_spares_)
    if (spare == nullptr) {
      spare = &appointment;
      return;
    }
  spares_.push_back(&appointment);
}

void Appointments::come(TeamOperation& operation) {
  if (rooms_ != nullptr && operation.word_.collective() != Collective::kBarrier) operation.fill_room(*rooms_);
  if (Appointment* const appointment = count_in(operation)) appointment->begin(operation);
}

/// The appointment if all have come.
Appointment* Appointments::count_in(TeamOperation& operation) {
  const Meeting::Group& group = *team_.slots_[operation.communicator().rank].group;
  const auto ranks = static_cast<int>(group.members.size());
  Appointment* appointment = nullptr;
  if (ranks > 1) {
    Table& table = groups_[static_cast<std::size_t>(group.number)].table;
    const std::lock_guard lock(table.mutex);
    auto* open = table.find(operation.tag());
    if (open == nullptr) {
      std::unique_lock lock_all(all_.mutex);
      open = &table.add(operation.tag(), *find_or_open(operation, lock_all).appointment);
    }
    appointment = open->appointment;
    appointment->write_down(operation);
    if (!table.count_in(*open, ranks)) return nullptr;
  }
  std::unique_lock lock(all_.mutex);
  auto& open = find_or_open(operation, lock);
  if (appointment == nullptr) {
    appointment = open.appointment;
    appointment->write_down(operation);
  }
  return all_.count_in(open, team_.group_count_) ? appointment : nullptr;
}

void Appointments::give_back(Appointment& appointment) {
  const std::lock_guard lock(all_.mutex);
  keep_spare(appointment);
}

}  // namespace clump::coll
