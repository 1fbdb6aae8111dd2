#include "coll/shared/pending.h"

#include <mutex>
#include <utility>

#include "coll/algorithms/pieces.h"
#include "coll/shared/request.h"
#include "coll/shared/shared_state.h"
#include "coll/shared/team.h"
#include "core/rank.h"
#include "fiber/fiber.h"
#include "fiber/own_worker.h"

namespace clump::coll {

namespace {

// The last rank to arrive does less work than this itself: to hand it to another core, and to fetch its
// results from there, takes as long.
constexpr Count kLittle = 8 * 1024;
// This much work wakes a sleeping worker.
constexpr Count kMuch = 128 * 1024;
// To find a block and to call a copy takes as long as to copy so many bytes.
constexpr Count kBlockEffort = 64;

}  // namespace

PendingCollective::PendingCollective(const core::Comm& comm, PendingCollectives& owner)
    : SharedCollective(comm),
      owner_(owner),
      world_(comm.owner.world),
      work_tasks_(std::make_unique<WorkTask[]>(group_count_)),
      completion_tasks_(std::make_unique<CompletionTask[]>(group_count_)) {
  for (int group = 0; group < group_count_; ++group) {
    first_.push_back(comm.group->world_rank(groups_[group].members.front()->rank));
    work_tasks_[group].pending = completion_tasks_[group].pending = this;
    work_tasks_[group].group = completion_tasks_[group].group = group;
  }
}

void PendingCollective::write_down(TeamRequest& operation) {
  const core::Comm& comm = operation.communicator();
  ArgumentSlot& me = slots_[comm.rank];
  me.operation = &operation;
  me.call = operation.signature_;
  me.bytes = operation.bytes_;
  me.outcome = ArgumentSlot::kOpen;
  if (!operation.has_blocks_) [[likely]]
    return me.buffers->set(operation.from_, operation.to_, operation.first_);
  me.buffers->set(operation.extra_->out, operation.extra_->in);
  auto& neighbourhood = me.buffers->neighbourhood;
  if (me.call.collective() == Collective::kNeighbours && !neighbourhood)
    neighbourhood = std::make_unique<Neighbourhood>(*comm.topology);
}

void PendingCollective::begin(const TeamRequest& last) {
  const ArgumentSlot& me = slots_[last.communicator().rank];
  const int group = me.group->number;
  reduction_ = last.reduction();
  users_.store(1, std::memory_order_relaxed);
  for (int i = 0; i < group_count_; ++i)
    groups_[i].block_bytes.store(LocalGroup::kNotCounted, std::memory_order_relaxed);
  if (!all_agree(me)) [[unlikely]] {
    tell_all();
    end_all(group);
  } else if (const Count all = effort(me); all >= kLittle) {
    submit_work(group, all);
  } else {
    prepare_completions(group);
    for (int i = 0; i < group_count_; ++i)
      for (ArgumentSlot* const member : groups_[i].members) do_part(*member);
    end_all(group);
  }
  let_go();
}

void PendingCollective::do_part(ArgumentSlot& member) {
  const fiber::ComputeAs owner(member.operation->control());
  work(member, &reduction_);
  member.operation->add_met(owner.met());
}

bool PendingCollective::all_agree(const ArgumentSlot& me) const {
  bool agree = true;
  for (int rank = 0; rank < size_; ++rank) {
    const ArgumentSlot& other = slots_[rank];
    agree = agree && other.call == me.call && other.bytes == me.bytes && !other.call.mismatched();
  }
  return agree;
}

void PendingCollective::tell_all() {
  for (int rank = 0; rank < size_; ++rank) slots_[rank].settle(complain(slots_[rank]));
}

Count PendingCollective::effort(const ArgumentSlot& me) const {
  const Collective collective = me.call.collective();
  if (collective == Collective::kBarrier) return 0;
  if (combines(collective)) return 2 * size_ * (me.bytes + kBlockEffort);
  const bool has_root = collective == Collective::kBroadcast || collective == Collective::kGather ||
                        collective == Collective::kScatter;
  const Count blocks = has_root ? Count{size_} : Count{size_} * size_;
  return bytes_touched(me) + blocks * kBlockEffort;
}

void PendingCollective::submit(int group, net::ProgressTask& task) {
  if (!team_) team_ = base::Ref<core::Team>(&owner_.team_);
  users_.fetch_add(1, std::memory_order_relaxed);  // not the last one: the caller is one
  const int number = first_[static_cast<std::size_t>(group)];
  world_.routes[static_cast<std::size_t>(number)]->submit(number, task);
}

// Those of other groups first: their threads may have time.
void PendingCollective::submit_work(int group, Count effort) {
  is_short_.store(fiber::worker_count() == 0, std::memory_order_relaxed);
  parts_left_.store(size_, std::memory_order_relaxed);  // both by release of the shares
  for (int i = 0; i < group_count_; ++i) work_tasks_[i].begun.store(0, std::memory_order_relaxed);
  if (effort >= kMuch) fiber::wake_idle_worker();
  for (int i = 1; i <= group_count_; ++i) {
    const int to = wrap(group + i, group_count_);
    submit(to, work_tasks_[to]);
  }
}

void PendingCollective::work_from(int group) {
  int done = 0;
  for (int i = 0; i < group_count_; ++i) {
    const int from = wrap(group + i, group_count_);
    const std::vector<ArgumentSlot*>& members = groups_[from].members;
    std::atomic<std::size_t>& begun = work_tasks_[from].begun;
    while (begun.load(std::memory_order_relaxed) < members.size()) {
      const std::size_t next = begun.fetch_add(1, std::memory_order_relaxed);
      if (next >= members.size()) break;
      do_part(*members[next]);
      ++done;
    }
  }
  // acq_rel: the thread that ends it has seen all parts.
  if (done > 0 && parts_left_.fetch_sub(done, std::memory_order_acq_rel) == done)
    end_all(group);
  else
    is_short_.store(true, std::memory_order_relaxed);
  let_go();
}

// To wake a rank of another worker takes several cache lines, so a thread of that worker does it.
void PendingCollective::end_all(int group) {
  for (int i = 1; i < group_count_; ++i) {
    const int to = wrap(group + i, group_count_);
    groups_[to].members.size() == 1 ? complete(to) : submit(to, completion_tasks_[to]);
  }
  complete(group);
}

/// Asks for the lines that end_all() will write to.
void PendingCollective::prepare_completions(int group) const {
  for (int i = 0; i < group_count_; ++i)
    if (i != group && groups_[i].members.size() == 1)
      __builtin_prefetch(groups_[i].members.front()->operation, 1);
}

void PendingCollective::end(int group) {
  complete(group);
  let_go();
}

void PendingCollective::complete(int group) {
  for (const ArgumentSlot* member : groups_[group].members) {
    member->operation->result.error = member->is_settled() ? member->outcome : MPI_SUCCESS;
    member->operation->complete();
  }
}

void PendingCollective::let_go() {
  // acquire, acq_rel: the last one gives it back.
  if (users_.load(std::memory_order_acquire) != 1 && users_.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  const base::Ref<core::Team> team = std::move(team_);  // of which the owner is a part
  owner_.give_back(*this);
}

// Usually each worker does the parts of its own ranks, because their data is in its cache.
bool PendingCollective::is_waited_for(const LocalGroup&) const {
  return is_short_.load(std::memory_order_relaxed);
}

// It has no ring.
PackedSignature PendingCollective::broadcast(std::uint64_t) const { return {}; }

PendingCollectives::Table::Entry* PendingCollectives::Table::find(int tag) {
  for (std::size_t i = count_; i-- > 0;)
    if (at(i).tag == tag) return &at(i);
  return nullptr;
}

PendingCollectives::Table::Entry& PendingCollectives::Table::add(int tag, PendingCollective& pending) {
  if (count_ >= kFirst) {
    if (more_ == nullptr) more_ = std::make_unique<std::vector<Entry>>();
    more_->resize(count_ - kFirst + 1);
  }
  return at(count_++) = {tag, 0, &pending};
}

bool PendingCollectives::Table::count_in(Entry& entry, int of) {
  if (++entry.come != of) return false;
  entry = at(--count_);
  if (count_ >= kFirst) more_->pop_back();
  return true;
}

PendingCollectives::PendingCollectives(Team& team)
    : team_(team), groups_(std::make_unique<LocalGroup[]>(static_cast<std::size_t>(team.group_count_))) {}

PendingCollectives::~PendingCollectives() {
  for (PendingCollective* const spare : first_spares_) delete spare;
  for (PendingCollective* const spare : spares_) delete spare;
  for (std::size_t i = 0; i < all_.count_; ++i) delete all_.at(i).pending;  // of a job that was ended
}

/// With a lock of all_.
PendingCollectives::Table::Entry& PendingCollectives::find_or_open(const TeamRequest& operation,
                                                                   std::unique_lock<base::ShortMutex>& lock) {
  if (auto* const open = all_.find(operation.tag())) return *open;
  PendingCollective* taken = take_spare();
  if (taken == nullptr) [[unlikely]] {
    lock.unlock();
    taken = new PendingCollective(operation.communicator(), *this);
    lock.lock();
    if (auto* const open = all_.find(operation.tag())) {
      keep_spare(*taken);
      return *open;
    }
  }
  return all_.add(operation.tag(), *taken);
}

PendingCollective* PendingCollectives::take_spare() {
  for (PendingCollective*& spare : first_spares_)
    if (spare != nullptr) return std::exchange(spare, nullptr);
  if (spares_.empty()) return nullptr;
  PendingCollective* const spare = spares_.back();
  spares_.pop_back();
  return spare;
}

void PendingCollectives::keep_spare(PendingCollective& pending) {
  for (PendingCollective*& spare : first_spares_)
    if (spare == nullptr) {
      spare = &pending;
      return;
    }
  spares_.push_back(&pending);
}

void PendingCollectives::join(TeamRequest& operation) {
  if (PendingCollective* const pending = count_in(operation)) pending->begin(operation);
}

/// The pending collective if all have come.
PendingCollective* PendingCollectives::count_in(TeamRequest& operation) {
  const SharedCollective::LocalGroup& group = *team_.slots_[operation.communicator().rank].group;
  const auto ranks = static_cast<int>(group.members.size());
  PendingCollective* pending = nullptr;
  if (ranks > 1) {
    Table& table = groups_[static_cast<std::size_t>(group.number)].table;
    const std::lock_guard lock(table.mutex);
    auto* open = table.find(operation.tag());
    if (open == nullptr) {
      std::unique_lock lock_all(all_.mutex);
      open = &table.add(operation.tag(), *find_or_open(operation, lock_all).pending);
    }
    pending = open->pending;
    pending->write_down(operation);
    if (!table.count_in(*open, ranks)) return nullptr;
  }
  std::unique_lock lock(all_.mutex);
  auto& open = find_or_open(operation, lock);
  if (pending == nullptr) {
    pending = open.pending;
    pending->write_down(operation);
  }
  return all_.count_in(open, team_.group_count_) ? pending : nullptr;
}

void PendingCollectives::give_back(PendingCollective& pending) {
  const std::lock_guard lock(all_.mutex);
  keep_spare(pending);
}

}  // namespace clump::coll
