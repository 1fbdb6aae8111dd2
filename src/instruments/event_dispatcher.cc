#include "instruments/event_dispatcher.h"

#include <algorithm>
#include <ctime>
#include <mutex>

#include "fiber/fiber.h"
#include "fiber/meters.h"
#include "p2p/matcher.h"

namespace clump::instruments {

namespace {

// Set before on_move(), by any rank, and always to the same: there is one world.
constinit std::atomic<core::World*> world{nullptr};

void moved(fiber::Identity& identity, fiber::Move move, int worker) {
  const auto& ranks = world.load(std::memory_order_relaxed)->ranks;
  // acquire: pairs with the release in EventDispatcher::watch().
  core::ToolObserver* const observer =
      ranks[static_cast<std::size_t>(identity.rank)]->observer.load(std::memory_order_acquire);
  if (observer == nullptr) return;
  move == fiber::Move::kTaken ? observer->taken(worker) : observer->stuck(worker);
}

}  // namespace

Count now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return Count{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool Interest::any() const {
  return std::ranges::any_of(callbacks,
                             [](const Callback& callback) { return callback.function != nullptr; });
}

bool Interest::fits(const Note& note) const {
  return kind->happening == note.happening && (!kind->of_comm || context == note.context) &&
         note.number >= since;
}

const Interest::Callback& Interest::best() const {
  return *std::ranges::find_if(callbacks,
                               [](const Callback& callback) { return callback.function != nullptr; });
}

void EventDispatcher::want(const Interest& interest) {
  {
    const std::lock_guard lock(mutex_);
    if (notes_.empty()) notes_.resize(kMostNotes);
    const auto known = std::ranges::find(interests_, interest.handle, &Interest::handle);
    const bool is_known = known != interests_.end();
    if (!interest.any()) {
      if (is_known) interests_.erase(known);
    } else if (is_known) {
      const Interest before = *known;
      *known = interest;
      known->since = before.since;
      known->drops = before.drops;
    } else {
      interests_.push_back(interest);
      interests_.back().since = next_;
    }
  }
  watch();
}

void EventDispatcher::forget(MPI_T_event_registration handle) {
  Interest none;
  none.handle = handle;
  want(none);
  // Whoever tells may have a copy of it. Our own callback, which frees its registration, goes on.
  while (teller_.load(std::memory_order_acquire) != std::thread::id() &&
         teller_.load(std::memory_order_acquire) != std::this_thread::get_id())
    fiber::yield();
}

void EventDispatcher::add_mark(Mark& mark) {
  {
    const std::lock_guard lock(mutex_);
    marks_.push_back(&mark);
  }
  watch();
  const std::lock_guard lock(mutex_);
  mark.most = std::max(mark.most, unexpected_);
}

void EventDispatcher::remove_mark(Mark& mark) {
  {
    const std::lock_guard lock(mutex_);
    std::erase(marks_, &mark);
  }
  watch();
}

Count EventDispatcher::most(const Mark& mark) {
  const std::lock_guard lock(mutex_);
  return mark.most;
}

void EventDispatcher::set_most(Mark& mark, Count value) {
  const std::lock_guard lock(mutex_);
  mark.most = value;
}

/// Has those told who make happen what somebody wants to know, and nobody else.
void EventDispatcher::watch() {
  const std::lock_guard one_at_a_time(watching_mutex_);
  bool messages = false, others = false, moves = false;
  {
    const std::lock_guard lock(mutex_);
    messages = !marks_.empty();
    for (const Interest& interest : interests_) {
      const Happening happening = interest.kind->happening;
      (happening == Happening::kUnexpected ? messages : others) = true;
      if (happening == Happening::kTaken || happening == Happening::kStuck) moves = true;
    }
  }
  if (messages != watching_messages_) p2p::matcher_of(rank_).watch(messages ? this : nullptr);
  watching_messages_ = messages;
  // release: pairs with the acquire of those who call it.
  rank_.observer.store(others ? this : nullptr, std::memory_order_release);
  if (!moves) return;
  world.store(&rank_.world, std::memory_order_relaxed);  // by release in on_move()
  fiber::on_move(moved);
}

void EventDispatcher::note(Note note) {
  const std::lock_guard lock(mutex_);
  note.time = now();  // under the lock, so that times rise with numbers
  note.number = next_;
  if (next_ - first_ == kMostNotes) dropping_ = true;
  bool wanted = false;
  for (Interest& interest : interests_) {
    if (!interest.fits(note)) continue;
    wanted = true;
    if (dropping_ && interest.dropped != nullptr) ++interest.drops;
  }
  if (!wanted) return;
  if (!dropping_) notes_[next_++ % kMostNotes] = note;
  rank_.attend(core::Rank::kEventsWait);
}

/// The oldest note, and the registrations that are to be told of it.
bool EventDispatcher::fetch(Note& note, std::vector<MPI_T_event_registration>& told) {
  told.clear();
  const std::lock_guard lock(mutex_);
  if (first_ == next_) return false;
  note = notes_[first_++ % kMostNotes];
  for (const Interest& interest : interests_)
    if (interest.fits(note)) told.push_back(interest.handle);
  return true;
}

/// The interest of a registration as it is now. A callback that was told of the note before may have freed
/// it, or given it another callback. False if it is not to be told; of a new registration with the same
/// address the note is too old.
bool EventDispatcher::still_wants(MPI_T_event_registration handle, const Note& note, Interest& interest) {
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(interests_, handle, &Interest::handle);
  if (known == interests_.end() || !known->fits(note)) return false;
  interest = *known;
  return true;
}

/// Somebody who is to be told how many events were dropped.
bool EventDispatcher::fetch_drops(Interest& told) {
  const std::lock_guard lock(mutex_);
  for (Interest& interest : interests_) {
    if (interest.drops == 0) continue;
    told = interest;
    interest.drops = 0;
    return true;
  }
  dropping_ = false;
  return false;
}

void EventDispatcher::tell() {
  std::thread::id nobody;
  if (!teller_.compare_exchange_strong(nobody, std::this_thread::get_id(), std::memory_order_acquire)) return;
  rank_.disregard(core::Rank::kEventsWait);
  Note note{};
  Interest interest;
  std::vector<MPI_T_event_registration> told;
  while (fetch(note, told)) {
    for (const MPI_T_event_registration handle : told) {
      if (!still_wants(handle, note, interest)) continue;
      Instance instance{*interest.kind, note};
      current_.store(&instance, std::memory_order_relaxed);
      const Interest::Callback& callback = interest.best();
      callback.function(reinterpret_cast<MPI_T_event_instance>(&instance), interest.handle,
                        MPI_T_CB_REQUIRE_NONE, callback.user_data);
      current_.store(nullptr, std::memory_order_relaxed);
    }
  }
  // What was dropped came after all that was told, and before what will be noted from now on.
  while (fetch_drops(interest))
    interest.dropped(interest.drops, interest.handle, static_cast<int>(interest.kind->source),
                     MPI_T_CB_REQUIRE_NONE, interest.best().user_data);
  // release: pairs with the acquire in forget().
  teller_.store(std::thread::id(), std::memory_order_release);
}

void EventDispatcher::unexpected_are(Count messages) {
  const std::lock_guard lock(mutex_);
  unexpected_ = messages;
}

void EventDispatcher::unexpected_came(const Message& message) {
  {
    const std::lock_guard lock(mutex_);
    ++unexpected_;
    for (Mark* mark : marks_) mark->most = std::max(mark->most, unexpected_);
  }
  if ((message.context & 1) != 0) return;  // part of a collective operation: see core::collective()
  note({.happening = Happening::kUnexpected,
        .context = message.context,
        .elements = {message.source, message.tag, message.bytes}});
}

void EventDispatcher::unexpected_went() {
  const std::lock_guard lock(mutex_);
  --unexpected_;
}

void EventDispatcher::collective_begins(std::uint32_t context, int collective, int algorithm, Count bytes) {
  note({.happening = Happening::kCollective, .context = context, .elements = {collective, algorithm, bytes}});
}

void EventDispatcher::taken(int worker) { note({.happening = Happening::kTaken, .elements = {worker}}); }
void EventDispatcher::stuck(int worker) { note({.happening = Happening::kStuck, .elements = {worker}}); }

}  // namespace clump::instruments
