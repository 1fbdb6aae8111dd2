#include "mpi/check/checking.h"

#include <pthread.h>

namespace clump::mpi {

namespace {

using core::Rank;
using HandleKind = core::Sites::Kind;

bool is_live(const Rank& rank, HandleKind kind, std::intptr_t handle) {
  switch (kind) {
    case HandleKind::kComm:
      return rank.comm(core::handle_of<MPI_Comm>(handle)) != nullptr;
    case HandleKind::kGroup:
      return rank.group(core::handle_of<MPI_Group>(handle)) != nullptr;
    case HandleKind::kDatatype:
      return rank.datatype(core::handle_of<MPI_Datatype>(handle)) != nullptr;
    case HandleKind::kOp:
      return rank.op(core::handle_of<MPI_Op>(handle)) != nullptr;
    case HandleKind::kErrhandler:
      return rank.errhandler(core::handle_of<MPI_Errhandler>(handle)) != nullptr;
    case HandleKind::kInfo:
      return rank.info(core::handle_of<MPI_Info>(handle)) != nullptr;
    case HandleKind::kRequest:
      return rank.request(core::handle_of<MPI_Request>(handle)) != nullptr;
    case HandleKind::kMessage:
      return rank.message(core::handle_of<MPI_Message>(handle)) != nullptr;
    case HandleKind::kKeyval:
      return rank.keyval(static_cast<int>(handle)) != nullptr;
    case HandleKind::kWindow:
      return rank.window(core::handle_of<MPI_Win>(handle)) != nullptr;
  }
  return false;
}

template <typename Handle>
void note(Rank& rank, HandleKind kind, const Handle* handle, const core::Site& site) {
  const std::intptr_t value = core::value_of(*handle);
  const bool is_predefined = value < core::kPredefinedHandles;
  const bool is_over = kind == HandleKind::kRequest && value == core::value_of(core::kCompletedRequest);
  if (rank.sites == nullptr || is_predefined || is_over) return;
  rank.sites->note(kind, value, site);
  if (rank.sites->is_crowded())
    rank.sites->clean([&](HandleKind one, std::intptr_t other) { return is_live(rank, one, other); });
}

/// The calling thread is in no call of the rank any more. False: it was in none.
bool leave(Rank& rank) {
  unsigned long self = pthread_self();
  // release: pairs with the beginning of the next call, by whatever thread.
  return rank.thread_inside.compare_exchange_strong(self, 0, std::memory_order_release,
                                                    std::memory_order_relaxed);
}

/// Where the program calls MPI.
const void* programs_call(const void* address) {
  const Rank* const rank = core::current_rank();
  const bool can = rank != nullptr && rank->world.find_programs_call != nullptr;
  return can ? rank->world.find_programs_call(address) : address;
}

}  // namespace

Checking::Checking(const char* call, const void* address)
    : site_{call, programs_call(address)}, outer_(core::Site::current) {
  core::Site::current = &site_;
  core::Rank* const rank = core::current_rank();
  if (rank != nullptr) rank->telling.told.fetch_add(1, std::memory_order_relaxed);
  unsigned long none = 0;
  // acq_rel: pairs with the end of the call before this one, by whatever thread.
  if (outer_ == nullptr && rank != nullptr &&
      rank->thread_inside.compare_exchange_strong(none, pthread_self(), std::memory_order_acq_rel))
    inside_ = rank;
}

Checking::~Checking() {
  if (inside_ != nullptr) leave(*inside_);
  core::Site::current = outer_;
}

Checking::Interrupted::Interrupted(core::Rank* rank) : site_(core::Site::current) {
  core::Site::current = nullptr;
  if (rank != nullptr && leave(*rank)) inside_ = rank;
}

Checking::Interrupted::~Interrupted() {
  core::Site::current = site_;
  unsigned long none = 0;
  // acq_rel: as in Checking().
  if (inside_ != nullptr)
    inside_->thread_inside.compare_exchange_strong(none, pthread_self(), std::memory_order_acq_rel);
}

void Checking::begin_use(Rank& rank) {
  if (rank.world.checks == core::Checks::kNone) return;
  if (rank.sites == nullptr) {
    rank.sites = std::make_unique<core::Sites>();
    rank.buffers_in_use = std::make_unique<core::BuffersInUse>();
  }
  rank.attend(Rank::kChecked);
}

void Checking::made(Rank& rank, const MPI_Comm* handle) const {
  note(rank, HandleKind::kComm, handle, site_);
}
void Checking::made(Rank& rank, const MPI_Group* handle) const {
  note(rank, HandleKind::kGroup, handle, site_);
}
void Checking::made(Rank& rank, const MPI_Datatype* handle) const {
  note(rank, HandleKind::kDatatype, handle, site_);
}
void Checking::made(Rank& rank, const MPI_Op* handle) const { note(rank, HandleKind::kOp, handle, site_); }
void Checking::made(Rank& rank, const MPI_Errhandler* handle) const {
  note(rank, HandleKind::kErrhandler, handle, site_);
}
void Checking::made(Rank& rank, const MPI_Info* handle) const {
  note(rank, HandleKind::kInfo, handle, site_);
}
void Checking::made(Rank& rank, const MPI_Request* handle) const {
  note(rank, HandleKind::kRequest, handle, site_);
}
void Checking::made(Rank& rank, const MPI_Message* handle) const {
  note(rank, HandleKind::kMessage, handle, site_);
}
void Checking::made(Rank& rank, const MPI_Win* handle) const {
  note(rank, HandleKind::kWindow, handle, site_);
}
void Checking::made(Rank& rank, const int* keyval) const {
  const auto handle = core::handle_of<void*>(*keyval);
  note(rank, HandleKind::kKeyval, &handle, site_);
}

}  // namespace clump::mpi
