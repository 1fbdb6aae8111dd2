#include "net/self/self_channel.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include "fiber/fiber.h"
#include "fiber/own_worker.h"

namespace clump::net {

namespace {

// The cells and bytes of a lane. With many workers, and so very many lanes, the smaller size is used.
constexpr Lane::Size kLane{128, 64 * 1024}, kSmallLane{64, 16 * 1024};
constexpr int kManyWorkers = 16;

/// The note in the lane for a message in a staging buffer; the destination of such a note is negative: ~rank.
struct StagedMessage {
  std::uint32_t staging_buffer, bytes;
  int from;            ///< the worker whose staging buffer it was
  bool one_is_wanted;  ///< the sender needs one back
};

}  // namespace

/// The right to write into the lanes from the worker where `source` is at home. True: while this lives, the
/// caller is the only thread that writes into them. False: the caller does not own that worker, for example
/// as a stolen fiber, or acts for another rank.
class SelfChannel::Writing {
 public:
  [[gnu::always_inline]] Writing(const SelfChannel& channel, int source)
      : home_(channel.homes_[static_cast<std::size_t>(source)]) {
    Outlet& outlet = channel.outlets_[static_cast<std::size_t>(home_)];
    if (here_.worker() != home_) [[unlikely]] {
      if (fiber::worker_beside() != home_) return;
      share(outlet);
    }
    may_ = true;
    if (!outlet.is_shared.load(std::memory_order_relaxed)) [[likely]]
      return;
    outlet.mutex.lock();
    locked_ = &outlet.mutex;
  }
  ~Writing() {
    if (locked_ != nullptr) [[unlikely]]
      locked_->unlock();
  }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  explicit operator bool() const { return may_; }

 private:
  [[gnu::noinline]] void share(Outlet& outlet) const {
    std::call_once(outlet.shared_once, [&] {
      outlet.is_shared.store(true, std::memory_order_relaxed);
      fiber::await_owners(home_);  // until none of them can have missed the store
    });
  }

  const fiber::OwnWorker here_;
  const int home_;
  base::ShortMutex* locked_ = nullptr;
  bool may_ = false;
};

SelfChannel::SelfChannel(std::vector<Sink*> sinks, std::vector<int> homes, int workers)
    : Channel(ChannelKind::kSelf),
      sinks_(std::move(sinks)),
      homes_(std::move(homes)),
      workers_(workers),
      traffic_(sinks_.size()) {
  const auto n = static_cast<std::size_t>(workers);
  residents_.resize(n);
  for (std::size_t rank = 0; rank < sinks_.size(); ++rank)
    if (sinks_[rank] != nullptr) ++residents_[static_cast<std::size_t>(homes_[rank])];
  lanes_ = std::make_unique<std::atomic<Lane*>[]>(n * n);
  inlets_ = std::make_unique<Inlet[]>(n);
  outlets_ = std::make_unique<Outlet[]>(n);
  for (std::size_t i = 0; i < n; ++i) {
    inlets_[i].lanes = std::make_unique<std::atomic<Lane*>[]>(n);
    inlets_[i].staging_buffers = std::make_unique<StagingBuffers>(static_cast<int>(i));
  }
  staging_buffers_ = std::make_unique_for_overwrite<StagingBuffer[]>(n * StagingBuffers::kOfWorker);
  set_lane_limit(kStaged);
}

void SelfChannel::add(int rank, Sink& sink) {
  sinks_[static_cast<std::size_t>(rank)] = &sink;
  if (workers_ > 0) ++residents_[static_cast<std::size_t>(homes_[static_cast<std::size_t>(rank)])];
}

SelfChannel::~SelfChannel() {
  const auto n = static_cast<std::size_t>(workers_);
  for (std::size_t i = 0; i < n * n; ++i) Lane::Free()(lanes_[i].load(std::memory_order_relaxed));
}

Lane& SelfChannel::make_lane(int from, int to) {
  Lane* const made = Lane::make(workers_ < kManyWorkers ? kLane : kSmallLane).release();
  Inlet& inlet = inlets_[static_cast<std::size_t>(to)];
  const std::lock_guard lock(inlet.making);
  const int index = inlet.count.load(std::memory_order_relaxed);
  inlet.lanes[static_cast<std::size_t>(index)].store(made, std::memory_order_relaxed);
  inlet.count.store(index + 1, std::memory_order_release);  // release: pairs with the acquire in drain()
  lane(from, to).store(made, std::memory_order_release);  // release: pairs with lane_for_writing(), settle()
  return *made;
}

bool SelfChannel::try_lane(Route route, Envelope envelope, Count bytes, const datatype::Layout& payload) {
  if (bytes > lane_limit() || sinks_[static_cast<std::size_t>(route.destination)]->crowded()) return false;
  return push_or_show(route, envelope, bytes, payload);
}

bool SelfChannel::push_or_show(Route route, Envelope envelope, Count bytes, const datatype::Layout& payload) {
  Traffic& traffic = traffic_of(route);
  const int to = homes_[static_cast<std::size_t>(route.destination)];
  bool pushed = false;
  {
    const Writing writing(*this, route.source);
    if (writing) [[likely]] {
      pushed = push(route, to, envelope, bytes, payload);
      if (!pushed) traffic.refused.add();
    }
  }
  if (pushed) [[likely]] {
    traffic[Way::kLane].add(bytes);
    this->pushed(route.destination, to);
    return true;
  }
  settle(route);
  return try_show(route, envelope, bytes, payload, show_to_any);
}

bool SelfChannel::push(Route route, int to, Envelope envelope, Count bytes, const datatype::Layout& payload) {
  const int from = homes_[static_cast<std::size_t>(route.source)];
  Lane& lane = lane_for_writing(from, to);
  return bytes <= kLeastStaged ? lane.push(route.destination, envelope, bytes, payload)
                               : push_staged(lane, route.destination, from, envelope, bytes, payload);
}

bool SelfChannel::push_staged(Lane& lane, int destination, int from, Envelope envelope, Count bytes,
                              const datatype::Layout& payload) {
  if (bytes > static_cast<Count>(sizeof(StagingBuffer)) || !lane.has_room()) return false;
  StagingBuffers& staging_buffers = staging_buffers_of(from);
  const std::optional<std::uint32_t> staging_buffer = staging_buffers.take();
  if (!staging_buffer) return false;
  datatype::pack({staging_buffers_[*staging_buffer].bytes, static_cast<std::size_t>(bytes)}, payload, 0);
  return lane.push_note(
      ~destination, envelope,
      StagedMessage{*staging_buffer, static_cast<std::uint32_t>(bytes), from, staging_buffers.are_few()});
}

void SelfChannel::deliver_staged(const Lane::Message& message, Inlet& inlet) {
  const auto staged = message.note<StagedMessage>();
  const datatype::Layout payload{staging_buffers_[staged.staging_buffer].bytes, staged.bytes,
                                 datatype::predefined(MPI_BYTE)};
  sinks_[static_cast<std::size_t>(~message.destination)]->take(message.envelope, staged.bytes, payload,
                                                               Sink::Bound::kIgnore);
  StagingBuffers& staging_buffers = *inlet.staging_buffers;
  if (staged.one_is_wanted)
    staging_buffers_of(staged.from).put(staging_buffers.exchange(staged.staging_buffer));
  else
    staging_buffers.put(staged.staging_buffer);
}

void SelfChannel::send(Route route, SendRequest& message) {
  Sink& sink = *sinks_[static_cast<std::size_t>(route.destination)];
  // One that is not synchronous was given to try_send() before.
  if (message.synchronous && message.may_be_copied && !is_direct(route) && message.bytes <= lane_limit() &&
      !sink.crowded() && push_or_show(route, message.envelope, message.bytes, message.payload))
    return message.released();
  traffic_of(route)[Way::kReference].add(message.bytes);
  const int from = homes_[static_cast<std::size_t>(route.source)];
  const int to = homes_[static_cast<std::size_t>(route.destination)];
  if (workers_ > 0) message.sides = {from, to};
  if (!is_direct(route)) {
    bool pushed = false;
    {
      const Writing writing(*this, route.source);
      if (writing) [[likely]] {
        pushed = lane_for_writing(from, to).push_note(route.destination, message.envelope, &message);
        if (!pushed) traffic_of(route).refused.add();
      }
    }
    if (pushed) return this->pushed(route.destination, to);
    settle(route);
  }
  if (sink.arrive(message)) sink.move(message);
}

/// Called after a message was pushed into a lane to `worker`.
void SelfChannel::pushed(int destination, int worker) {
  if (fiber::has_to_take_in(worker)) [[unlikely]]
    poll(destination);
  else
    fiber::wake_worker(worker);
}

bool SelfChannel::retract(Route route, SendRequest& message) {
  if (!is_direct(route)) settle(route);
  return sinks_[static_cast<std::size_t>(route.destination)]->retract(message);
}

/// Delivers the messages that the calling thread of control has pushed into the lane to the destination's
/// worker: when this returns, they are in their sinks.
void SelfChannel::settle(Route route) {
  const int to = homes_[static_cast<std::size_t>(route.destination)];
  Lane* const used = lane(homes_[static_cast<std::size_t>(route.source)], to).load(std::memory_order_acquire);
  if (used == nullptr || used->empty()) return;
  Inlet& inlet = inlets_[static_cast<std::size_t>(to)];
  SendRequest* matched = nullptr;
  {
    const Holding holding;
    const std::lock_guard lock(inlet.mutex);
    drain(*used, inlet, &matched);
  }
  move(matched);
}

bool SelfChannel::drain(int worker) {
  if (workers_ == 0) return false;
  Inlet& inlet = inlets_[static_cast<std::size_t>(worker)];
  const bool moved = take_in(inlet);
  return run_tasks(inlet) || moved;
}

bool SelfChannel::take_in(Inlet& inlet) {
  if (!inlet.ready()) return false;
  // Another thread delivers, and it may leave before it has seen all messages: the caller must not go to
  // sleep yet.
  if (!inlet.mutex.try_lock()) return true;
  drain_locked(inlet);
  return true;
}

void SelfChannel::poll(int rank) {
  if (workers_ == 0) return;
  Inlet& inlet = inlets_[static_cast<std::size_t>(homes_[static_cast<std::size_t>(rank)])];
  if (inlet.ready()) {
    inlet.mutex.lock();
    drain_locked(inlet);
  }
  run_tasks(inlet);
}

bool SelfChannel::run_tasks(Inlet& inlet) {
  if (inlet.tasks.empty()) [[likely]]
    return false;
  fiber::begin_long_work();
  run_here(inlet.tasks.take_all());
  return true;
}

void SelfChannel::submit(int rank, ProgressTask& task) {
  if (workers_ == 0) return run_here(&task);
  const int home = homes_[static_cast<std::size_t>(rank)];
  Inlet& inlet = inlets_[static_cast<std::size_t>(home)];
  inlet.tasks.push(task);
  if (fiber::has_to_take_in(home)) [[unlikely]]
    run_tasks(inlet);
  else
    fiber::wake_worker(home);
}

/// Delivers what is in the lanes, and unlocks before it copies matched messages, because that may take long.
void SelfChannel::drain_locked(Inlet& inlet) {
  const int count = inlet.count.load(std::memory_order_relaxed);
  SendRequest* matched = nullptr;
  SendRequest** last = &matched;
  {
    const Holding holding;
    for (int i = 0; i < count; ++i)
      if (inlet.at(i).ready()) last = drain(inlet.at(i), inlet, last);
    inlet.mutex.unlock();
  }
  move(matched);
}

/// Delivers the messages of a lane, whose consumer is the caller, but not all that come in meanwhile.
/// Messages that have found a receive and still have to be moved are linked to `*last`; returns the place for
/// the next link.
SendRequest** SelfChannel::drain(Lane& lane, Inlet& inlet, SendRequest** last) {
  if (!lane.ready()) return last;
  Lane::Ahead ahead;
  for (std::uint64_t messages = 1;; ++messages) {
    const Lane::Message message = lane.front();
    if (message.destination < 0) {
      deliver_staged(message, inlet);
    } else if (Sink& sink = *sinks_[static_cast<std::size_t>(message.destination)]; !message.is_note) {
      sink.take(message.envelope, message.bytes, message.payload(), Sink::Bound::kIgnore);
    } else if (SendRequest& outgoing = *message.note<SendRequest*>(); sink.arrive(outgoing)) {
      outgoing.sink = &sink;
      outgoing.next = nullptr;
      *last = &outgoing;
      last = &outgoing.next;
    }
    lane.pop();
    if (messages == lane.capacity() || !lane.ready()) return last;
    if (messages >= 2) lane.fetch_ahead(ahead);
  }
}

void SelfChannel::move(SendRequest* matched) {
  while (SendRequest* const message = matched) {
    matched = message->next;
    message->sink->move(*message);  // the sender may be gone afterwards
  }
}

}  // namespace clump::net
