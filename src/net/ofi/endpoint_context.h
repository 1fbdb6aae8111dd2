// An endpoint context: one libfabric endpoint, and everything that the ranks of this process send and receive
// through it.
//
//   rank --try_send, post--> [lock free: do it]  [lock taken: PendingSends] --> endpoint --> network
//   network --> MultiReceive buffers --> deliver in the sender's order --> Sink (matcher) of the rank
//
// No thread waits for the lock. A thread that finds it free does its own work and all other work of the
// context. A thread that finds it taken leaves a PendingSend in the inbox, which the owner of the lock
// processes before it returns. So the lock may be held across system calls of a provider.
//
// What one context sends to another is numbered, and delivered in the order of the numbers, because providers
// complete arrivals in any order.
//
// A send that is a system call costs as much as hundreds of copies. So short messages to one process that
// follow each other closely are aggregated (aggregation.cc). An aggregate is sent when a thread looks after
// the network, as all waiting threads do, when it has no room for more, or when the network thread's timer
// expires.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "net/ofi/addresses.h"
#include "net/ofi/announced.h"
#include "net/ofi/endpoint.h"
#include "net/ofi/in_flight.h"
#include "net/ofi/ofi_rendezvous.h"
#include "net/ofi/peer_watch.h"
#include "net/ofi/pending_send.h"
#include "net/ofi/setup.h"
#include "net/ofi/timer.h"

namespace clump::net::ofi {

/// What all endpoint contexts of a process share.
struct SharedContext {
  const Setup& setup;
  AddressBook& book;
  std::vector<Traffic>& traffic;
  Timer& timer;
  std::uint64_t token;  ///< the one that this process has published
  std::uint64_t salt;   ///< a secret of this process
};

class EndpointContext {
 public:
  EndpointContext(const SharedContext& shared, std::size_t index, std::unique_ptr<Endpoint> endpoint);
  ~EndpointContext();
  EndpointContext(const EndpointContext&) = delete;
  EndpointContext& operator=(const EndpointContext&) = delete;
  /// Gives the network memory to receive into. To be called first.
  base::Status begin();

  // Any thread.

  /// Sends a short message. True: it is on its way, or was copied. False: nothing has happened.
  bool try_send(Route route, const wire::Address& address, Count bytes, const datatype::Layout& payload);
  /// Sends now, or when there is room, in the order of the calls.
  void post(const PendingSend& what);
  /// Takes a message back. True: it had not left. False: the other process is asked to give it back.
  bool retract(const PendingSend& withdraw);

  enum class Look : std::uint8_t {
    kGlance,  ///< for callers that come often: some are skipped
    kReal,
    kByThread,  ///< for the network thread; not counted by looks()
  };
  /// Takes in what has come, and sends what had to wait. Returns whether anything was done.
  bool progress(Look look);
  /// Whether descriptor() will report what comes next; false also if there is something to do right now.
  bool may_sleep();
  /// Gives up processes that cannot be reached. The network thread calls it once in PeerWatch::kInterval.
  void watch_peers();
  /// Adds how much was sent and taken to `passed`. False: something is under way in this process, or a thread
  /// has the lock.
  bool rests(Passed& passed);
  /// Whether there are aggregates that were not sent yet. progress() sends them.
  bool holds_back() const { return holds_back_.load(std::memory_order_relaxed); }
  /// Whether something waits for the address of a process. Nothing wakes for that: progress() asks again.
  bool lacks_address() const { return lacks_address_.load(std::memory_order_relaxed); }
  int descriptor() const { return endpoint_->descriptor(); }
  Count short_limit() const { return endpoint_->short_limit(); }
  const Endpoint& endpoint() const { return *endpoint_; }
  /// How often a thread other than the network thread has looked.
  std::uint64_t looks() const { return looks_.value(); }
  /// Whether connections to it have to begin with a greeting.
  bool expects_greetings() const { return expects_greetings_; }
  /// How many messages came without this process's token, or in no known form.
  std::uint64_t refused() const { return refused_.value(); }

 private:
  using Clock = std::chrono::steady_clock;
  /// What the context knows about another process.
  struct Peer {
    fi_addr_t address = FI_ADDR_UNSPEC;
    std::uint64_t token = 0;
    bool lost = false;
    bool crediting = false;  // a PendingSend that returns credit is in the backlog
    std::uint32_t next_out = 0, next_in = 0;
    Count credit = 0;  // this process may send so many more bytes, which the peer may have to keep
    Count owed = 0;    // the peer may send so many more bytes
    std::deque<PendingSend> backlog;
    struct Early {
      const std::byte* data;
      std::size_t bytes;
      MultiReceive* multi_receive;
    };
    std::map<std::uint32_t, Early> early;  // messages that have overtaken others
    Copy* aggregate = nullptr;             // messages that are held back
    std::size_t aggregated = 0;            // bytes of it
    Clock::time_point last_sent{};         // when the last short message that was sent by itself had left
    int in_a_row = 0;                      // how many such messages in a burst
  };
  /// Credit that is withheld because too many messages wait at a rank.
  using Withheld = std::map<std::pair<int, int>, Count>;  // by rank, by process

  Peer& peer(int process);
  bool reach(Peer& peer, int process, Later& later);
  base::Status insert(const AddressBook::Entry& entry, fi_addr_t& address);
  void lose(Peer& peer, int process, std::string why, Later& later);
  void unlocked(Later& later);

  // Sending: endpoint_context.cc. Functions that return bool: false, and nothing has happened, if there is no
  // room.
  void take_posts(Later& later);
  void begin(const PendingSend& post, Later& later);
  bool flush(Later& later);
  bool start(Peer& peer, const PendingSend& post, Later& later);
  bool start_message(Peer& peer, const PendingSend& post, Later& later);
  bool start_fetch(Peer& peer, OfiRendezvous& rendezvous, Later& later);
  bool start_cancel(Peer& peer, const PendingSend& post, Later& later);
  bool start_piece(Peer& peer, const PendingSend& post, Later& later);
  bool start_credit(Peer& peer, int process);
  struct Content {
    Count bytes = 0;
    datatype::Layout payload;
  };
  bool send_copy(Peer& peer, int process, std::span<const std::byte> head, const Content& content,
                 Later& later);
  bool send_in_place(Peer& peer, const PendingSend& post, Later& later);
  bool send_lone(Peer& peer, int process, const wire::Address& address, const Content& content, Later& later);
  template <typename Body>
  bool send_note(Peer& peer, int process, wire::Kind kind, const Body& body, Later& later);
  wire::Header header(const Peer& peer, wire::Kind kind) const;
  bool sent(Peer& peer, int process, ssize_t result, Later& later);
  bool may_be_short(const Peer& peer, Count bytes) const;
  bool may_inject(std::size_t bytes) const {
    return bytes <= std::min(endpoint_->inject_limit(), kLongestInjected);
  }

  // Aggregation: aggregation.cc. The result is the same.
  bool send_short(Peer& peer, int process, const wire::Address& address, const Content& content,
                  Later& later);
  bool is_burst(Peer& peer) const;
  bool hold_back(Peer& peer, int process, const wire::Address& address, const Content& content, Later& later);
  bool send_aggregate(Peer& peer, int process, Later& later);
  bool send_aggregates(Later& later);

  // Receiving: endpoint_arrivals.cc.
  bool read_completions(Later& later);
  void take_error(Later& later);
  void complete(const fi_cq_data_entry& entry, Later& later);
  void piece_sent(PieceOut& piece, Later& later);
  void piece_arrived(PieceIn& piece, std::size_t bytes, Later& later);
  void land(MultiReceive& multi_receive, const std::byte* data, std::size_t bytes, Later& later);
  void repost(MultiReceive& multi_receive, Later& later);
  void repost_all(Later& later);
  void deliver(Peer& peer, int process, std::span<const std::byte> message, Later& later);
  void deliver_messages(Peer& peer, int process, std::span<const std::byte> rest, Later& later);
  bool deliver_message(Peer& peer, int process, const wire::Address& address, std::span<const std::byte> data,
                       Later& later);
  void deliver_rts(int process, const wire::RtsBody& offer, Later& later);
  void deliver_cts(Peer& peer, int process, const wire::CtsBody& ask, Later& later);
  void deliver_end(Peer& peer, int process, const wire::FinBody& end, bool is_cancelled, Later& later);
  void give_back(const wire::CancelBody& withdraw);
  void wrong(Peer& peer, int process, const std::string& what, Later& later);
  void owe(Peer& peer, int process, Count bytes, Later& later);
  void return_withheld(Later& later);
  Sink* sink(int rank) const {
    return rank < 0 || rank >= static_cast<int>(setup_.sinks.size())
               ? nullptr
               : setup_.sinks[static_cast<std::size_t>(rank)];
  }
  std::uint64_t next_tag();

  const Setup& setup_;
  AddressBook& book_;
  const std::size_t index_;
  std::unique_ptr<Endpoint> endpoint_;  // never changed
  std::vector<Traffic>& traffic_;
  Timer& timer_;
  const std::uint64_t token_, salt_;
  const Count window_;
  bool expects_greetings_ = false;  // never changed after the constructor

  base::ShortMutex mutex_;  // for all that follows, except what is atomic
  PendingSends inbox_;
  std::vector<std::unique_ptr<Peer>> peers_;  // [process]
  std::vector<int> waiting_;                  // processes with a backlog
  std::vector<int> aggregating_;              // processes with an aggregate
  std::atomic<bool> holds_back_{false};       // whether there are any
  std::atomic<bool> lacks_address_{false};
  Withheld withheld_;
  AnnouncedMessages announced_;
  std::uint64_t pieces_ = 0;
  InFlightPools in_flight_pools_;
  std::optional<PeerWatch> watch_;  // for providers over sockets
  bool must_repost_ = false;        // there was no room for a multi-receive buffer
  std::atomic<int> skip_{0};        // how many glances are to be skipped
  int skips_ = 0;                   // how many after the next look that finds nothing
  base::Counter looks_, refused_;
};

}  // namespace clump::net::ofi
