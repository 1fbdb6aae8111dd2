#include "coll/schedule/schedule.h"

#include <algorithm>

#include "coll/hierarchical/hosts.h"
#include "coll/select/choose.h"
#include "net/joint_work.h"

namespace clump::coll {

namespace {

// Collectives count their tags from 0 in 29 bits, and checks have as many above that; agreements of a part of
// a communicator use the user's tag above both.
constexpr int kPartTagBit = 1 << 30, kNotProgramsBit = 1 << 28;

constexpr std::size_t kLargestInArena = 512;

constexpr const char* kScheduleAdvice =
    "the counts and datatypes that the ranks of a collective operation pass must describe the same data";

const datatype::Datatype* byte_type() {
  static const datatype::Datatype* const type = datatype::predefined(MPI_BYTE);
  return type;
}

/// The number of the operation, with which those of the program meet none of another caller.
int next_tag(core::Comm& comm, Caller caller) {
  const int number = comm.next_collective_tag() & (kNotProgramsBit - 1);
  // Not between jobs: a rank that waits for one of another job for ever gets no report.
  return is_program(caller) || comm.crosses_jobs() ? number : number | kNotProgramsBit;
}

}  // namespace

Layout bytes_at(void* base, Count bytes) { return {base, bytes, byte_type()}; }

Schedule::Schedule(core::Comm& comm, const Reduction& reduction, Caller caller)
    : Schedule(comm, Aside{next_tag(comm, caller)}, reduction) {
  noted_ = true;
}

Schedule::Schedule(core::Comm& comm, Aside aside, const Reduction& reduction)
    : comm_(comm),
      part_(nullptr),
      reduction_(reduction),
      rank_(comm.rank),
      size_(comm.size()),
      peers_(comm.peers().size()),
      tag_(aside.tag),
      hosts_(hosts_of(comm)),
      noted_(false) {
  steps_.reserve(16);
}

Schedule::Schedule(const Members& members, const Reduction& reduction)
    : comm_(members.comm),
      part_(members.part ? &members.group : nullptr),
      reduction_(reduction),
      rank_(members.rank),
      size_(members.size()),
      peers_(members.part ? members.size() : members.comm.peers().size()),
      tag_(members.part ? (members.part_tag & (kPartTagBit - 1)) | kPartTagBit
                        : next_tag(members.comm, members.caller)),
      hosts_(members.part ? nullptr : hosts_of(members.comm)) {
  steps_.reserve(16);
}

Schedule::~Schedule() { std::destroy_n(slots_, slot_count_); }

Algorithm Schedule::choose(Collective collective, const Layout& operands) {
  return choose(collective, operands.bytes(), needs_one_order(comm_, reduction_, *operands.type));
}

Algorithm Schedule::choose(Collective collective, Count bytes, bool one_order) {
  const bool ordered = !commutative() || collective == Collective::kScan;
  const bool hosts = hosts_ != nullptr && among_.empty() && !flat_ && (!ordered || hosts_->consecutive());
  const Situation situation{.ranks = size_,
                            .bytes = bytes,
                            .operation = operations_of(reduction_),
                            .hosts = hosts,
                            .one_order = one_order,
                            .where = where_};
  const Algorithm algorithm = coll::choose(comm_, collective, situation);
  if (hosts && !one_order && algorithm != Algorithm::kTwoStages && has_two_stages(collective)) flat_ = true;
  if (among_.empty() && noted_)
    note(comm_, collective, algorithm, bytes);  // a stage is none of the program's
  return algorithm;
}

Schedule::Among::Among(Schedule& s, std::span<const int> ranks, int me)
    : s_(s), rank_(s.rank_), size_(s.size_) {
  s.among_ = ranks;
  s.rank_ = me;
  s.size_ = s.peers_ = static_cast<int>(ranks.size());
}

Schedule::Among::~Among() {
  s_.among_ = {};
  s_.rank_ = rank_;
  s_.size_ = s_.peers_ = size_;
}

void Schedule::send(const Layout& from, int to) {
  steps_.push_back({Step::Kind::kSend, written(to), from, {}});
}

void Schedule::receive(const Layout& to, int from) {
  steps_.push_back({Step::Kind::kReceive, written(from), to, {}});
}

void Schedule::send(std::function<Layout()> from, int to) {
  steps_.push_back({Step::Kind::kSendThen, written(to), {nullptr, std::ssize(thens_), nullptr}, {}});
  thens_.push_back(std::move(from));
}

void Schedule::receive_up_to(const Layout& to, int from) {
  steps_.push_back({Step::Kind::kReceiveUpTo, written(from), to, {}});
}

void Schedule::act(std::function<base::Status()> action) {
  steps_.push_back({Step::Kind::kAct, rank_, {nullptr, std::ssize(actions_), nullptr}, {}});
  actions_.push_back(std::move(action));
}

void Schedule::copy(const Layout& to, const Layout& from) {
  if ((from.bytes() == 0 && to.bytes() == 0) || (to.base == from.base && to.type == from.type)) return;
  steps_.push_back({Step::Kind::kCopy, rank_, to, from});
}

void Schedule::combine(const Layout& left, const Layout& right) {
  if (right.count > 0) steps_.push_back({Step::Kind::kCombine, rank_, left, right});
}

void Schedule::next() { steps_.push_back({Step::Kind::kNext, rank_, {}, {}}); }

Layout Schedule::scratch(Count count, const datatype::Datatype& type) {
  if (count == 0) return {nullptr, 0, &type};
  const Count reach = (count - 1) * type.extent();
  const Count begin = type.true_lb() + std::min<Count>(reach, 0);
  const Count end = type.true_lb() + type.true_extent() + std::max<Count>(reach, 0);
  // The first byte lies as far from an alignment boundary as in a buffer that begins on one.
  const Count shift = begin & ~static_cast<Count>(kScratchAlignment - 1);
  const Layout room = scratch(end - shift);
  return {reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(room.base) - shift), count, &type};
}

Layout Schedule::scratch(Count bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  if (size <= kLargestInArena)
    return bytes_at(arena_.allocate(std::max<std::size_t>(size, 1), kScratchAlignment), bytes);
  buffers_.push_back(take_scratch(size));
  if (buffers_.back() == nullptr)
    unusable_ = base::fail(MPI_ERR_NO_MEM, "there is no memory for {} bytes of intermediate results", bytes);
  return bytes_at(buffers_.back().get(), bytes);
}

base::Status Schedule::run() {
  const core::AwaitedCollective awaited{comm_, tag_ & ~kNotProgramsBit, part_};
  const core::Waiting told(awaited);
  start(nullptr);
  while (!advance()) wait_for_round();
  return status_;
}

void Schedule::start(Listener* listener) {
  listener_ = listener;
  status_ = unusable_;
  met_ = 0;
  position_ = unusable_.ok() ? 0 : steps_.size();
  if (slots_ != nullptr) return;
  slot_count_ = widest_round();
  slots_ = static_cast<Slot*>(arena_.allocate(slot_count_ * sizeof(Slot), alignof(Slot)));
  std::uninitialized_default_construct_n(slots_, slot_count_);
}

bool Schedule::begins_with_much() const {
  constexpr Count kMuch = 64 << 10;
  for (const Step& step : steps_) {
    if (step.kind == Step::Kind::kNext) return false;
    if (step.kind != Step::Kind::kAct && step.kind != Step::Kind::kSendThen && step.first.bytes() >= kMuch)
      return true;
  }
  return false;
}

bool Schedule::advance() {
  do {
    end_round();
    for (; position_ < steps_.size(); ++position_) {
      const Step& step = steps_[position_];
      if (step.kind == Step::Kind::kCopy) {
        copy_now(step.first, step.second);
      } else if (step.kind == Step::Kind::kCombine) {
        combine_now(step);
      } else if (step.kind == Step::Kind::kAct) {
        const base::Status done = actions_[static_cast<std::size_t>(step.first.count)]();
        if (status_.ok()) status_ = done;
      } else if (step.kind != Step::Kind::kNext) {
        break;
      }
    }
    if (position_ == steps_.size()) return true;
  } while (begin_round());
  return false;
}

std::size_t Schedule::round_at(std::size_t position) const {
  std::size_t end = position;
  while (end < steps_.size() && steps_[end].kind <= Step::Kind::kReceiveUpTo) ++end;
  return end - position;
}

std::size_t Schedule::widest_round() const {
  std::size_t widest = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const std::size_t round = round_at(i);
    widest = std::max(widest, round);
    i += round;
  }
  return widest;
}

/// True if it has ended already, and that was not told to the listener.
bool Schedule::begin_round() {
  const std::size_t count = round_at(position_);
  outstanding_.store(count + 1, std::memory_order_relaxed);  // others get to know it by the operations
  for (; in_flight_ < count; ++position_) begin(steps_[position_], slots_[in_flight_++]);
  if (listener_ == nullptr) return false;
  // The last touch, unless the round has ended. acq_rel: as in operation_ended().
  return outstanding_.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void Schedule::begin(const Step& step, Slot& slot) {
  const p2p::Address address{comm_, peer_of(step.peer), tag_, true};
  const auto begin = [&](auto& operation, const Layout& data) {
    if (listener_ != nullptr) (void)operation.completion.abandon();
    operation.begin(address, data);
  };
  if (step.kind == Step::Kind::kSend)
    begin(slot.emplace<Send>(*this), step.first);
  else if (step.kind == Step::Kind::kSendThen)
    begin(slot.emplace<Send>(*this), thens_[static_cast<std::size_t>(step.first.count)]());
  else
    begin(slot.emplace<Receive>(*this), step.first);
}

void Schedule::operation_ended() {
  // acq_rel: the thread that takes the next steps sees the data of all operations.
  if (outstanding_.fetch_sub(1, std::memory_order_acq_rel) == 1) listener_->round_ended();
}

void Schedule::wait_for_round() {
  for (std::size_t i = 0; i < in_flight_; ++i) {
    if (auto* send = std::get_if<Send>(&slots_[i])) send->completion.wait();
    if (auto* receive = std::get_if<Receive>(&slots_[i])) receive->completion.wait();
  }
}

void Schedule::end_round() {
  const std::size_t first = position_ - in_flight_;
  for (std::size_t i = 0; i < in_flight_; ++i) {
    if (const auto* receive = std::get_if<Receive>(&slots_[i]))
      check_received(steps_[first + i], receive->result);
    slots_[i].emplace<std::monostate>();
  }
  in_flight_ = 0;
}

void Schedule::copy_now(const Layout& to, const Layout& from) {
  const Count bytes = std::min(to.bytes(), from.bytes());
  net::joint_copy(to, from, 0, bytes);
  if (to.bytes() != from.bytes() && status_.ok())
    status_ =
        base::fail(MPI_ERR_TRUNCATE,
                   "rank {} passes a block of {} bytes to send to itself, but one of {} bytes to receive it",
                   rank_, from.bytes(), to.bytes());
}

void Schedule::combine_now(const Step& step) {
  const fiber::ComputeAs owner(control_);
  reduction_.op->apply(step.first.base, step.second.base, step.second.count, *step.second.type,
                       reduction_.handle);
  met_ |= owner.met();
}

void Schedule::check_received(const Step& step, const core::Result& result) {
  const Count expected = step.first.bytes();
  const bool suits = result.bytes == expected || step.kind == Step::Kind::kReceiveUpTo;
  if ((result.error == MPI_SUCCESS && suits) || !status_.ok()) return;
  if (result.error == MPI_SUCCESS) {
    status_ = unequal(step.peer, result.bytes, expected);
  } else if ((result.error & base::Status::kClassMask) == MPI_ERR_TRUNCATE) {
    status_ =
        base::fail(MPI_ERR_TRUNCATE, "{} {} sent more than the {} bytes that rank {} expects ({}): {}",
                   group(), step.peer, expected, rank_, base::message_of(result.error), kScheduleAdvice);
  } else {
    status_ = base::Status::from_code(result.error);
  }
}

base::Status Schedule::unequal(int peer, Count sent, Count expected) const {
  return base::fail(MPI_ERR_TRUNCATE, "{} {} sent {} bytes where rank {} expects {}: {}", group(), peer, sent,
                    rank_, expected, kScheduleAdvice);
}

int Schedule::peer_of(int rank) const {
  return part_ == nullptr ? rank : comm_.group->rank_of(part_->world_rank(rank));
}

}  // namespace clump::coll
