#include "net/shm/shm_channel.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "net/shm/remote_memory.h"

namespace clump::net {

namespace {

// A sender that waits answers within a microsecond or two. After this time the receiver reads the message
// itself.
constexpr std::chrono::microseconds kPatience{15};

void release_all(SendRequest* linked) {
  while (SendRequest* const message = linked) {
    linked = message->next;
    message->released();
  }
}

}  // namespace

ShmChannel::ShmChannel(Setup setup)
    : Channel(ChannelKind::kShm),
      setup_(std::move(setup)),
      traffic_(setup_.sinks.size()),
      outlets_(std::make_unique<Outlet[]>(static_cast<std::size_t>(setup_.own_ports))),
      inlets_(std::make_unique<Inlet[]>(static_cast<std::size_t>(setup_.own_ports))),
      reach_(std::make_unique<std::atomic<Reading>[]>(static_cast<std::size_t>(setup_.segment.ports()))) {
  const auto ports = static_cast<std::size_t>(setup_.segment.ports());
  for (int i = 0; i < setup_.own_ports; ++i) {
    outlets_[static_cast<std::size_t>(i)].lanes = std::make_unique<Lane*[]>(ports);
    outlets_[static_cast<std::size_t>(i)].staging_buffers =
        std::make_unique<StagingBuffers>(setup_.first_port + i);
    inlets_[static_cast<std::size_t>(i)].sources = std::make_unique<Inlet::Source[]>(ports);
    setup_.segment.owner(setup_.first_port + i) = this_process();
  }
  set_lane_limit(kPieceLimit);
  set_least_eager(Segment::kStagingBuffer);
  allow_siblings();
}

ShmChannel::~ShmChannel() = default;

Lane& ShmChannel::open_lane(Outlet& from, int port, int to) {
  return *(from.lanes[static_cast<std::size_t>(to)] = &setup_.segment.open(port, to));
}

bool ShmChannel::try_send(Route route, Envelope envelope, Count bytes, const datatype::Layout& payload) {
  if (bytes > lane_limit()) return false;
  if (setup_.segment.crowded(route.destination).load(std::memory_order_relaxed)) return false;
  const int from = port_of(route.source), to = port_of(route.destination);
  Outlet& outlet = this->outlet(from);
  Traffic& traffic = traffic_[static_cast<std::size_t>(route.source)];
  {
    const std::lock_guard lock(outlet.mutex);
    if (!outlet.backlog.empty() && outlet.backlog.contains(to)) return false;
    TransmitResources way = transmit_resources(outlet, from, to);
    if (bytes <= kLeastStaged ? !way.lane.push(route.destination, envelope, bytes, payload)
                              : !way.push_staged(route.destination, envelope, bytes, payload)) {
      traffic.refused.add();
      return false;
    }
  }
  traffic[Way::kLane].add(bytes);
  ring(to);
  return true;
}

void ShmChannel::send(Route route, SendRequest& message) {
  const bool copied = !message.synchronous && message.bytes <= std::max(lane_limit(), least_eager()) &&
                      !setup_.segment.crowded(route.destination).load(std::memory_order_relaxed);
  traffic_[static_cast<std::size_t>(route.source)][copied ? Way::kLane : Way::kReference].add(message.bytes);
  const int to = route.destination;
  post(port_of(route.source), port_of(to),
       !copied                         ? PendingWrite::rts(to, message)
       : message.bytes <= kLeastStaged ? PendingWrite::copied(to, message)
                                       : PendingWrite::streamed(to, message));
}

void ShmChannel::post(int from, int to, PendingWrite what) {
  Outlet& outlet = this->outlet(from);
  SendRequest* released = nullptr;
  SendRequest** last = &released;
  {
    const std::lock_guard lock(outlet.mutex);
    const bool first = outlet.backlog.empty() || !outlet.backlog.contains(to);
    if (first && what.push(transmit_resources(outlet, from, to), released)) {
      if (released != nullptr) last = &released->next;
    } else {
      outlet.backlog[to].push_back(what);
      outlet.waiting.fetch_add(1, std::memory_order_relaxed);
      if (flush(outlet, from, to, last)) outlet.backlog.erase(to);
    }
  }
  ring(to);
  *last = nullptr;
  release_all(released);
}

/// Sends what waits for one port. True: nothing is left. The caller has the lock, and later releases the
/// messages that are linked to `*released`.
bool ShmChannel::flush(Outlet& outlet, int port, int to, SendRequest**& released) {
  const TransmitResources way = transmit_resources(outlet, port, to);
  std::deque<PendingWrite>& waiting = outlet.backlog[to];
  for (bool asked = false; !waiting.empty();) {
    SendRequest* done = nullptr;
    if (waiting.front().push(way, done)) {
      waiting.pop_front();
      outlet.waiting.fetch_sub(1, std::memory_order_relaxed);
      if (done == nullptr) continue;
      *released = done;
      released = &done->next;
    } else if (asked) {
      return false;
    } else {
      asked = true;  // then tries once more, because the consumer may have given room back before
      way.lane.want_room();
    }
  }
  return true;
}

bool ShmChannel::flush(int port) {
  Outlet& outlet = this->outlet(port);
  if (outlet.waiting.load(std::memory_order_relaxed) == 0) return false;
  SendRequest* released = nullptr;
  SendRequest** last = &released;
  int before = 0, after = 0;
  {
    const std::lock_guard lock(outlet.mutex);
    before = outlet.waiting.load(std::memory_order_relaxed);
    for (auto entry = outlet.backlog.begin(); entry != outlet.backlog.end();) {
      const int to = entry->first;
      entry = flush(outlet, port, to, last) ? outlet.backlog.erase(entry) : std::next(entry);
      ring(to);
    }
    after = outlet.waiting.load(std::memory_order_relaxed);
  }
  *last = nullptr;
  release_all(released);
  return after != before;
}

bool ShmChannel::retract(Route route, SendRequest& message) {
  const int from = port_of(route.source), to = port_of(route.destination);
  switch (retract_waiting(outlet(from), to, message)) {
    case Waiting::kWhole:
      return true;
    case Waiting::kPart:
      return false;  // the rest of it follows
    case Waiting::kNot:
      break;
  }
  // Sent behind the message's RTS, and before any other RTS from the same address.
  post(from, to, PendingWrite::cancel(message.envelope, &message, route.destination));
  return false;
}

/// Removes a message that is not in the lane yet from the backlog.
ShmChannel::Waiting ShmChannel::retract_waiting(Outlet& outlet, int to, const SendRequest& message) {
  const std::lock_guard lock(outlet.mutex);
  const auto entry = outlet.backlog.find(to);
  if (entry == outlet.backlog.end()) return Waiting::kNot;
  std::deque<PendingWrite>& posts = entry->second;
  if (std::ranges::any_of(posts, [&](const PendingWrite& post) { return post.is_part(message); }))
    return Waiting::kPart;
  if (std::erase_if(posts, [&](const PendingWrite& post) { return post.is_whole(message); }) == 0)
    return Waiting::kNot;
  outlet.waiting.fetch_sub(1, std::memory_order_relaxed);
  if (posts.empty()) outlet.backlog.erase(entry);
  return Waiting::kWhole;
}

bool ShmChannel::drain(int worker) {
  const int port = setup_.first_port + worker;
  bool moved = take_in(port, false);
  moved = look_at_watches(inlet(port)) || moved;
  moved = stop_asking(inlet(port)) || moved;
  return flush(port) || moved;
}

void ShmChannel::wait(int rank, const std::atomic<std::uint32_t>& word, std::uint32_t old) {
  Inlet& inlet = this->inlet(port_of(rank));
  Inlet::Watch mine{word, old, {}, nullptr};
  {
    const std::lock_guard lock(inlet.watching);
    mine.next = inlet.watches.load(std::memory_order_relaxed);
    // release: a thread that looks without the lock sees the whole Watch.
    inlet.watches.store(&mine, std::memory_order_release);
  }
  // The word may have changed, and the bell may have been rung, before another thread could see this watch.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  look_at_watches(inlet);
  mine.changed.wait();
}

/// Signals the watches whose word has changed; whether there was one.
bool ShmChannel::look_at_watches(Inlet& inlet) {
  if (inlet.watches.load(std::memory_order_relaxed) == nullptr) return false;
  if (!inlet.watching.try_lock()) return true;  // another thread is looking
  Inlet::Watch* rest = nullptr;
  Inlet::Watch* changed = nullptr;
  for (Inlet::Watch* watch = inlet.watches.load(std::memory_order_relaxed); watch != nullptr;) {
    Inlet::Watch* const next = watch->next;
    // acquire: pairs with the release of the thread that has changed the word.
    Inlet::Watch*& list = watch->word.load(std::memory_order_acquire) != watch->old ? changed : rest;
    watch->next = std::exchange(list, watch);
    watch = next;
  }
  inlet.watches.store(rest, std::memory_order_relaxed);
  inlet.watching.unlock();
  const bool any = changed != nullptr;
  while (Inlet::Watch* const watch = changed) {
    changed = watch->next;
    watch->changed.signal();  // afterwards it may be gone
  }
  return any;
}

void ShmChannel::ring(std::span<const int> ports) {
  for (const int port : ports) setup_.bells[port].ring();
}

void ShmChannel::poll(int rank) {
  if (setup_.sinks[static_cast<std::size_t>(rank)] == nullptr) return;
  take_in(port_of(rank), true);
  stop_asking(inlet(port_of(rank)));
  flush(port_of(rank));
}

void ShmChannel::submit(int, ProgressTask& task) { run_here(&task); }

bool ShmChannel::ready(const Inlet& inlet, int port) const {
  const int known = inlet.known.load(std::memory_order_acquire);  // acquire: pairs with learn_sources()
  if (known != setup_.segment.count(port)) return true;
  for (int i = 0; i < known; ++i)
    if (inlet.sources[static_cast<std::size_t>(i)].lane->ready()) return true;
  return false;
}

/// Delivers what has come in. Without `wait`: if another thread is doing so, leaves it to that thread and
/// returns true, as the caller must not go to sleep yet.
bool ShmChannel::take_in(int port, bool wait) {
  Inlet& inlet = this->inlet(port);
  if (!ready(inlet, port)) return false;
  if (wait)
    inlet.mutex.lock();
  else if (!inlet.mutex.try_lock())
    return true;
  Later later;
  {
    const Holding holding;
    if (inlet.known.load(std::memory_order_relaxed) != setup_.segment.count(port)) learn_sources(inlet, port);
    const int known = inlet.known.load(std::memory_order_relaxed);
    for (int i = 0; i < known; ++i) {
      Inlet::Source& source = inlet.sources[static_cast<std::size_t>(i)];
      if (source.lane->ready()) take_in(source, port, later);
    }
    inlet.mutex.unlock();
  }
  *later.last = nullptr;
  while (SendRequest* const message = later.matched) {
    later.matched = message->next;
    message->sink->move(*message);
  }
  for (const Later::Wanted& wanted : later.wanted) write_parts(port, wanted.asker, wanted.note);
  return true;
}

void ShmChannel::learn_sources(Inlet& inlet, int port) {
  int known = inlet.known.load(std::memory_order_relaxed);
  for (const int all = setup_.segment.count(port); known < all; ++known) {
    const int from = setup_.segment.source(port, known);
    if (from < 0) break;
    inlet.sources[static_cast<std::size_t>(known)] = {&setup_.segment.lane(from, port), from, 0};
  }
  inlet.known.store(known, std::memory_order_release);
}

void ShmChannel::take_in(Inlet::Source& source, int port, Later& later) {
  Lane::Ahead ahead;
  for (std::uint64_t messages = 0; messages < source.lane->capacity() && source.lane->ready(); ++messages) {
    if (messages >= 2) source.lane->fetch_ahead(ahead);
    deliver(source.lane->front(), port, source, later);
    source.lane->pop();
    if (++source.popped % 2 == 0 && source.lane->room_is_wanted()) ring(source.port);
  }
}

void ShmChannel::deliver(const Lane::Message& message, int port, Inlet::Source& from, Later& later) {
  if (message.is_note) return deliver_note(message, port, from, later);
  if (message.destination == static_cast<int>(Control::kPiece))
    return from.piece_for(message.envelope).take_piece(message.data, message.bytes);
  sink(message.destination).take(message.envelope, message.bytes, message.payload(), Sink::Bound::kIgnore);
  tell_crowded(message.destination);
}

void ShmChannel::deliver_note(const Lane::Message& message, int port, Inlet::Source& from, Later& later) {
  switch (static_cast<Control>(message.destination)) {
    case Control::kFin:
      return message.note<FinNote>().message->released();
    case Control::kCts: {
      const auto note = message.note<CtsNote>();
      if (note.into != nullptr) return later.wanted.push_back({from.port, note});
      if (note.ticket == 0 || claim(from.port, note.ticket))
        post(port, from.port, PendingWrite::pieces(*note.message, note.asker, note.bytes));
      return;
    }
    case Control::kPiece:
      return deliver_piece(message, port, from);
    case Control::kStaged:
      return deliver_staged(message, port, from);
    case Control::kBufferCredit:
      return outlet(port).staging_buffers->put(message.note<BufferCreditNote>().staging_buffer);
    case Control::kWritten: {
      const auto note = message.note<WrittenNote>();
      return note.asker->written(note.complete);
    }
    case Control::kCancel: {
      const auto note = message.note<CancelNote>();
      SendRequest* const kept = sink(note.destination).retract_remote(message.envelope, note.message);
      if (kept != nullptr) static_cast<ShmRendezvous*>(kept)->give_back();
      return;
    }
    case Control::kCancelled:
      return message.note<CancelledNote>().message->cancelled();
    default:
      return deliver_rts(message, port, from, later);
  }
}

void ShmChannel::deliver_staged(const Lane::Message& message, int port, const Inlet::Source& from) {
  const auto note = message.note<StagingNote>();
  const datatype::Layout payload{setup_.segment.staging_buffer(note.staging_buffer), note.bytes,
                                 datatype::predefined(MPI_BYTE)};
  sink(note.destination).take(message.envelope, note.bytes, payload, Sink::Bound::kIgnore);
  tell_crowded(note.destination);
  keep_staging_buffer(note, port, from.port);
}

void ShmChannel::deliver_piece(const Lane::Message& message, int port, const Inlet::Source& from) {
  const auto note = message.note<StagingNote>();
  from.piece_for(message.envelope)
      .take_piece(setup_.segment.staging_buffer(note.staging_buffer) + note.begin, note.bytes);
  if (note.is_over) keep_staging_buffer(note, port, from.port);
}

/// Keeps a staging buffer that is empty now, and gives another one back if the sender needs one.
void ShmChannel::keep_staging_buffer(const StagingNote& note, int port, int from) {
  StagingBuffers& staging_buffers = *outlet(port).staging_buffers;
  if (!note.one_is_wanted) return staging_buffers.put(note.staging_buffer);
  post(port, from, PendingWrite::buffer_credit(staging_buffers.exchange(note.staging_buffer)));
}

void ShmChannel::deliver_rts(const Lane::Message& message, int port, Inlet::Source& from, Later& later) {
  auto* const remote = new ShmRendezvous(*this, port, from.port, message.envelope, message.note<RtsNote>());
  remote->sink = &sink(message.destination);
  if (remote->is_streamed()) {
    from.streamed = remote;
    // It has to arrive before its first piece; there is nothing to copy yet.
    if (remote->sink->arrive(*remote)) remote->sink->move(*remote);
  } else if (remote->sink->arrive(*remote)) {
    *later.last = remote;
    later.last = &remote->next;
  }
  tell_crowded(message.destination);
}

std::uint64_t ShmChannel::ask(int port, ShmRendezvous& message, std::uint64_t& noted) {
  if (reading_.load(std::memory_order_relaxed) == Reading::kForbidden) return 0;
  Inlet& inlet = this->inlet(port);
  std::uint64_t ticket = 0;
  {
    const std::lock_guard lock(inlet.asking);
    ticket = ++inlet.last_ticket;
    if (!setup_.segment.issue(port, ticket)) return 0;  // too many messages are asked for at the same time
    noted = ticket;
    inlet.asked.push_back({&message, std::chrono::steady_clock::now()});
    inlet.any_asked.store(true, std::memory_order_relaxed);
  }
  // The caller may have something else to do: a thread that sleeps for this port sees when the time is over.
  ring(port);
  return ticket;
}

void ShmChannel::is_answered(int port, ShmRendezvous& message) {
  Inlet& inlet = this->inlet(port);
  const std::lock_guard lock(inlet.asking);
  std::erase_if(inlet.asked, [&](const Inlet::Asked& asked) { return asked.message == &message; });
  inlet.any_asked.store(!inlet.asked.empty(), std::memory_order_relaxed);
}

/// Reads the message that has been asked for the longest, if its sender has not answered in time. False: no
/// message is asked for. No process rings when the time is over, so the caller must not go to sleep after
/// true.
bool ShmChannel::stop_asking(Inlet& inlet) {
  if (!inlet.any_asked.load(std::memory_order_relaxed)) return false;
  ShmRendezvous* late = nullptr;
  {
    const std::lock_guard lock(inlet.asking);
    if (inlet.asked.empty()) return false;
    if (std::chrono::steady_clock::now() - inlet.asked.front().since < kPatience) return true;
    // Claimed before it is taken off the list, so that no other thread ends it.
    late = inlet.asked.front().message;
    inlet.asked.erase(inlet.asked.begin());
    inlet.any_asked.store(!inlet.asked.empty(), std::memory_order_relaxed);
    if (!late->claim()) return true;
  }
  late->fetch_by_reading();
  return true;
}

void ShmChannel::tell_crowded(int rank) {
  std::atomic<bool>& told = setup_.segment.crowded(rank);
  const bool crowded = sink(rank).crowded();
  if (told.load(std::memory_order_relaxed) != crowded) told.store(crowded, std::memory_order_relaxed);
}

bool ShmChannel::reaches(int port) {
  std::atomic<Reading>& known = reach_[static_cast<std::size_t>(port)];
  if (const Reading now = known.load(std::memory_order_relaxed); now != Reading::kUnknown)
    return now == Reading::kWorks;
  const bool works = is_within_reach(setup_.segment.owner(port));
  known.store(works ? Reading::kWorks : Reading::kForbidden, std::memory_order_relaxed);
  return works;
}

bool ShmChannel::read(int port, const void* address, Count bytes, const datatype::Layout& to) {
  if (reading_.load(std::memory_order_relaxed) == Reading::kForbidden) return false;
  const bool works = reaches(port) && read_from(setup_.segment.owner(port).number, address, bytes, to);
  // If it is not allowed now, it will not be allowed later.
  reading_.store(works ? Reading::kWorks : Reading::kForbidden, std::memory_order_relaxed);
  return works;
}

std::uint64_t ShmChannel::share(int here) {
  Inlet& inlet = this->inlet(here);
  const std::lock_guard lock(inlet.asking);
  const std::uint64_t ticket = ++inlet.last_ticket;
  return setup_.segment.issue(here, ticket) ? ticket : 0;
}

bool ShmChannel::read_parts(int here, int there, std::uint64_t ticket, const Block& block) {
  const Division division(block.bytes);
  const Segment::End end = end_of(here, there);
  bool complete = true;
  for (int part; (part = setup_.segment.claim_part(here, ticket, division.parts, end)) >= 0;) {
    const Count begin = division.begin(part);
    const datatype::Layout to{static_cast<std::byte*>(block.to) + begin, division.size(part),
                              datatype::predefined(MPI_BYTE)};
    complete = complete && read(there, static_cast<const std::byte*>(block.from) + begin, to.count, to);
  }
  return complete;
}

// The message exists as long as a part is claimed and not reported as written.
void ShmChannel::write_parts(int here, int there, const CtsNote& note) {
  const Division division(note.bytes);
  const Segment::End end = end_of(here, there);
  bool any = false, complete = reaches(there);
  for (int part; (part = setup_.segment.claim_part(there, note.ticket, division.parts, end)) >= 0;
       any = true) {
    const Count begin = division.begin(part);
    complete = complete && write_to(setup_.segment.owner(there).number,
                                    static_cast<std::byte*>(note.into) + begin, division.size(part),
                                    static_cast<const std::byte*>(note.message->payload.base) + begin);
  }
  if (any) post(here, there, PendingWrite::written(note.asker, complete));
}

}  // namespace clump::net
