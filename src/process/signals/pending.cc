// The signals that are pending for a rank or for one of its threads. All functions with the Guard.
#include <sys/syscall.h>
#include <unistd.h>

#include "process/ids.h"
#include "process/signals/state.h"

namespace clump::image::signals {
namespace {

/// Real-time signals are queued; others are pending at most once.
bool is_queued(int number) { return number > 31; }

bool blocks(const Thread& thread, Set bit) {
  return (thread.blocked.load(std::memory_order_relaxed) & bit) != 0;
}
bool awaits(const Thread& thread, Set bit) {
  return (thread.awaited.load(std::memory_order_relaxed) & bit) != 0;
}

/// Whether all threads that may take a signal block it, and whether one of them waits for it.
struct Takers {
  bool all_block = false;
  bool awaited = false;
};

Takers takers(const Thread* threads, const Thread* to, Set bit) {
  if (to != nullptr) return {blocks(*to, bit), awaits(*to, bit)};
  Takers found{threads != nullptr, false};
  for (const Thread* thread = threads; thread != nullptr; thread = thread->next) {
    found.all_block &= blocks(*thread, bit);
    found.awaited |= awaits(*thread, bit);
  }
  return found;
}

bool is_pending_once(const Table& table, const Thread* to, int number) {
  for (const Pending& place : table.places)
    if (place.number == number && place.to == to) return true;
  return false;
}

void note(Table& table, Thread* to) {
  Set all = 0;
  for (const Pending& place : table.places)
    if (place.number != 0 && place.to == to) all |= bit_of(place.number);
  // release: pairs with the acquire in pending_of(), by a thread that looks without the Guard.
  (to != nullptr ? to->pending : table.pending).store(all, std::memory_order_release);
}

Pending* oldest(Table& table, const Thread* to, int number) {
  Pending* first = nullptr;
  for (Pending& place : table.places)
    if (place.number == number && place.to == to && (first == nullptr || place.order < first->order))
      first = &place;
  return first;
}

}  // namespace

Fate leave(const fiber::Identity& rank, Thread* to, const siginfo_t& info, bool outside) {
  const int number = info.si_signo;
  const Set bit = bit_of(number);
  const SignalState& state = state_of(rank);
  if (state.successor > 0) {
    const bool from_other = outside || (info.si_code != SI_TIMER && info.si_pid != process_ids::of(rank));
    if (from_other && number != SIGCHLD) ::syscall(SYS_kill, state.successor, number);
    return Fate::kDropped;
  }
  const Takers who = takers(state.threads, to, bit);
  const Action action = action_of(rank, number);
  if (!who.all_block && !who.awaited && !action.handles()) {
    if (action.ignores(number) || (outside && number == SIGQUIT && runtime().quit_asks))
      return Fate::kDropped;
    return (bit & kStops) != 0 ? Fate::kStops : Fate::kEnds;
  }
  Table& table = table_of(rank);
  if (!is_queued(number) && is_pending_once(table, to, number)) return Fate::kLeft;
  for (Pending& place : table.places) {
    if (place.number != 0) continue;
    place = {number, to, ++table.orders, info};
    note(table, to);
    return Fate::kLeft;
  }
  return Fate::kNoRoom;
}

int take(Thread& thread, Set wanted, siginfo_t& info) {
  Table* const table = state_of(*thread.rank).table;
  if (table == nullptr) return 0;
  for (Thread* const to : {&thread, static_cast<Thread*>(nullptr)}) {
    const Set here = (to != nullptr ? to->pending : table->pending).load(std::memory_order_relaxed) & wanted;
    if (here == 0) continue;
    const int number = __builtin_ctzll(here) + 1;
    Pending& first = *oldest(*table, to, number);
    info = first.info;
    first = {};
    note(*table, to);
    return number;
  }
  return 0;
}

bool count_overrun(const fiber::Identity& rank, const Thread* to, const siginfo_t& info) {
  Table* const table = state_of(rank).table;
  if (table == nullptr) return false;
  for (Pending& place : table->places) {
    if (place.number != info.si_signo || place.to != to || place.info.si_code != SI_TIMER ||
        place.info.si_timerid != info.si_timerid)
      continue;
    place.info.si_overrun += 1 + info.si_overrun;
    return true;
  }
  return false;
}

void forget(Table& table, int number) {
  for (Pending& place : table.places) {
    if (place.number != number) continue;
    Thread* const to = place.to;
    place = {};
    note(table, to);
  }
}

int pending_for_exec(const Thread& thread, siginfo_t (&into)[kMostPending]) {
  if (thread.rank == nullptr) return 0;
  const Guard guard;
  const Table* const table = state_of(*thread.rank).table;
  if (table == nullptr) return 0;
  int count = 0;
  for (std::uint64_t last = 0;;) {
    const Pending* next = nullptr;
    for (const Pending& place : table->places) {
      if (place.number == 0 || place.order <= last || (place.to != nullptr && place.to != &thread)) continue;
      if (next == nullptr || place.order < next->order) next = &place;
    }
    if (next == nullptr) return count;
    into[count++] = next->info;
    last = next->order;
  }
}

Set pending_of(const Thread& thread) {
  // acquire: pairs with the release in note().
  const Table* const table = state_of(*thread.rank).table;
  const Set any = table != nullptr ? table->pending.load(std::memory_order_acquire) : 0;
  return any | thread.pending.load(std::memory_order_acquire);
}

}  // namespace clump::image::signals
