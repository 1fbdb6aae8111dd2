// The network thread of this process: it looks after the network while no rank does.
//
//  a rank waits or works: drains the endpoint contexts itself       the thread sleeps
//  a rank goes to sleep: watch() arms what the providers offer  --> an arrival wakes the thread, which takes
//                                                                   it in
//  ranks compute for long                                           the thread notices after some
//                                                                   milliseconds, and watches by itself
//
// While a rank looks after the network, the thread must not compete with it, so nothing wakes the thread.
// Aggregates that endpoint contexts hold back are sent by the thread when its timer expires.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <vector>

#include "base/counter.h"
#include "base/status.h"
#include "net/ofi/endpoint_context.h"

namespace clump::net::ofi {

class NetworkThread {
 public:
  NetworkThread(const std::vector<std::unique_ptr<EndpointContext>>& contexts, Timer& timer)
      : contexts_(contexts), timer_(timer) {}
  /// When this returns, the thread has ended.
  ~NetworkThread();
  NetworkThread(const NetworkThread&) = delete;
  NetworkThread& operator=(const NetworkThread&) = delete;
  base::Status start();

  /// Called by a thread that is going to sleep. True: the network thread will wake for everything that comes
  /// from now on. False: there is something to take in right now. Any thread.
  bool watch();
  /// An even number while the thread sleeps; a different number after it has done anything.
  std::uint64_t turns() const { return turns_.load(std::memory_order_seq_cst); }

  // What the thread has done. Any thread.

  /// How often the thread has gone to sleep.
  std::uint64_t naps() const { return turns() / 2; }
  /// How often the thread has sent an aggregate because its timer had expired.
  std::uint64_t sent_late() const { return sent_late_.value(); }

 private:
  static void* begin(void* self);
  void run();
  enum class Woken : std::uint8_t { kTimeIsOver, kByTimer, kByArrival };
  Woken sleep(std::chrono::milliseconds most);
  void send_what_is_held_back();
  bool look();
  bool look_for_a_while();
  std::chrono::milliseconds watch_by_itself();
  std::uint64_t looks() const;

  const std::vector<std::unique_ptr<EndpointContext>>& contexts_;
  Timer& timer_;
  int alarms_ = -1;     // epoll: the descriptors of the endpoint contexts, of timer_, and stop_
  int stop_ = -1;       // eventfd
  bool blind_ = false;  // an endpoint context has no descriptor
  std::atomic<bool> running_{false};
  std::atomic<std::uint64_t> turns_{1};
  base::Counter sent_late_;
  std::binary_semaphore ended_{0};
};

}  // namespace clump::net::ofi
