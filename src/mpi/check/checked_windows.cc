// One-sided communication under --check: the bodies of one_sided.cc and windows.cc, with what is looked at
// around them (rma/window_checks.h). Arguments are those of the usual bodies. A call that completes
// operations does so even if their buffers have changed.
#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/layout.h"
#include "rma/window_checks.h"

namespace clump::mpi::checked {

namespace {

using base::Status;
using core::Op;
using core::Rank;
using datatype::Datatype;
using datatype::Layout;
using rma::Window;
using Completes = rma::WindowChecks::Completes;
using Buffers = rma::WindowChecks::Buffers;

/// Does an operation, whose buffers are the operation's until something completes it.
template <typename Do>
Status operate(Window& win, int target, const Buffers& buffers, MPI_Request* request, Do operation) {
  rma::WindowChecks::Operation about(win, target, buffers);
  CLUMP_TRY(operation());
  about.begun(request);
  return {};
}

Buffers read(const void* buffer, Count count, const Datatype& type) {
  return {.read = {layout(buffer, count, type)}};
}
Buffers written(void* buffer, Count count, const Datatype& type) {
  return {.written = layout(buffer, count, type)};
}

/// What an accumulate reads at its origin.
Layout operand(const void* buffer, Count count, const Datatype& type, const Op& op) {
  return op.handle() == MPI_NO_OP ? Layout() : layout(buffer, count, type);
}

Status first_of(Status one, Status other) { return one.ok() ? other : one; }

}  // namespace

Status put(Rank& self, const void* origin_addr, Count origin_count, const Datatype& origin_datatype,
           int target_rank, MPI_Aint target_disp, Count target_count, const Datatype& target_datatype,
           Window& win) {
  return operate(win, target_rank, read(origin_addr, origin_count, origin_datatype), nullptr, [&] {
    return mpi::put(self, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                    target_datatype, win);
  });
}

Status rput(Rank& self, const void* origin_addr, Count origin_count, const Datatype& origin_datatype,
            int target_rank, MPI_Aint target_disp, Count target_count, const Datatype& target_datatype,
            Window& win, MPI_Request* request) {
  return operate(win, target_rank, read(origin_addr, origin_count, origin_datatype), request, [&] {
    return mpi::rput(self, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                     target_datatype, win, request);
  });
}

Status get(Rank& self, void* origin_addr, Count origin_count, const Datatype& origin_datatype,
           int target_rank, MPI_Aint target_disp, Count target_count, const Datatype& target_datatype,
           Window& win) {
  return operate(win, target_rank, written(origin_addr, origin_count, origin_datatype), nullptr, [&] {
    return mpi::get(self, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                    target_datatype, win);
  });
}

Status rget(Rank& self, void* origin_addr, Count origin_count, const Datatype& origin_datatype,
            int target_rank, MPI_Aint target_disp, Count target_count, const Datatype& target_datatype,
            Window& win, MPI_Request* request) {
  return operate(win, target_rank, written(origin_addr, origin_count, origin_datatype), request, [&] {
    return mpi::rget(self, origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                     target_datatype, win, request);
  });
}

Status accumulate(Rank& self, const void* origin_addr, Count origin_count, const Datatype& origin_datatype,
                  int target_rank, MPI_Aint target_disp, Count target_count, const Datatype& target_datatype,
                  Op& op, Window& win) {
  const Buffers buffers{.read = {operand(origin_addr, origin_count, origin_datatype, op)}};
  return operate(win, target_rank, buffers, nullptr, [&] {
    return mpi::accumulate(self, origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                           target_count, target_datatype, op, win);
  });
}

Status raccumulate(Rank& self, const void* origin_addr, Count origin_count, const Datatype& origin_datatype,
                   int target_rank, MPI_Aint target_disp, Count target_count, const Datatype& target_datatype,
                   Op& op, Window& win, MPI_Request* request) {
  const Buffers buffers{.read = {operand(origin_addr, origin_count, origin_datatype, op)}};
  return operate(win, target_rank, buffers, request, [&] {
    return mpi::raccumulate(self, origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                            target_count, target_datatype, op, win, request);
  });
}

Status get_accumulate(Rank& self, const void* origin_addr, Count origin_count,
                      const Datatype& origin_datatype, void* result_addr, Count result_count,
                      const Datatype& result_datatype, int target_rank, MPI_Aint target_disp,
                      Count target_count, const Datatype& target_datatype, Op& op, Window& win) {
  const Buffers buffers{.read = {operand(origin_addr, origin_count, origin_datatype, op)},
                        .written = layout(result_addr, result_count, result_datatype)};
  return operate(win, target_rank, buffers, nullptr, [&] {
    return mpi::get_accumulate(self, origin_addr, origin_count, origin_datatype, result_addr, result_count,
                               result_datatype, target_rank, target_disp, target_count, target_datatype, op,
                               win);
  });
}

Status rget_accumulate(Rank& self, const void* origin_addr, Count origin_count,
                       const Datatype& origin_datatype, void* result_addr, Count result_count,
                       const Datatype& result_datatype, int target_rank, MPI_Aint target_disp,
                       Count target_count, const Datatype& target_datatype, Op& op, Window& win,
                       MPI_Request* request) {
  const Buffers buffers{.read = {operand(origin_addr, origin_count, origin_datatype, op)},
                        .written = layout(result_addr, result_count, result_datatype)};
  return operate(win, target_rank, buffers, request, [&] {
    return mpi::rget_accumulate(self, origin_addr, origin_count, origin_datatype, result_addr, result_count,
                                result_datatype, target_rank, target_disp, target_count, target_datatype, op,
                                win, request);
  });
}

Status fetch_and_op(Rank& self, const void* origin_addr, void* result_addr, const Datatype& datatype,
                    int target_rank, MPI_Aint target_disp, Op& op, Window& win) {
  const Buffers buffers{.read = {operand(origin_addr, 1, datatype, op)},
                        .written = layout(result_addr, 1, datatype)};
  return operate(win, target_rank, buffers, nullptr, [&] {
    return mpi::fetch_and_op(self, origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
  });
}

Status compare_and_swap(Rank& self, const void* origin_addr, const void* compare_addr, void* result_addr,
                        const Datatype& datatype, int target_rank, MPI_Aint target_disp, Window& win) {
  const Buffers buffers{.read = {layout(origin_addr, 1, datatype), layout(compare_addr, 1, datatype)},
                        .written = layout(result_addr, 1, datatype)};
  return operate(win, target_rank, buffers, nullptr, [&] {
    return mpi::compare_and_swap(self, origin_addr, compare_addr, result_addr, datatype, target_rank,
                                 target_disp, win);
  });
}

Status win_fence(Rank& self, int assert, Window& win) {
  const Status before = win.checks()->before_fence(assert);
  CLUMP_TRY(mpi::win_fence(self, assert, win));
  win.checks()->after_fence(assert);
  return before;
}

Status win_start(Rank& self, const core::Group& group, int assert, Window& win) {
  CLUMP_TRY(mpi::win_start(self, group, assert, win));
  win.checks()->before_epoch();
  return {};
}

Status win_complete(Rank& self, Window& win) {
  const Status before = win.checks()->before_complete();
  return first_of(before, mpi::win_complete(self, win));
}

Status win_post(Rank& self, const core::Group& group, int assert, Window& win) {
  const Status before = win.checks()->before_post(assert);
  return first_of(before, mpi::win_post(self, group, assert, win));
}

Status win_wait(Rank& self, Window& win) {
  CLUMP_TRY(mpi::win_wait(self, win));
  win.checks()->after_wait();
  return {};
}

Status win_test(Rank& self, Window& win, int* flag) {
  CLUMP_TRY(mpi::win_test(self, win, flag));
  if (*flag != 0) win.checks()->after_wait();
  return {};
}

Status win_lock(Rank& self, int lock_type, int rank, int assert, Window& win) {
  CLUMP_TRY(win.checks()->before_lock());
  CLUMP_TRY(mpi::win_lock(self, lock_type, rank, assert, win));
  win.checks()->after_lock(rank);
  return {};
}

Status win_unlock(Rank& self, int rank, Window& win) {
  const Status before = win.checks()->complete(rank, Completes::kAtTarget);
  if (rank == win.rank()) win.checks()->synchronised();
  return first_of(before, mpi::win_unlock(self, rank, win));
}

Status win_lock_all(Rank& self, int assert, Window& win) {
  CLUMP_TRY(win.checks()->before_lock());
  CLUMP_TRY(mpi::win_lock_all(self, assert, win));
  win.checks()->after_lock(-1);
  return {};
}

Status win_unlock_all(Rank& self, Window& win) {
  const Status before = win.checks()->complete(-1, Completes::kAtTarget);
  win.checks()->unlocked_all();
  return first_of(before, mpi::win_unlock_all(self, win));
}

Status win_flush(Rank& self, int rank, Window& win) {
  CLUMP_TRY(mpi::win_flush(self, rank, win));
  return rank == MPI_PROC_NULL ? Status() : win.checks()->complete(rank, Completes::kAtTarget);
}

Status win_flush_all(Rank& self, Window& win) {
  CLUMP_TRY(mpi::win_flush_all(self, win));
  return win.checks()->complete(-1, Completes::kAtTarget);
}

Status win_flush_local(Rank& self, int rank, Window& win) {
  CLUMP_TRY(mpi::win_flush_local(self, rank, win));
  return rank == MPI_PROC_NULL ? Status() : win.checks()->complete(rank, Completes::kLocally);
}

Status win_flush_local_all(Rank& self, Window& win) {
  CLUMP_TRY(mpi::win_flush_local_all(self, win));
  return win.checks()->complete(-1, Completes::kLocally);
}

Status win_sync(Rank& self, Window& win) {
  win.checks()->synchronised();
  return mpi::win_sync(self, win);
}

}  // namespace clump::mpi::checked
