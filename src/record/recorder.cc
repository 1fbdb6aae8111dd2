#include "record/recorder.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace clump::record {

namespace {

constexpr std::uint64_t kRankBits = 24;
constexpr std::uint64_t kRankMask = (std::uint64_t{1} << kRankBits) - 1;
constexpr int kProbes = 16;

/// Records of threads that have ended are for the rank's next ones.
struct Idle {
  std::mutex mutex;
  std::unordered_map<int, std::vector<ThreadRecord*>> of_rank;

  static Idle& all() {
    static auto* const made = new Idle;  // threads may end after everything else
    return *made;
  }
};

std::atomic<std::uint64_t>& place_of(Header& header, std::uint64_t collective) {
  return header.collectives[(collective * 0x9e3779b97f4a7c15) >> 52];
}
static_assert(kCollectives == std::size_t{1} << 12);

}  // namespace

constinit Book Book::book_;

base::Status Book::open(int descriptor, int ranks) {
  Region region;
  CLUMP_TRY(region.map(descriptor));
  CLUMP_TRY(region.check(ranks));
  book_.region_ = region;
  book_.by_counter_ = book_.region_.header().by_counter != 0;
  book_.opened_ticks_ = now();
  book_.opened_nanoseconds_ = system_nanoseconds();
  return {};
}

std::uint64_t Book::ticks_of(std::uint64_t nanoseconds) {
  if (!book_.by_counter_) return nanoseconds;
  const auto ticks = static_cast<double>(now() - book_.opened_ticks_);
  const auto since = static_cast<double>(system_nanoseconds() - book_.opened_nanoseconds_);
  return since <= 0 ? 0 : static_cast<std::uint64_t>(static_cast<double>(nanoseconds) * ticks / since);
}

void Book::watch(int rank) {
  RankRecord& record = book_.region_.rank(rank);
  const std::uint64_t since = now();
  if (record.since.load(std::memory_order_relaxed) != 0) return;
  if (record.first_watched.load(std::memory_order_relaxed) == 0)
    record.first_watched.store(since, std::memory_order_relaxed);
  record.since.store(since, std::memory_order_relaxed);
}

void Book::unwatch(int rank) {
  RankRecord& record = book_.region_.rank(rank);
  const std::uint64_t since = record.since.exchange(0, std::memory_order_relaxed);
  if (since == 0) return;
  const std::uint64_t until = now();
  record.watched.add(until - since);
  record.last_watched.store(until, std::memory_order_relaxed);
}

/// Gives the record back when the thread ends.
struct Recorder::Lease {
  Recorder recorder;
  ~Lease() {
    if (recorder.record_ == nullptr) return;
    Idle& idle = Idle::all();
    const std::lock_guard lock(idle.mutex);
    // Not beyond the end of MPI: the time that the record is set against ends there, too.
    const RankRecord& rank = Book::book_.region_.rank(recorder.rank_);
    const std::uint64_t until = rank.since.load(std::memory_order_relaxed) != 0
                                    ? Book::now()
                                    : rank.last_watched.load(std::memory_order_relaxed);
    const std::uint64_t since = recorder.record_->had_since.exchange(0, std::memory_order_relaxed);
    if (until > since) recorder.record_->had.add(until - since);
    idle.of_rank[recorder.rank_].push_back(recorder.record_);
  }
};

Recorder& Recorder::mine() {
  static thread_local Lease lease;
  return lease.recorder;
}

void Recorder::find_record(int rank) {
  rank_ = rank;
  Idle& idle = Idle::all();
  const std::lock_guard lock(idle.mutex);
  const std::uint64_t since = watched_since_ != 0 ? watched_since_ : Book::now();
  if (auto& mine = idle.of_rank[rank]; !mine.empty()) {
    record_ = mine.back();
    record_->had_since.store(since, std::memory_order_relaxed);
    return mine.pop_back();
  }
  const Region& region = Book::book_.region_;
  const std::uint64_t made = region.allocate<ThreadRecord>(region.peer_chunks() * sizeof(std::uint64_t));
  if (made == 0) return;
  record_ = region.at<ThreadRecord>(made);
  record_->had_since.store(since, std::memory_order_relaxed);
  std::atomic<std::uint64_t>& youngest = region.rank(rank).threads;
  record_->next.store(youngest.load(std::memory_order_relaxed), std::memory_order_relaxed);
  youngest.store(made, std::memory_order_release);  // release: whoever reads finds it whole
}

PeerRecord* Recorder::find_peer(int peer) {
  const Region& region = Book::book_.region_;
  const auto number = static_cast<std::size_t>(peer);
  std::atomic<std::uint64_t>& offset = region.peers_of(*record_)[number / kPeersInChunk];
  if (offset.load(std::memory_order_relaxed) == 0) [[unlikely]]
    offset.store(region.allocate<PeerChunk>(), std::memory_order_relaxed);
  PeerChunk* const chunk = region.at<PeerChunk>(offset.load(std::memory_order_relaxed));
  if (chunk != nullptr) return &chunk->peers[number % kPeersInChunk];
  record_->lost.add();
  return nullptr;
}

// Plain stores: of two ranks that come at the same moment either may be called the last.
void Recorder::begins_collective(std::uint64_t collective, int rank) {
  place_of(Book::book_.region_.header(), collective)
      .store(begun_ >> kCollectiveShift << kRankBits | static_cast<std::uint64_t>(rank),
             std::memory_order_relaxed);
}

// Another collective may have taken the place: what lies outside of this call is none of its.
void Recorder::waited_for_last(std::uint64_t collective) {
  if (unknown_ == 0) return;
  const std::uint64_t last =
      place_of(Book::book_.region_.header(), collective).load(std::memory_order_relaxed);
  const auto shifted = [](std::uint64_t time) { return time << kRankBits >> kRankBits; };
  const std::uint64_t when = last >> kRankBits;
  const int who = static_cast<int>(last & kRankMask);
  if (when < shifted(begun_ >> kCollectiveShift) || when > shifted(ended_ >> kCollectiveShift)) return;
  if (who != rank_) waited_for(who);
}

void Recorder::begins_watch(bool is_fiber) {
  is_fiber_ = is_fiber;
  has_moved_ = false;
  look_for_core(0);
  ended_ = watched_since_ = Book::now();
}

/// For how many ticks, `most` at most, the kernel thread had no core since the last look.
std::uint64_t Recorder::look_for_core(std::uint64_t most) {
  bool is_told = true;
  const std::uint64_t delay = delay_.look(is_told);
  if (!is_told) Book::book_.region_.header().core_is_untold.store(1, std::memory_order_relaxed);
  return delay == 0 ? 0 : std::min(most, Book::ticks_of(delay));
}

void Recorder::had_no_core(std::uint64_t since) {
  if (wait_begun_ != 0) {
    could_go_on_ = since;
    return;
  }
  const std::uint64_t took = Book::now() - since;
  if (in_call_) {
    no_core_ += took;
  } else if (record_ != nullptr) {
    has_moved_ = true;
    record_->no_core.add(took);
  }
}

/// The last call is long ago.
void Recorder::comes_from_afar() {
  const std::uint64_t delay = look_for_core(begun_ - ended_);
  // What its kernel thread waited for while others ran is nothing of this one's.
  if (!std::exchange(has_moved_, false)) record_->no_core.add(delay);
  begun_ = Book::now();
}

/// What it has waited for is known already.
void Recorder::took_long() {
  const std::uint64_t rest = ended_ - begun_ - std::min(waited_ + no_core_, ended_ - begun_);
  const std::uint64_t delay = look_for_core(rest);
  if (!is_fiber_) no_core_ += delay;
}

void Recorder::wait_ended(int peer) {
  const std::uint64_t begun = std::exchange(wait_begun_, 0), since = std::exchange(could_go_on_, 0);
  if (!in_call_ || begun == 0) return;
  wait_ended_ = Book::now();
  std::uint64_t took = wait_ended_ - begun, no_core = 0;
  if (since > begun && since < wait_ended_)
    no_core = wait_ended_ - since;
  else if (!is_fiber_ && took > kLong)
    no_core = look_for_core(took);
  took -= no_core;
  no_core_ += no_core;
  waited_ += took;
  if (peer < 0) peer = peer_;
  if (peer >= 0 && record_ != nullptr)
    blame(peer, took);
  else
    unknown_ += took;
}

void Recorder::blame(int peer, std::uint64_t ticks) {
  const std::uint64_t who = static_cast<std::uint64_t>(peer + 1) << 16 | call_;
  std::size_t place = (who * 0x9e3779b97f4a7c15) >> 55;
  static_assert(kWaits == std::size_t{1} << 9);
  for (int probe = 0; probe < kProbes; ++probe, place = (place + 1) % kWaits) {
    WaitRecord& wait = record_->waits[place];
    const std::uint64_t there = wait.who.load(std::memory_order_relaxed);
    if (there != 0 && there != who) continue;
    if (there == 0) wait.who.store(who, std::memory_order_relaxed);
    wait.waits.add();
    return wait.ticks.add(ticks);
  }
  record_->waits_left_out.add(ticks);
}

EventChunk* Recorder::room_for_event() {
  const Region& region = Book::book_.region_;
  const std::uint64_t last = record_->last_chunk.load(std::memory_order_relaxed);
  auto* const chunk = region.at<EventChunk>(last);
  if (chunk != nullptr && chunk->used.value() < kEventsInChunk) return chunk;
  // The rank's threads share how many it may have.
  std::atomic<std::uint32_t>& chunks = region.rank(rank_).event_chunks;
  if (chunks.fetch_add(1, std::memory_order_relaxed) >= region.header().event_chunks) {
    chunks.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  const std::uint64_t made = region.allocate<EventChunk>();
  if (made == 0) return nullptr;
  (chunk == nullptr ? record_->first_chunk : chunk->next).store(made, std::memory_order_release);
  record_->last_chunk.store(made, std::memory_order_relaxed);
  return region.at<EventChunk>(made);
}

void Recorder::keep_event(const Message& out, const Message& in, std::uint32_t context) {
  EventChunk* const chunk = room_for_event();
  if (chunk == nullptr) return record_->events_dropped.add();
  chunk->events[chunk->used.value()] = {begun_,  ended_,  waited_, out.bytes, in.bytes, out.peer,
                                        in.peer, out.tag, in.tag,  context,   call_};
  chunk->used.add();
  record_->events.add();
}

}  // namespace clump::record
