// Windows and their synchronisation (MPI-5.0 sections 12.2 and 12.5). What is about the window is checked in
// src/rma.
#include <cstring>
#include <string>
#include <utility>

#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/initialization.h"
#include "rma/window.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Rank;
using rma::Window;

/// The handle of a new window; `baseptr`: where the address of its memory goes, or null.
Status make(Rank& self, const Window::Making& making, void* baseptr, MPI_Win* win) {
  *win = MPI_WIN_NULL;
  base::Ref<Window> window;
  CLUMP_TRY(Window::make(making, window));
  if (baseptr != nullptr) {
    const void* const base = window->base();
    std::memcpy(baseptr, &base, sizeof base);  // baseptr is the address of a pointer of any type
  }
  *win = self.add(base::Ref<core::Window>(std::move(window)));
  return {};
}

Status find_type(int lock_type, rma::LockType& type) {
  if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE)
    return base::fail(MPI_ERR_LOCKTYPE, "(lock_type = {}): there are MPI_LOCK_SHARED and MPI_LOCK_EXCLUSIVE",
                      lock_type);
  type = lock_type == MPI_LOCK_SHARED ? rma::LockType::kShared : rma::LockType::kExclusive;
  return {};
}

}  // namespace

Status win_create(Rank& self, void* base, MPI_Aint size, Count disp_unit, core::Info* info, core::Comm& comm,
                  MPI_Win* win) {
  return make(self, {self, comm, info, MPI_WIN_FLAVOR_CREATE, base, size, disp_unit}, nullptr, win);
}

Status win_allocate(Rank& self, MPI_Aint size, Count disp_unit, core::Info* info, core::Comm& comm,
                    void* baseptr, MPI_Win* win) {
  return make(self, {self, comm, info, MPI_WIN_FLAVOR_ALLOCATE, nullptr, size, disp_unit}, baseptr, win);
}

Status win_allocate_shared(Rank& self, MPI_Aint size, Count disp_unit, core::Info* info, core::Comm& comm,
                           void* baseptr, MPI_Win* win) {
  return make(self, {self, comm, info, MPI_WIN_FLAVOR_SHARED, nullptr, size, disp_unit}, baseptr, win);
}

Status win_create_dynamic(Rank& self, core::Info* info, core::Comm& comm, MPI_Win* win) {
  return make(self, {self, comm, info, MPI_WIN_FLAVOR_DYNAMIC}, nullptr, win);
}

Status win_free(Rank& self, MPI_Win* win) {
  auto& window = static_cast<Window&>(*self.window(*win));
  CLUMP_TRY(window.may_be_freed());
  CLUMP_TRY(window.attributes.clear(*win));
  const Status finished = window.finish();
  self.remove(*win);
  *win = MPI_WIN_NULL;
  return finished;
}

Status win_shared_query(Rank&, Window& win, int rank, MPI_Aint* size, Count* disp_unit, void* baseptr) {
  void* base = nullptr;
  CLUMP_TRY(win.query(rank, *size, *disp_unit, base));
  std::memcpy(baseptr, &base, sizeof base);
  return {};
}

Status win_attach(Rank&, Window& win, void* base, MPI_Aint size) { return win.attach(base, size); }
Status win_detach(Rank&, Window& win, const void* base) { return win.detach(base); }

Status win_get_group(Rank& self, Window& win, MPI_Group* group) {
  *group = self.add(win.group);
  return {};
}

Status win_set_name(Rank&, Window& win, const char* win_name) {
  win.name.set(std::string(win_name, strnlen(win_name, MPI_MAX_OBJECT_NAME - 1)));
  win.comm->name.set(win.description());  // for reports
  return {};
}

Status win_get_name(Rank& self, MPI_Win win, char* win_name, int* resultlen) {
  // The null handle has a name, too (MPI-5.0 section 7.8).
  const core::Window* const window = self.window(win);
  if (window == nullptr && win != MPI_WIN_NULL) return base::fail(MPI_ERR_WIN, "win is not a window");
  const std::string name = window != nullptr ? window->name.get() : "MPI_WIN_NULL";
  std::memcpy(win_name, name.c_str(), name.size() + 1);
  *resultlen = static_cast<int>(name.size());
  return {};
}

Status win_set_info(Rank&, Window& win, core::Info& info) {
  // Only hints that the window knows of; what they promise cannot be taken back (MPI-5.0 section 12.2.7). How
  // its memory lies was decided when it was made.
  const auto is_settled = [](const std::string& key) {
    return key == "mpi_minimum_memory_alignment" || key == "alloc_shared_noncontig";
  };
  for (const auto& [key, value] : info.entries())
    if (win.info.get(key) && !is_settled(key)) win.info.set(key, value);
  return {};
}

Status win_get_info(Rank& self, Window& win, MPI_Info* info_used) {
  auto copy = std::make_unique<core::Info>();
  copy->set_all(win.info);
  copy->set("mpi_memory_alloc_kinds", kMemoryKinds);
  *info_used = self.add(std::move(copy));
  return {};
}

Status win_fence(Rank&, int assert, Window& win) { return win.fence(assert); }
Status win_start(Rank&, const core::Group& group, int assert, Window& win) {
  return win.start(group, assert);
}
Status win_complete(Rank&, Window& win) { return win.complete(); }
Status win_post(Rank&, const core::Group& group, int assert, Window& win) { return win.post(group, assert); }
Status win_wait(Rank&, Window& win) { return win.wait(); }

Status win_test(Rank&, Window& win, int* flag) {
  bool done = false;
  CLUMP_TRY(win.test(done));
  *flag = done ? 1 : 0;
  return {};
}

Status win_lock(Rank&, int lock_type, int rank, int assert, Window& win) {
  rma::LockType type{};
  CLUMP_TRY(find_type(lock_type, type));
  return win.lock(type, rank, assert);
}

Status win_unlock(Rank&, int rank, Window& win) { return win.unlock(rank); }
Status win_lock_all(Rank&, int assert, Window& win) { return win.lock_all(assert); }
Status win_unlock_all(Rank&, Window& win) { return win.unlock_all(); }
// What is complete at the target is complete at the origin.
Status win_flush(Rank&, int rank, Window& win) { return win.flush(rank); }
Status win_flush_local(Rank&, int rank, Window& win) { return win.flush(rank); }
Status win_flush_all(Rank&, Window& win) { return win.flush_all(); }
Status win_flush_local_all(Rank&, Window& win) { return win.flush_all(); }
Status win_sync(Rank&, Window& win) { return win.sync(); }

}  // namespace clump::mpi
