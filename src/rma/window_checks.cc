#include "rma/window_checks.h"

#include <algorithm>
#include <utility>

#include "base/readable.h"
#include "datatype/fingerprint.h"

namespace clump::rma {

using base::Status;
using core::BufferInUse;
using core::Site;
using datatype::Layout;

namespace {

using Kind = OpenAccess::Kind;

Site site_now() { return Site::current != nullptr ? *Site::current : Site(); }

std::string words_of(const core::World& world, const Site& site) {
  return (site.call != nullptr ? site.call : "a call") + world.at(site);
}

const char* word_of(Kind kind) {
  static constexpr const char* kWords[] = {"writes",  "reads", "accumulates into",
                                           "fetches", "reads", "writes"};
  return kWords[static_cast<std::size_t>(kind)];
}

/// "rank 1 writes bytes 8 to 15: MPI_Put at solver.c:12".
std::string line_of(const core::World& world, const OpenAccess& access) {
  const datatype::Reach reach = datatype::reach_of(access.place);
  return fmt::format("rank {} {} {} {} to {}: {}", access.origin, word_of(access.kind),
                     access.place.type->is_dense() ? "bytes" : "of bytes", reach.begin, reach.end - 1,
                     words_of(world, access.site));
}

Status conflict(const std::string& whose, const std::string& first, const std::string& second) {
  return base::fail(
      MPI_ERR_RMA_CONFLICT,
      "two accesses to the same bytes of {} are not ordered\n  {}\n  {}\n  what comes between them has to "
      "end the first one, and the second rank has to learn of it: a fence, MPI_Win_wait of the target, or "
      "MPI_Win_flush or MPI_Win_unlock and a message; or both are accumulates with one datatype",
      whose, first, second);
}

/// Whether all of the memory can be read: the program may have freed it.
bool is_there(const Layout& data) {
  constexpr std::int64_t kMost = std::int64_t{64} << 20;  // the kernel is asked for each page
  const datatype::Reach reach = datatype::reach_of(data);
  const std::int64_t bytes = reach.end - reach.begin;
  return bytes <= kMost && base::readable_bytes(reach.begin, bytes) == bytes;
}

}  // namespace

/// The buffers of an operation that is not complete at its origin.
struct WindowChecks::Origin {
  struct Buffer {
    BufferInUse use;
    std::optional<std::uint64_t> fingerprint;  // none: it is not known what it shall be
  };
  std::vector<std::unique_ptr<Buffer>> buffers;  // those that were claimed
  int target = 0;
  std::uint64_t number = 0;
  std::uint64_t told = 0;                  // Telling::told in the call
  const core::Request* request = nullptr;  // only compared
};

WindowChecks::WindowChecks(Window& window) : window_(window) {}

WindowChecks::~WindowChecks() {
  for (const auto& origin : origins_) release(*origin);
}

void WindowChecks::release(Origin& origin) {
  for (const auto& buffer : origin.buffers) window_.owner.buffers_in_use->remove(buffer->use);
}

Status WindowChecks::Operation::claim() {
  WindowChecks& checks = checks_;
  {
    const std::lock_guard lock(checks.mutex_);
    number_ = ++checks.operations_;
    checks.inner_used_ |= checks.inner_.call != nullptr;
  }
  origin_ = new Origin{.target = target_, .number = number_, .told = checks.window_.owner.telling.told};
  const auto claim = [&](const Layout& data, const char* what, bool is_written) -> Status {
    if (data.type == nullptr || data.bytes() == 0) return {};
    auto buffer = std::make_unique<Origin::Buffer>();
    buffer->use = {data, site_now(), what, is_written, {}};
    if (!data.type->is_predefined()) buffer->use.type.fill(data.type);
    CLUMP_TRY(core::claim_buffer(checks.window_.owner, buffer->use));
    origin_->buffers.push_back(std::move(buffer));
    return {};
  };
  for (const Layout& read : buffers_.read) CLUMP_TRY(claim(read, "origin buffer", false));
  return claim(buffers_.written, "result buffer", true);
}

WindowChecks::Operation::~Operation() {
  current = nullptr;
  if (origin_ == nullptr) return;
  checks_.release(*origin_);
  delete origin_;
}

void WindowChecks::Operation::begun(MPI_Request* request) {
  if (origin_ == nullptr) return;  // it moves nothing
  std::unique_ptr<Origin> origin(std::exchange(origin_, nullptr));
  Window& window = checks_.window_;
  if (request != nullptr && *request == core::kCompletedRequest) {
    auto made = std::make_unique<OperationRequest>(window, target_);
    origin->request = made.get();
    made->complete();
    *request = window.owner.add(std::move(made));
  } else if (request != nullptr) {
    origin->request = window.owner.request(*request);
  }
  // What a message will bring is not known yet.
  const bool is_done = window.target(target_).reach != Reach::kMessages;
  for (const auto& buffer : origin->buffers)
    if ((is_done || !buffer->use.is_written) && is_there(buffer->use.data))
      buffer->fingerprint = datatype::fingerprint(buffer->use.data);
  const std::lock_guard lock(checks_.mutex_);
  checks_.origins_.push_back(std::move(origin));
}

Status WindowChecks::give_back(Origin& origin, Epoch epoch) {
  release(origin);
  const core::Rank& owner = window_.owner;
  // Whether others cannot know that it is complete. Of a lock: because nothing has been called since but what
  // completes it.
  const bool is_kept =
      epoch == Epoch::kFence ||
      (epoch == Epoch::kLocks && owner.telling.told.load(std::memory_order_relaxed) <= origin.told + 1);
  for (const auto& buffer : origin.buffers) {
    const auto& [use, fingerprint] = *buffer;
    if (is_kept)
      for (const base::Ref<core::Window>& one : owner.all_windows())
        CLUMP_TRY(static_cast<Window&>(*one).checks()->look_at_own(use, true));
    if (!fingerprint) continue;
    const bool is_freed = !is_there(use.data);
    if (!is_freed && datatype::fingerprint(use.data) == *fingerprint) continue;
    return base::fail(MPI_ERR_BUFFER,
                      "the {} {} while it was MPI's\n  it was given to {}\n  and is the program's again with "
                      "{}\n  it must not be {} before the operation is complete",
                      use.what, is_freed ? "was freed" : "has changed", use.words(owner.world),
                      words_of(owner.world, site_now()), is_freed ? "freed" : "written");
  }
  return {};
}

Status WindowChecks::give_back(int target, Epoch epoch) {
  std::list<std::unique_ptr<Origin>> done;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = origins_.begin(); at != origins_.end();) {
      const auto one = at++;
      if (target < 0 || (*one)->target == target) done.splice(done.end(), origins_, one);
    }
  }
  Status outcome;
  for (const auto& origin : done)
    if (const Status one = give_back(*origin, epoch); outcome.ok()) outcome = one;
  return outcome;
}

Status WindowChecks::complete(int target, Completes what) {
  window_.map_->conflicts->end(
      window_.owner.telling, window_.rank(), target, window_.fences_,
      what == Completes::kLocally ? Conflicts::Which::kReads : Conflicts::Which::kAll);
  return give_back(target, Epoch::kLocks);
}

Status WindowChecks::complete(const core::Request& request) {
  std::unique_ptr<Origin> origin;
  {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find_if(origins_, [&](const auto& one) { return one->request == &request; });
    if (at == origins_.end()) return {};
    origin = std::move(*at);
    origins_.erase(at);
  }
  window_.map_->conflicts->end_operation(window_.owner.telling, window_.rank(), origin->number);
  return give_back(*origin, Epoch::kLocks);
}

Status WindowChecks::check_stores(int assertions) const {
  if ((assertions & MPI_MODE_NOSTORE) == 0 || !stored_) return {};
  return base::fail(
      MPI_ERR_ASSERT,
      "(assert): MPI_MODE_NOSTORE says that rank {} has not written to its memory of {} since it "
      "last synchronised it, and {} has",
      window_.rank(), window_.description(), words_of(window_.owner.world, *stored_));
}

Status WindowChecks::before_fence(int assertions) {
  // All ranks come to a fence before any leaves it.
  if (window_.comm->has_whole_world()) window_.owner.telling.told.fetch_sub(1, std::memory_order_relaxed);
  if ((assertions & MPI_MODE_NOPUT) != 0)
    window_.map_->conflicts->promise_no_puts(window_.rank(), {site_now(), window_.fences_ + 1, false});
  // Not after the fence: a rank that leaves it earlier may already access memory of this one.
  CLUMP_TRY(give_back(-1, Epoch::kFence));
  const std::lock_guard lock(mutex_);
  CLUMP_TRY(check_stores(assertions));
  const bool no_precede = (assertions & MPI_MODE_NOPRECEDE) != 0;
  if (no_precede && window_.fence_used_)
    return base::fail(
        MPI_ERR_ASSERT,
        "(assert): MPI_MODE_NOPRECEDE says that rank {} has called no operations on {} since the "
        "fence before, and it has",
        window_.rank(), window_.description());
  if (no_precede || !inner_used_ || fence_.call == nullptr) return {};
  return base::fail(MPI_ERR_RMA_SYNC,
                    "(win): rank {} has called operations on {} after {}, in the epoch that {} has begun and "
                    "this call ends: epochs must not overlap; pass MPI_MODE_NOSUCCEED to the first fence, or "
                    "MPI_MODE_NOPRECEDE to this one",
                    window_.rank(), window_.description(), words_of(window_.owner.world, inner_),
                    words_of(window_.owner.world, fence_));
}

void WindowChecks::after_fence(int assertions) {
  if (window_.comm->has_whole_world()) window_.owner.telling.joined.fetch_add(1, std::memory_order_relaxed);
  window_.map_->conflicts->end(window_.owner.telling, window_.rank(), -1, window_.fences_);
  const std::lock_guard lock(mutex_);
  stored_.reset();
  fence_ = (assertions & MPI_MODE_NOSUCCEED) == 0 ? site_now() : Site();
  inner_ = {};
  inner_used_ = false;
}

void WindowChecks::before_epoch() {
  const std::lock_guard lock(mutex_);
  if (inner_.call == nullptr) inner_ = site_now();
}

Status WindowChecks::before_lock() {
  before_epoch();
  if (window_.info.get("no_locks") != "true") return {};
  return base::fail(MPI_ERR_RMA_SYNC,
                    "(win): {} was made with the hint no_locks = true, which promises that no rank locks it",
                    window_.description());
}

void WindowChecks::after_lock(int rank) {
  if (rank == window_.rank()) return synchronised();
  if (rank < 0) window_.map_->conflicts->locked(window_.rank());
}

void WindowChecks::unlocked_all() {
  const std::lock_guard lock(mutex_);
  stored_.reset();
}

Status WindowChecks::before_complete() {
  for (const int one : window_.started_.elsewhere)
    window_.map_->conflicts->end(window_.owner.telling, window_.rank(), one, window_.fences_);
  return give_back(-1, Epoch::kGroup);
}

Status WindowChecks::before_post(int assertions) {
  if ((assertions & MPI_MODE_NOPUT) != 0)
    window_.map_->conflicts->promise_no_puts(window_.rank(), {site_now(), 0, true});
  const std::lock_guard lock(mutex_);
  const Status outcome = check_stores(assertions);
  stored_.reset();
  return outcome;
}

void WindowChecks::after_wait() {
  window_.map_->conflicts->end_started(window_.rank());
  const std::lock_guard lock(mutex_);
  stored_.reset();
}

void WindowChecks::synchronised() {
  window_.map_->conflicts->synchronised(window_.rank());
  const std::lock_guard lock(mutex_);
  stored_.reset();
}

Status WindowChecks::look_at_own(const BufferInUse& use, bool keep) {
  const Target& mine = window_.mine();
  const bool is_dynamic = window_.flavor == MPI_WIN_FLAVOR_DYNAMIC;
  const auto base = is_dynamic ? 0 : reinterpret_cast<std::intptr_t>(mine.base);
  const datatype::Reach reach = datatype::reach_of(use.data);
  if (is_dynamic ? !window_.meets_attached(reach) : !reach.meets({base, base + mine.size})) return {};
  // The program may lay blocks of a derived type around the memory.
  const Layout own{mine.base, mine.size, datatype::predefined(MPI_BYTE)};
  if (!is_dynamic && !use.data.type->is_dense() && !datatype::overlap(use.data, own)) return {};
  OpenAccess access{.kind = use.is_written ? Kind::kStore : Kind::kLoad,
                    .origin = window_.rank(),
                    .by = &window_.owner.telling,
                    .place = use.data,
                    .type = use.type,
                    .fence = window_.fences_,
                    .site = use.site,
                    .is_over = true,
                    .since = Learnt::of(window_.owner.telling)};
  access.place.base = reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(use.data.base) - base);
  if (!access.type && !use.data.type->is_predefined()) access.type.fill(use.data.type);
  if (use.is_written) {
    const std::lock_guard lock(mutex_);
    stored_ = use.site;
  }
  Conflicts& conflicts = *window_.map_->conflicts;
  const auto other = keep ? conflicts.add(window_.rank(), access) : conflicts.find(window_.rank(), access);
  if (!other) return {};
  const core::World& world = window_.owner.world;
  return conflict(window_.name_of(window_.rank()), line_of(world, *other), line_of(world, access));
}

bool Window::meets_attached(const datatype::Reach& reach) {
  const std::lock_guard lock(attached_mutex_);
  return std::ranges::any_of(attached_, [&](const Attached::Piece& piece) {
    return reach.meets({static_cast<std::intptr_t>(piece.begin), static_cast<std::intptr_t>(piece.end)});
  });
}

Status Window::look_at_own(const BufferInUse& use) {
  return checks_ != nullptr ? checks_->look_at_own(use, use.is_written) : Status();
}

Status Window::add_access(OpenAccess::Kind kind, const Place& place, Count offset,
                          const datatype::Datatype* element) {
  const core::World& world = owner.world;
  WindowChecks::Operation* const operation = WindowChecks::Operation::current;
  if (operation != nullptr) CLUMP_TRY(operation->claim());
  const bool is_locked = access_ == Access::kLocks || access_ == Access::kAll;
  OpenAccess access{.kind = kind,
                    .origin = rank(),
                    .by = &owner.telling,
                    .place = {reinterpret_cast<void*>(offset), place.count, &place.type},
                    .element = element,
                    .fence = fences_,
                    .started = access_ == Access::kStarted,
                    .lock = !is_locked                             ? OpenAccess::Lock::kNone
                            : held(place.rank) == Held::kExclusive ? OpenAccess::Lock::kExclusive
                                                                   : OpenAccess::Lock::kShared,
                    .operation = operation != nullptr ? operation->number() : 0,
                    .site = site_now()};
  if (!place.type.is_predefined()) access.type.fill(&place.type);
  const Target& there = target(place.rank);
  // The buffers that the owner itself has given to operations.
  const core::Rank* const theirs =
      there.index_here >= 0 ? world.ranks[static_cast<std::size_t>(group->world_rank(place.rank))].get()
                            : nullptr;
  if (theirs != nullptr && theirs->buffers_in_use != nullptr) {
    const BufferInUse use{layout_at(there, place, offset), access.site, "", !access.reads_only(),
                          access.type};
    if (const auto other = theirs->buffers_in_use->find(use))
      return conflict(name_of(place.rank),
                      fmt::format("rank {} {} them: {}", place.rank, other->is_written ? "writes" : "reads",
                                  other->words(world)),
                      line_of(world, access));
  }
  if (const auto promise = map_->conflicts->broken_promise(place.rank, access))
    return base::fail(MPI_ERR_ASSERT,
                      "(target_rank = {}): rank {} has said by MPI_MODE_NOPUT that nothing is put into its "
                      "memory of {}: {}",
                      place.rank, place.rank, description(), words_of(world, *promise));
  const std::optional<OpenAccess> other = map_->conflicts->add(place.rank, access);
  return other ? conflict(name_of(place.rank), line_of(world, *other), line_of(world, access)) : Status();
}

OperationRequest::OperationRequest(Window& window, int target)
    : Request(window.checks() != nullptr ? Kind::kChecked : Kind::kOrdinary),
      window_(&window),
      rank_(window.comm->peers().world_rank(target)) {
  comm.fill(window.comm.get());
}

void OperationRequest::ask(bool) {
  if (std::exchange(was_asked_, true)) return;
  const Status outcome = window_->checks()->complete(*this);
  if (!outcome.ok() && result.error == MPI_SUCCESS) result.error = outcome.code();
}

}  // namespace clump::rma
