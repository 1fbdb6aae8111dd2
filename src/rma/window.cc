#include "rma/window.h"

#include <algorithm>
#include <mutex>

#include "coll/schedule/agree.h"
#include "core/request.h"
#include "rma/coverage.h"
#include "rma/direct.h"
#include "rma/facts.h"
#include "rma/messages.h"
#include "rma/window_checks.h"

namespace clump::rma {

using base::Status;
using datatype::Layout;
using datatype::PredefinedOp;

namespace {

/// The request of an operation that is complete.
Status done(MPI_Request* request) {
  if (request != nullptr) *request = core::kCompletedRequest;
  return {};
}

}  // namespace

Window::Window(core::Rank& its_owner, base::Ref<core::Comm> its_comm, int its_flavor)
    : core::Window(its_owner, its_comm->group),
      flavor(its_flavor),
      comm(std::move(its_comm)),
      counters_(core::access_counters_of(its_owner)),
      number_(its_owner.number) {
  comm->name.set("a window");
  AllWindows::add(*this);
}

Window::~Window() {
  AllWindows::remove(*this);
  delete[] held_.load(std::memory_order_relaxed);
}

std::string Window::description() const {
  const std::string given = name.get();
  return given.empty() ? "the window" : fmt::format("window '{}'", given);
}

std::string Window::name_of(int rank) const { return fmt::format("rank {} of {}", rank, description()); }

Status Window::not_a_rank(const char* argument, int rank) const {
  return base::fail(MPI_ERR_RANK, "({} = {}): {} has ranks 0 to {}", argument, rank, description(),
                    ranks() - 1);
}

Status Window::not_in_epoch(int rank) const {
  const char* advice =
      "call MPI_Win_fence, MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all before, and what ends that after "
      "it";
  if (access_ == Access::kLocks)
    return base::fail(MPI_ERR_RMA_SYNC,
                      "(target_rank = {}): rank {} has locked other ranks of {}, but not this one: call "
                      "MPI_Win_lock(..., {}, ...) before",
                      rank, this->rank(), description(), rank);
  if (access_ == Access::kStarted)
    return base::fail(
        MPI_ERR_RMA_SYNC,
        "(target_rank = {}): it is not in the group with which rank {} has called MPI_Win_start "
        "on {}",
        rank, this->rank(), description());
  return base::fail(MPI_ERR_RMA_SYNC, "(target_rank = {}): rank {} has no access epoch on {}: {}", rank,
                    this->rank(), description(), advice);
}

Status Window::check_other_access(int rank) {
  switch (access_) {
    case Access::kLocks:
      return not_in_epoch(rank);
    case Access::kAll:
      if (!all_unchecked_) touch(rank);
      return {};
    case Access::kStarted:
      return is_started_[static_cast<std::size_t>(rank)] ? Status() : not_in_epoch(rank);
    case Access::kNone:
      break;
  }
  if (!fenced_) return not_in_epoch(rank);
  fence_used_.store(true, std::memory_order_relaxed);
  return {};
}

Status Window::out_of_range(const Place& place, Count first, Count bytes) const {
  const Target& there = target(place.rank);
  return base::fail(MPI_ERR_RMA_RANGE,
                    "(target_rank = {}, target_disp = {}): rank {} names {} bytes from byte {} on, and rank "
                    "{} has {} bytes in "
                    "{} (displacement unit {})",
                    place.rank, place.displacement, rank(), bytes, first, place.rank, there.size,
                    description(), there.unit);
}

Status Window::not_committed(const Place& place) const {
  return base::fail(MPI_ERR_TYPE, "(target_datatype): it is {}, which is not committed: call MPI_Type_commit",
                    place.type.description());
}

Status Window::unequal(const Place& place, Count bytes) const {
  return base::fail(
      MPI_ERR_TRUNCATE,
      "(target_rank = {}, target_disp = {}): the origin, rank {}, has {} bytes, and {} elements of "
      "{} at the target have {}",
      place.rank, place.displacement, rank(), bytes, place.count, place.type.description(),
      place.count * place.type.size());
}

Status Window::negative(const Place& place) const {
  return base::fail(MPI_ERR_DISP, "(target_disp = {}): it is negative; {} of rank {} begins at 0",
                    place.displacement, description(), place.rank);
}

namespace {

/// The bytes from the first to the last one of a place's data; `first` is seen from the place's offset.
struct Extent {
  Count first, bytes;
};

Extent extent_of(const Place& place, Count bytes) {
  if (place.type.is_dense()) [[likely]]
    return {0, bytes};
  const Count last = (place.count - 1) * place.type.extent();
  return {place.type.true_lb() + std::min<Count>(last, 0), place.type.true_extent() + std::max(last, -last)};
}

}  // namespace

[[gnu::always_inline]] inline Status Window::find_place(const Place& place, Count bytes, Count& offset) {
  CLUMP_TRY(check_access(place.rank));
  if (!place.type.committed()) [[unlikely]]
    return not_committed(place);
  if (place.count * place.type.size() != bytes) [[unlikely]]
    return unequal(place, bytes);
  if (flavor == MPI_WIN_FLAVOR_DYNAMIC) [[unlikely]] {
    offset = place.displacement;
    return find_attached(place, bytes);
  }
  const Target& there = target(place.rank);
  if (place.displacement < 0 && bytes > 0) [[unlikely]]
    return negative(place);
  if (__builtin_mul_overflow(place.displacement, there.unit, &offset)) [[unlikely]]
    return out_of_range(place, place.displacement, bytes);
  if (bytes == 0) return {};
  const Extent extent = extent_of(place, bytes);
  const Count first = offset + extent.first;
  return first < 0 || extent.bytes > there.size || first > there.size - extent.bytes
             ? out_of_range(place, first, extent.bytes)
             : Status();
}

/// Whether the target has attached the memory, as far as is known here.
Status Window::find_attached(const Place& place, Count bytes) const {
  const Target& there = target(place.rank);
  if (bytes == 0 || there.attached == nullptr) return {};
  if (there.attached->holds({reinterpret_cast<void*>(place.displacement), place.count, &place.type}))
    return {};
  return base::fail(
      MPI_ERR_RMA_RANGE,
      "(target_rank = {}, target_disp = {:#x}): rank {} names {} bytes there, which rank {} has not "
      "attached to {}, or not all of them (MPI_Win_attach)",
      place.rank, place.displacement, rank(), bytes, place.rank, description());
}

Layout Window::layout_at(const Target& target, const Place& place, Count offset) {
  const auto base = reinterpret_cast<std::uintptr_t>(target.base) + static_cast<std::uintptr_t>(offset);
  return {reinterpret_cast<void*>(base), place.count, &place.type};
}

Status Window::no_memory(const Place& place, Count offset) const {
  return base::fail(
      MPI_ERR_RMA_RANGE,
      "(target_rank = {}, target_disp = {}): rank {} cannot reach {} bytes from byte {:#x} on in rank "
      "{}'s part of {}: there is no such memory, or no longer",
      place.rank, place.displacement, rank(), place.count * place.type.size(), offset, place.rank,
      description());
}

Status Window::put(const Layout& from, const Place& to, MPI_Request* request) {
  CLUMP_TRY(check_rank("target_rank", to.rank));
  if (to.rank == MPI_PROC_NULL) return done(request);
  Count offset = 0;
  const Count bytes = from.bytes();
  CLUMP_TRY(find_place(to, bytes, offset));
  const Target& there = target(to.rank);
  if (bytes == 0) return done(request);
  CLUMP_TRY(check_conflicts(OpenAccess::Kind::kPut, to, offset));
  counters_.add(core::AccessKind::kPut, bytes);
  if (there.reach == Reach::kMemory) [[likely]] {
    copy_here(layout_at(there, to, offset), from, bytes);
    has_written_ = true;
    return done(request);
  }
  if (there.reach == Reach::kMessages) return messages_->put(from, to, offset, request);
  if (!direct_put(there, layout_at(there, to, offset), from)) return no_memory(to, offset);
  has_written_ = true;
  return done(request);
}

Status Window::get(const Layout& to, const Place& from, MPI_Request* request) {
  CLUMP_TRY(check_rank("target_rank", from.rank));
  if (from.rank == MPI_PROC_NULL) return done(request);
  Count offset = 0;
  const Count bytes = to.bytes();
  CLUMP_TRY(find_place(from, bytes, offset));
  const Target& there = target(from.rank);
  if (bytes == 0) return done(request);
  CLUMP_TRY(check_conflicts(OpenAccess::Kind::kGet, from, offset));
  counters_.add(core::AccessKind::kGet, bytes);
  if (there.reach == Reach::kMemory) [[likely]] {
    copy_here(to, layout_at(there, from, offset), bytes);
    return done(request);
  }
  if (there.reach == Reach::kMessages) return messages_->get(to, from, offset, request);
  if (!direct_get(there, layout_at(there, from, offset), to)) return no_memory(from, offset);
  return done(request);
}

Status Window::find_operation(const Layout& origin, const Place& place, PredefinedOp op,
                              Operation& found) const {
  const datatype::Datatype* const element = place.type.element();
  if (element == nullptr)
    return base::fail(
        MPI_ERR_TYPE,
        "(target_datatype = {}): an accumulate needs a predefined type, or one that consists of "
        "elements of one predefined type",
        place.type.description());
  if (op != PredefinedOp::kNoOp && origin.type->element() != element &&
      (origin.type->element() == nullptr || origin.type->element()->signature() != element->signature()))
    return base::fail(
        MPI_ERR_TYPE,
        "(origin_datatype = {}, target_datatype = {}): an accumulate needs the same predefined type "
        "at origin and target",
        origin.type->description(), place.type.description());
  found.element = element;
  if (op == PredefinedOp::kReplace || op == PredefinedOp::kNoOp) return {};
  found.kernel = datatype::kernel(op, *element);
  if (found.kernel != nullptr) return {};
  return base::fail(MPI_ERR_OP, "(op = {}, target_datatype = {}): the operation is not defined on this type",
                    datatype::name_of(op), place.type.description());
}

Status Window::combine(const Combination& what, const Place& with, MPI_Request* request) {
  CLUMP_TRY(check_rank("target_rank", with.rank));
  if (with.rank == MPI_PROC_NULL) return done(request);
  const bool reads = what.op != PredefinedOp::kNoOp;
  const bool tells = what.result.type != nullptr;
  Operation operation;
  const Count bytes = reads ? what.operand.bytes() : with.count * with.type.size();
  if (bytes > 0) CLUMP_TRY(find_operation(what.operand, with, what.op, operation));
  const datatype::Datatype* const element = operation.element;
  Count offset = 0;
  CLUMP_TRY(find_place(with, bytes, offset));
  if (tells && what.result.bytes() != bytes)
    return base::fail(MPI_ERR_TRUNCATE,
                      "(result_count): the result has room for {} bytes, and the target has {}",
                      what.result.bytes(), bytes);
  const Target& there = target(with.rank);
  if (bytes == 0 || (!reads && !tells)) return done(request);
  CLUMP_TRY(check_conflicts(reads ? OpenAccess::Kind::kAccumulate : OpenAccess::Kind::kFetch, with, offset,
                            element));
  counters_.add(core::AccessKind::kAccumulate, bytes);
  if (there.reach == Reach::kMessages) return messages_->combine(what, *element, with, offset, request);
  const auto is_plain = [&](const Layout& one) { return one.type == element; };
  if (there.reach == Reach::kMemory && bytes == element->size() && &with.type == element &&
      element->is_dense() && (!reads || is_plain(what.operand)) && (!tells || is_plain(what.result))) {
    combine_one_here(there, static_cast<std::byte*>(layout_at(there, with, offset).base), offset,
                     {*element, what.op, operation.kernel, static_cast<const std::byte*>(what.operand.base),
                      tells ? static_cast<std::byte*>(what.result.base) : nullptr});
    has_written_ = true;
    return done(request);
  }
  const Layout nothing{nullptr, 0, element};
  const Elements operand(reads ? what.operand : nothing, *element, true);
  Elements result(tells ? what.result : nothing, *element, false);
  const Work work{*element, what.op, operation.kernel, operand.data(), result.data()};
  if (!direct_combine(there, layout_at(there, with, offset), offset, work)) return no_memory(with, offset);
  has_written_ = true;
  result.write_back();
  return done(request);
}

Status Window::compare_and_swap(const void* value, const void* expected, void* result, const Place& with) {
  CLUMP_TRY(check_rank("target_rank", with.rank));
  if (with.rank == MPI_PROC_NULL) return {};
  using Class = datatype::Class;
  const Class kind = with.type.kind();
  if (kind != Class::kInteger && kind != Class::kUnsigned && kind != Class::kFortranInteger &&
      kind != Class::kLogical && kind != Class::kByte && kind != Class::kMultiLanguage &&
      kind != Class::kCharacter)
    return base::fail(MPI_ERR_TYPE,
                      "(datatype = {}): an integer, a logical, a byte or a multi-language type is needed",
                      with.type.description());
  Count offset = 0;
  CLUMP_TRY(find_place(with, with.type.size(), offset));
  CLUMP_TRY(check_conflicts(OpenAccess::Kind::kAccumulate, with, offset, &with.type));
  counters_.add(core::AccessKind::kAccumulate, with.type.size());
  const Target& there = target(with.rank);
  if (there.reach == Reach::kMessages) {
    const auto bytes = static_cast<std::size_t>(with.type.size());
    std::array<std::byte, 64> both;
    std::memcpy(both.data(), value, bytes);
    std::memcpy(both.data() + bytes, expected, bytes);
    return messages_->compare_and_swap(both.data(), result, with, offset);
  }
  auto* const place = static_cast<std::byte*>(layout_at(there, with, offset).base);
  if (!direct_compare_and_swap(there, place, offset, with.type, value, expected, result))
    return no_memory(with, offset);
  has_written_ = true;
  return {};
}

Status Window::query(int rank, MPI_Aint& size, Count& unit, void*& base) {
  CLUMP_TRY(check_rank("rank", rank));
  if (flavor == MPI_WIN_FLAVOR_DYNAMIC)
    return base::fail(MPI_ERR_RMA_FLAVOR, "(win): {} is dynamic, so no rank has memory of its own in it",
                      description());
  if (rank == MPI_PROC_NULL) {
    const auto& all = map_->targets;
    // The lowest rank that has memory, whether it can be accessed from here or not (MPI-5.0 section 12.2.3).
    const auto first = std::ranges::find_if(all, [](const Target& one) { return one.size > 0; });
    if (first == all.end()) return size = 0, unit = 1, base = nullptr, Status();
    rank = static_cast<int>(first - all.begin());
  }
  const Target& there = target(rank);
  const bool is_shared = there.reach == Reach::kMemory;
  size = is_shared ? there.size : 0;
  unit = there.unit;
  base = is_shared ? there.base : nullptr;
  if (size > 0) add_addressed(rank);
  return {};
}

Status Window::attach(void* base, MPI_Aint size) {
  if (flavor != MPI_WIN_FLAVOR_DYNAMIC)
    return base::fail(MPI_ERR_RMA_FLAVOR, "(win): {} was not made by MPI_Win_create_dynamic", description());
  if (size < 0) return base::fail(MPI_ERR_SIZE, "(size = {}): it is negative", size);
  if (base == nullptr && size > 0)
    return base::fail(MPI_ERR_BASE, "(base = NULL): there is no memory to attach, but size is {}", size);
  const auto begin = reinterpret_cast<std::uintptr_t>(base);
  const auto end = begin + static_cast<std::uintptr_t>(size);
  const std::lock_guard lock(attached_mutex_);
  for (const Attached::Piece& piece : attached_)
    if (size > 0 && begin < piece.end && piece.begin < end)
      return base::fail(
          MPI_ERR_RMA_ATTACH,
          "(base = {}, size = {}): memory of it is attached to {} already, as {} bytes at {:#x}: call "
          "MPI_Win_detach before",
          base, size, description(), piece.end - piece.begin, piece.begin);
  attached_.push_back({begin, end});
  mine().attached->list(attached_);
  return {};
}

Status Window::detach(const void* base) {
  if (flavor != MPI_WIN_FLAVOR_DYNAMIC)
    return base::fail(MPI_ERR_RMA_FLAVOR, "(win): {} was not made by MPI_Win_create_dynamic", description());
  const std::lock_guard lock(attached_mutex_);
  const auto begin = reinterpret_cast<std::uintptr_t>(base);
  const auto found =
      std::ranges::find_if(attached_, [&](const Attached::Piece& piece) { return piece.begin == begin; });
  if (found == attached_.end())
    return base::fail(MPI_ERR_BASE, "(base = {}): no memory that begins there is attached to {}",
                      base == nullptr ? "NULL" : fmt::format("{}", base), description());
  attached_.erase(found);
  mine().attached->list(attached_);
  return {};
}

bool Window::holds(const Layout& place) {
  if (flavor != MPI_WIN_FLAVOR_DYNAMIC || place.count == 0 || place.type == nullptr) return true;
  const datatype::Reach reach = datatype::reach_of(place);
  std::vector<Attached::Piece> pieces;
  {
    const std::lock_guard lock(attached_mutex_);
    if (covers(attached_, static_cast<std::uintptr_t>(reach.begin), static_cast<std::uintptr_t>(reach.end)))
      return true;
    if (place.type->is_dense()) return false;
    pieces = attached_;
  }
  return covers_blocks(pieces, place);
}

void Window::end_job(int origin, const char* wrong) {
  const core::World& world = owner.world;
  if (world.abort_job == nullptr) return;
  world.abort_job(owner.number, MPI_ERR_INTERN,
                  fmt::format("rank {} has sent a one-sided operation for {} that no rank sends: {} is wrong",
                              origin, description(), wrong));
}

Status Window::may_be_freed() const {
  if (access_ != Access::kNone || posted_ || (fenced_ && fence_used_)) {
    const char* const open = posted_                       ? "an exposure epoch: call MPI_Win_wait"
                             : access_ == Access::kStarted ? "an access epoch: call MPI_Win_complete"
                             : access_ == Access::kLocks   ? "locks: call MPI_Win_unlock"
                             : access_ == Access::kAll     ? "a lock of all: call MPI_Win_unlock_all"
                                                           : "operations after a fence: call MPI_Win_fence";
    return base::fail(MPI_ERR_RMA_SYNC, "(win): rank {} still has on {} {} before", rank(), description(),
                      open);
  }
  return {};
}

Status Window::finish() {
  Status flushed;
  if (messages_ != nullptr) flushed = messages_->flush(-1);
  CLUMP_TRY(coll::synchronize(coll::Members(*comm, coll::Caller::kWinFree)));
  if (messages_ != nullptr) messages_->stop();
  return flushed;
}

}  // namespace clump::rma
