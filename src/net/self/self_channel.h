// The `self` channel: to ranks in the same address space.
//
// Ranks of one worker, and all ranks under the `threads` scheduler, show their messages directly to the
// destination's Sink. Messages from worker to worker go through lanes, and the thread that works for the
// destination takes them out: so a small message moves one cache line between cores, and no data of the
// matcher. Longer messages go in staging buffers (staging_buffers.h), to which the lane refers; very long
// ones stay with their senders.
//
// Order: what a rank sends to a worker goes through the one lane from the rank's own worker. A fiber that
// does not own this worker at the moment shows its message directly to the Sink, but only after it has
// emptied the lane. If ranks have several threads, these write into the lanes of their ranks' workers as
// well, one at a time with the fibers.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/mutex.h"
#include "net/channel.h"
#include "net/lane.h"
#include "net/staging_buffers.h"

namespace clump::net {

class SelfChannel final : public Channel {
 public:
  /// `sinks[rank]` is the sink of that rank of the job; null: the rank is in another host process, or
  /// joins later. The sinks outlive the channel. Without workers every message is shown directly.
  explicit SelfChannel(std::vector<Sink*> sinks)
      : Channel(ChannelKind::kSelf),
        sinks_(std::move(sinks)),
        homes_(sinks_.size()),
        traffic_(sinks_.size()) {}
  /// With workers: `homes[rank]` is the home worker of that rank.
  SelfChannel(std::vector<Sink*> sinks, std::vector<int> homes, int workers);
  ~SelfChannel() override;

  const Traffic& traffic(int rank) const override { return traffic_[static_cast<std::size_t>(rank)]; }
  bool try_send(Route route, Envelope envelope, Count bytes, const datatype::Layout& payload) override {
    return try_send(route, envelope, bytes, payload, show_to_any);
  }
  /// The same, inline, for callers that know that this is the channel and what its sinks are. Between ranks
  /// of a worker there is little more to do than to find the sink and to call show(sink, envelope, bytes,
  /// payload), which does what Sink::take() does with kRespect.
  template <typename Show>
  [[gnu::always_inline]] bool try_send(Route route, Envelope envelope, Count bytes,
                                       const datatype::Layout& payload, Show show) {
    return is_direct(route) ? try_show(route, envelope, bytes, payload, show)
                            : try_lane(route, envelope, bytes, payload);
  }
  /// Adds a rank that joins this host process: its messages go to `sink` from now on. Before any message to
  /// it is sent, and by one thread at a time.
  void add(int rank, Sink& sink);
  void send(Route route, SendRequest& message) override;
  bool retract(Route route, SendRequest& message) override;
  /// Whether no other rank has the same home worker.
  bool has_own_worker(int rank) const {
    return workers_ > 0 && residents_[static_cast<std::size_t>(homes_[static_cast<std::size_t>(rank)])] == 1;
  }
  /// The lane through which messages of a route come from another worker; null: none has come yet, or they
  /// come in other ways. With workers.
  Lane* lane(Route route) {
    // acquire: pairs with the release in make_lane().
    return lane(homes_[static_cast<std::size_t>(route.source)],
                homes_[static_cast<std::size_t>(route.destination)])
        .load(std::memory_order_acquire);
  }
  /// Takes the next message of `lane` if it is for `rank`, the caller, has this envelope, fits into `to`,
  /// which is dense, and is_next() is true. Returns its bytes, or -1 if it was not taken.
  template <typename IsNext>
  Count take_next(Lane& lane, int rank, Envelope envelope, const datatype::Layout& to, IsNext is_next);
  void poll(int rank) override;
  void submit(int rank, ProgressTask& task) override;

  /// Delivers what is in the lanes to a worker, unless another thread is doing so, and runs the tasks that
  /// were submitted for the worker. After false there will be nothing before a thread calls wake_worker().
  bool drain(int worker) override;

 private:
  struct alignas(4096) StagingBuffer {
    std::byte bytes[kMostStaged];
  };

  /// The ends of the lanes to one worker, and the tasks that were submitted for it.
  struct alignas(64) Inlet {
    std::atomic<int> count{0};                    // how many lanes; they are never removed
    std::unique_ptr<std::atomic<Lane*>[]> lanes;  // in the order in which they were made
    alignas(64) base::ShortMutex mutex;           // for the consumer's side of these lanes
    base::ShortMutex making;
    alignas(64) ProgressTaskList tasks;
    std::unique_ptr<StagingBuffers> staging_buffers;

    Lane& at(int i) const { return *lanes[static_cast<std::size_t>(i)].load(std::memory_order_relaxed); }
    bool ready() const {
      const int made = count.load(std::memory_order_acquire);  // acquire: pairs with make_lane()
      for (int i = 0; i < made; ++i)
        if (at(i).ready()) return true;
      return false;
    }
  };

  /// The beginnings of the lanes from one worker.
  struct alignas(64) Outlet {
    std::atomic<bool> is_shared{false};  // threads of ranks write, too, and each writer locks `mutex`
    base::ShortMutex mutex;
    std::once_flag shared_once;
  };
  class Writing;

  bool is_direct(Route route) const {
    return homes_[static_cast<std::size_t>(route.source)] ==
           homes_[static_cast<std::size_t>(route.destination)];
  }
  std::atomic<Lane*>& lane(int from, int to) {
    return lanes_[static_cast<std::size_t>(from) * static_cast<std::size_t>(workers_) +
                  static_cast<std::size_t>(to)];
  }
  Lane& lane_for_writing(int from, int to) {
    // acquire: pairs with the release in make_lane().
    Lane* const made = lane(from, to).load(std::memory_order_acquire);
    return made != nullptr ? *made : make_lane(from, to);
  }
  /// Shows a message to the sink, unless the sink is crowded.
  template <typename Show>
  [[gnu::always_inline]] bool try_show(Route route, Envelope envelope, Count bytes,
                                       const datatype::Layout& payload, Show show) {
    if (!show(*sinks_[static_cast<std::size_t>(route.destination)], envelope, bytes, payload)) [[unlikely]]
      return false;
    traffic_of(route)[Way::kDirect].add(bytes);
    return true;
  }
  static bool show_to_any(Sink& sink, Envelope envelope, Count bytes, const datatype::Layout& payload) {
    return sink.take(envelope, bytes, payload, Sink::Bound::kRespect);
  }
  [[gnu::noinline]] bool try_lane(Route route, Envelope envelope, Count bytes,
                                  const datatype::Layout& payload);
  [[gnu::cold]] Lane& make_lane(int from, int to);
  /// try_lane() for a message whose way is decided.
  bool push_or_show(Route route, Envelope envelope, Count bytes, const datatype::Layout& payload);
  bool push(Route route, int to, Envelope envelope, Count bytes, const datatype::Layout& payload);
  bool push_staged(Lane& lane, int destination, int from, Envelope envelope, Count bytes,
                   const datatype::Layout& payload);
  void deliver_staged(const Lane::Message& message, Inlet& inlet);
  StagingBuffers& staging_buffers_of(int worker) {
    return *inlets_[static_cast<std::size_t>(worker)].staging_buffers;
  }
  bool take_in(Inlet& inlet);
  static bool run_tasks(Inlet& inlet);
  void drain_locked(Inlet& inlet);
  SendRequest** drain(Lane& lane, Inlet& inlet, SendRequest** last);
  void pushed(int destination, int worker);
  void settle(Route route);
  static void move(SendRequest* matched);
  Traffic& traffic_of(Route route) { return traffic_[static_cast<std::size_t>(route.source)]; }

  std::vector<Sink*> sinks_;
  const std::vector<int> homes_;  // without workers all are equal
  const int workers_ = 0;
  std::vector<int> residents_;                   // [worker]: ranks of this host process
  std::vector<Traffic> traffic_;                 // [source]: each entry is written by its rank
  std::unique_ptr<std::atomic<Lane*>[]> lanes_;  // [from * workers_ + to]
  std::unique_ptr<Inlet[]> inlets_;
  std::unique_ptr<Outlet[]> outlets_;
  std::unique_ptr<StagingBuffer[]> staging_buffers_;  // a page takes memory when it is first touched
};

template <typename IsNext>
Count SelfChannel::take_next(Lane& lane, int rank, Envelope envelope, const datatype::Layout& to,
                             IsNext is_next) {
  Inlet& inlet = inlets_[static_cast<std::size_t>(homes_[static_cast<std::size_t>(rank)])];
  const std::unique_lock lock(inlet.mutex, std::try_to_lock);
  if (!lock || !lane.ready()) return -1;
  const Lane::Message message = lane.front();
  const bool fits = message.destination == rank && !message.is_note && message.envelope == envelope &&
                    message.bytes <= to.bytes();
  if (!fits || !is_next()) return -1;
  datatype::move_short(reinterpret_cast<std::intptr_t>(to.base),
                       reinterpret_cast<std::intptr_t>(message.data), message.bytes);
  lane.pop();
  return message.bytes;
}

}  // namespace clump::net
