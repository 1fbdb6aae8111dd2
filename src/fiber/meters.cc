#include "fiber/meters.h"

#include "fiber/help.h"
#include "fiber/monitor.h"
#include "fiber/worker.h"

namespace clump::fiber {

namespace {
constinit std::atomic<void (*)(Identity&, Move, int)> listener{nullptr};
}

WorkerMeters meters_of(int worker) noexcept {
  const Worker& w = workers[static_cast<std::size_t>(worker)];
  return {w.switches.load(std::memory_order_relaxed), w.taken.value(), w.queue.size(),
          w.asleep->load(std::memory_order_relaxed) != 0};
}

ProcessMeters process_meters() noexcept {
  ProcessMeters meters;
  meters.stuck = monitor::stuck();
  meters.worker_threads = workers.size() + monitor::extra_worker_threads();
  detail::count_parts(meters.parts_offered, meters.parts_helped);
  return meters;
}

// release: pairs with the acquire in tell_move().
void on_move(void (*tell)(Identity&, Move, int)) noexcept { listener.store(tell, std::memory_order_release); }

void tell_move(Identity* rank, Move move, int worker) noexcept {
  if (rank == nullptr) return;
  (move == Move::kTaken ? rank->taken : rank->stuck).add();
  if (const auto tell = listener.load(std::memory_order_acquire)) tell(*rank, move, worker);
}

}  // namespace clump::fiber
