// The forms of access: independent, collective, in the order of ranks, split; blocking or in the background.
#include <array>
#include <utility>
#include <vector>

#include "core/rank.h"
#include "io/agreement.h"
#include "io/background.h"
#include "io/exchange.h"
#include "io/file.h"
#include "io/file_request.h"

namespace clump::io {

namespace {

using base::Status;

/// The part of a call that waits.
class CallPart final : public Part {
 public:
  void end() override { completion.signal(); }
  fiber::Completion completion;
};

/// How far an access moves a pointer.
Status etypes_of(const View& view, const datatype::Layout& memory, Count& etypes) {
  Count bytes = memory.bytes();
  if (view.representation().converts())
    CLUMP_TRY(view.representation().bytes_in_file(*memory.type, memory.count, bytes));
  etypes = (bytes + view.etype_bytes() - 1) / view.etype_bytes();
  return {};
}

}  // namespace

Status Transaction::prepare(core::Rank& rank, Direction direction, const datatype::Layout& users,
                            base::Ref<const View> view, Count position) {
  const Representation& representation = view->representation();
  users_ = users;
  access.direction = direction;
  access.memory = users;
  access.bytes = users.bytes();
  access.position = position;
  access.view = std::move(view);
  if (!representation.converts()) return {};
  CLUMP_TRY(representation.bytes_in_file(*users.type, 1, item_bytes_));
  access.bytes = item_bytes_ * users.count;
  converted_.reset(new std::byte[static_cast<std::size_t>(access.bytes)]);
  access.memory = {converted_.get(), access.bytes, datatype::predefined(MPI_BYTE)};
  if (direction == Direction::kWrite)
    return representation.write({converted_.get(), access.bytes, item_bytes_}, users, rank);
  by_rank_only = representation.is_users();
  return {};
}

Status Transaction::finish(core::Rank& rank, Count done, core::Result& result) {
  result.bytes = done;
  if (converted_ == nullptr) return {};
  if (access.direction == Direction::kWrite) {
    result.bytes = item_bytes_ == 0 ? 0 : done / item_bytes_ * users_.type->size();
    return {};
  }
  const Representation& representation = access.view->representation();
  return representation.read(users_, {converted_.get(), done, item_bytes_}, rank, result.bytes);
}

Status File::check_direction(Direction direction) const {
  if (direction == Direction::kRead && (amode_ & MPI_MODE_WRONLY) != 0)
    return base::fail(MPI_ERR_ACCESS, "\"{}\" was opened with MPI_MODE_WRONLY, and cannot be read", name);
  if (direction == Direction::kWrite && (amode_ & MPI_MODE_RDONLY) != 0)
    return base::fail(MPI_ERR_READ_ONLY, "\"{}\" was opened with MPI_MODE_RDONLY, and cannot be written",
                      name);
  return {};
}

Status File::check_no_split() const {
  const std::lock_guard lock(mutex_);
  if (!split_) return {};
  return base::fail(
      MPI_ERR_OTHER,
      "{}_begin was called for this file, and its {}_end was not: no other collective call may come between",
      split_->call, split_->call);
}

Status File::take_place(const Operands& operands, const View& view, Count& position) {
  Count etypes = 0;
  CLUMP_TRY(etypes_of(view, operands.memory, etypes));
  const bool sequential = (amode_ & MPI_MODE_SEQUENTIAL) != 0;
  Count offset = operands.place.offset;
  switch (operands.place.pointer) {
    case Place::Pointer::kExplicit:
      if (offset < 0) return base::fail(MPI_ERR_ARG, "(offset = {}): it is negative", offset);
      break;
    case Place::Pointer::kOrdered:
      break;
    case Place::Pointer::kIndividual: {
      const std::lock_guard lock(mutex_);
      offset = pointer_;
      if (!sequential) pointer_ += etypes;
      break;
    }
    case Place::Pointer::kShared:
      offset = shared_.add(etypes);
      break;
  }
  if (sequential && (operands.place.pointer == Place::Pointer::kExplicit ||
                     operands.place.pointer == Place::Pointer::kIndividual))
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                      "the file was opened with MPI_MODE_SEQUENTIAL: only shared file pointers may be used");
  if (__builtin_mul_overflow(offset, view.etype_bytes(), &position))
    return base::fail(MPI_ERR_ARG, "(offset = {}): it lies beyond what an MPI_Offset can express", offset);
  return {};
}

Status File::prepare(const Operands& operands, Transaction& transaction) {
  CLUMP_TRY(check_direction(operands.direction));
  // Also of a rank that has no data itself: it may write that of others. relaxed: MPI_File_close, and what
  // begins an access in another thread, order this.
  if (operands.direction == Direction::kWrite && !opened_->is_written.load(std::memory_order_relaxed))
    opened_->is_written.store(true, std::memory_order_relaxed);
  const base::Ref<const View> view = this->view();
  Count position = 0;
  CLUMP_TRY(take_place(operands, *view, position));
  CLUMP_TRY(transaction.prepare(rank_, operands.direction, operands.memory, view, position));
  counters_.add(operands.direction == Direction::kRead ? core::AccessKind::kRead : core::AccessKind::kWrite,
                operands.memory.bytes());
  Access& access = transaction.access;
  Status outcome;
  Count end = 0;
  if (access.bytes % view->etype_bytes() != 0)
    outcome = base::fail(
        MPI_ERR_ARG, "(count, datatype): these are {} bytes, and no multiple of the {} bytes of the etype",
        access.bytes, view->etype_bytes());
  else if (__builtin_add_overflow(position, access.bytes, &end) || (access.bytes > 0 && !view->reaches(end)))
    outcome =
        base::fail(MPI_ERR_ARG,
                   "the access ends beyond the last byte that a file can have, or the filetype has no bytes");
  if (!outcome.ok()) access.bytes = 0;
  return outcome;
}

Status File::access(const Operands& operands, core::Result& result) {
  Transaction transaction;
  CLUMP_TRY(prepare(operands, transaction));
  Count done = 0;
  const Status outcome = transfer_locked(*opened_, transaction.access, atomic(), done);
  CLUMP_TRY(transaction.finish(rank_, done, result));
  return outcome;
}

Status File::begin_access(const Operands& operands, MPI_Request* request) {
  auto owned = std::make_unique<FileRequest>(base::Ref(this), rank_, *operands.memory.type);
  FileRequest& operation = *owned;
  CLUMP_TRY(prepare(operands, operation.transaction));
  if (operation.transaction.by_rank_only) operation.kind = core::Request::Kind::kFile;
  operation.Part::access = operation.transaction.access;
  *request = rank_.add(std::move(owned));
  opened_->begin_use();
  const auto work = [&operation, opened = opened_, is_atomic = atomic()] {
    operation.Part::status = transfer_locked(*opened, operation.Part::access, is_atomic, operation.done);
    operation.end();
    opened->end_use();
  };
  // In an explored run nothing happens that the seed does not draw. What goes to a stream goes there in the
  // order of the calls.
  if (opened_->target.is_stream || rank_.is_explored() || !do_in_background(work)) work();
  return {};
}

Manner File::manner(Direction direction) const {
  return {direction, direction == Direction::kRead ? hints.reading : hints.writing, hints.buffer_bytes,
          atomic()};
}

/// Collective. A rank whose arguments are wrong comes, too, so that none waits for it.
Status File::together(Transaction& transaction, Status prepared, core::Result& result) {
  CallPart part;
  part.access = transaction.access;
  part.status = prepared;
  const bool alone = is_in_one_process();
  const std::uint64_t number = rounds_++;
  std::unique_ptr<Round> round =
      alone ? meet(*opened_, number, comm_->rank, part) : meet_as_leader(*opened_, number, comm_->rank, part);
  if (round == nullptr) {
    part.completion.wait();
  } else {
    const Manner how = manner(transaction.access.direction);
    const Status outcome = alone ? run_here(*opened_, *round, how)
                                 : exchange(*opened_, *leaders_, *round, how, hints.aggregators);
    round->end(outcome, &part);
  }
  if (!part.status.ok()) return part.status;
  return transaction.finish(rank_, part.done, result);
}

Status File::access_together(const Operands& operands, core::Result& result) {
  Transaction transaction;
  transaction.access.direction = operands.direction;
  Status prepared = check_no_split();
  if (prepared.ok()) prepared = prepare(operands, transaction);
  return together(transaction, prepared, result);
}

Status File::begin_access_together(const Operands& operands, MPI_Request* request) {
  auto owned = std::make_unique<FileRequest>(base::Ref(this), rank_, *operands.memory.type);
  FileRequest& operation = *owned;
  operation.transaction.access.direction = operands.direction;
  operation.Part::status = prepare(operands, operation.transaction);
  if (operation.transaction.by_rank_only) operation.kind = core::Request::Kind::kFile;
  operation.Part::access = operation.transaction.access;
  *request = rank_.add(std::move(owned));
  const Manner how = manner(operands.direction);
  const std::uint64_t number = rounds_++;
  if (exchanges_ != nullptr) {
    exchanges_->add({number, &operation, how, hints.aggregators});
    return {};
  }
  if (!is_in_one_process()) {  // for its leader
    static_cast<void>(meet_as_leader(*opened_, number, comm_->rank, operation));
    return {};
  }
  std::shared_ptr<Round> round = meet(*opened_, number, comm_->rank, operation);
  if (round == nullptr) return {};
  // The last rank to come.
  const auto work = [round, opened = opened_, how] { round->end(run_here(*opened, *round, how), nullptr); };
  if (rank_.is_explored() || !do_in_background(work)) work();
  return {};
}

/// Where a rank's part begins in the order of ranks, in etypes; moves the shared pointer. Collective.
Status File::positions_in_order(const Operands& operands, Count& position) {
  const base::Ref<const View> view = this->view();
  Count mine = 0;
  const Status counted = etypes_of(*view, operands.memory, mine);
  std::vector<Count> all(static_cast<std::size_t>(comm_->size()));
  CLUMP_TRY(allgather(*comm_, mine, std::span(all)));
  Count before = 0, total = 0;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (static_cast<int>(rank) < comm_->rank) before += all[rank];
    total += all[rank];
  }
  Count base = 0;
  if (comm_->rank == 0) base = shared_.add(total);
  CLUMP_TRY(share(*comm_, base));
  position = base + before;
  return counted;
}

Status File::access_in_order(const Operands& operands, core::Result& result) {
  Transaction transaction;
  transaction.access.direction = operands.direction;
  Status prepared = check_no_split();
  if (prepared.ok() && opened_->target.is_stream && !is_in_one_process())
    prepared =
        base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                   "\"{}\" is a pipe or the like, and the ranks of the file are in several processes, which "
                   "cannot write or read there in the order of ranks: use the calls that end in _shared",
                   name);
  Operands placed = operands;
  const Status positioned = positions_in_order(operands, placed.place.offset);
  if (prepared.ok()) prepared = positioned;
  placed.place.pointer = Place::Pointer::kOrdered;
  if (prepared.ok()) prepared = prepare(placed, transaction);
  return together(transaction, prepared, result);
}

Status File::begin_split(const char* call, const Operands& operands, bool ordered) {
  CLUMP_TRY(check_no_split());
  Split split{.call = call};
  // Ranks that agree about their order wait for each other, which the standard allows in the first half as
  // well as in the second.
  if (ordered)
    split.outcome = access_in_order(operands, split.result);
  else
    split.outcome = begin_access_together(operands, &split.request);
  const std::lock_guard lock(mutex_);
  split_ = split;
  return {};
}

Status File::end_split(const char* call, core::Result& result) {
  Split split;
  {
    const std::lock_guard lock(mutex_);
    if (!split_ || split_->call != call)
      return base::fail(MPI_ERR_OTHER, "no {}_begin was called that could be ended{}", call,
                        split_ ? fmt::format("; the active one is {}_begin", split_->call) : "");
    split = *std::exchange(split_, std::nullopt);
  }
  result = split.result;
  if (split.request == MPI_REQUEST_NULL) return split.outcome;
  core::Request* const operation = rank_.request(split.request);
  operation->wait();
  if (operation->is_to_be_asked()) operation->ask(false);
  result = operation->result;
  static_cast<void>(rank_.remove(split.request));
  const auto outcome = Status::from_code(result.error);
  result.error = MPI_SUCCESS;
  return outcome;
}

}  // namespace clump::io
