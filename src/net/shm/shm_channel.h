// The `shm` channel: to ranks of other processes on the same node.
//
// Each process has one or more ports (one for each worker, or one for all its threads). Between each two
// ports of different processes there is a lane in the memory that all of them share. A sender locks its port.
// A thread that works for a port, or waits, delivers what has come in, as in the self channel. What finds no
// room waits in the sender's own memory, and the next thread that serves the port puts it into the lane.
//
// Order: all that a rank sends to another goes through one lane.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/bell.h"
#include "base/mutex.h"
#include "fiber/completion.h"
#include "net/channel.h"
#include "net/shm/pending_write.h"
#include "net/shm/segment.h"
#include "net/shm/shm_rendezvous.h"

namespace clump::net {

class ShmChannel final : public Channel {
 public:
  static constexpr int kElsewhere = -1;
  struct Setup {
    std::vector<Sink*> sinks;           ///< of each rank of the job; null: it is in another process
    std::vector<int> ports;             ///< of each rank; kElsewhere: it is on another node
    int first_port = 0, own_ports = 0;  ///< of this process
    Segment segment;                    ///< its memory is set
    base::Bell* bells = nullptr;        ///< of each port
    Count read_from = 0;                ///< a message of at least this size is read from its sender's memory
  };
  explicit ShmChannel(Setup setup);
  ~ShmChannel() override;

  const Traffic& traffic(int rank) const override { return traffic_[static_cast<std::size_t>(rank)]; }
  bool try_send(Route route, Envelope envelope, Count bytes, const datatype::Layout& payload) override;
  void send(Route route, SendRequest& message) override;
  bool retract(Route route, SendRequest& message) override;
  void poll(int rank) override;
  void submit(int rank, ProgressTask& task) override;

  /// Delivers what has come in at the port of a worker. After false there will be nothing before a process
  /// rings.
  bool drain(int worker) override;

  // For other uses of the memory (SharedAllocator).

  const Segment& segment() const { return setup_.segment; }
  int port_of(int rank) const { return setup_.ports[static_cast<std::size_t>(rank)]; }
  /// Blocks the calling thread of `rank` until `word` differs from `old`.
  void wait(int rank, const std::atomic<std::uint32_t>& word, std::uint32_t old);
  void ring(std::span<const int> ports);

  // For messages that have arrived and are still being moved (ShmRendezvous).

  /// Sends a control message now, or when there is room.
  void post(int from, int to, PendingWrite what);
  /// Whether to read a message at once instead of asking for pieces. The first large message shows whether
  /// reading works.
  bool reads(Count bytes) const {
    const bool known = reading_.load(std::memory_order_relaxed) != Reading::kUnknown;
    return bytes >= setup_.read_from || (!known && bytes >= Division::kFrom);
  }
  /// Asks for a message on behalf of a port: the side that claims the ticket moves the message. If the sender
  /// does not answer soon, the message is told to stop asking, perhaps before this returns: so the ticket is
  /// written into `noted` first. 0: the receiver cannot read it, or asks for too many at the same time.
  std::uint64_t ask(int port, ShmRendezvous& message, std::uint64_t& noted);
  void is_answered(int port, ShmRendezvous& message);
  bool claim(int port, std::uint64_t ticket) { return setup_.segment.claim(port, ticket); }
  /// Copies from the memory of the process that has the port; false if that is not allowed.
  bool read(int port, const void* address, Count bytes, const datatype::Layout& to);

  // For a message that both sides move. Port `here` asks port `there`.

  /// Whether processes can access each other's memory, as far as is known.
  bool shares() const {
    return reading_.load(std::memory_order_relaxed) == Reading::kWorks &&
           sharing_.load(std::memory_order_relaxed);
  }
  void stop_sharing() { sharing_.store(false, std::memory_order_relaxed); }
  /// A ticket of which both sides claim parts; 0: too many messages are asked for.
  std::uint64_t share(int here);
  void end_sharing(int here, std::uint64_t ticket) { setup_.segment.end(here, ticket); }
  struct Block {
    const void* from;  ///< in the sender's memory
    Count bytes;
    void* to;  ///< in the receiver's memory
  };
  /// Each moves the parts that it claims. read_parts(): false if it could not. write_parts(): tells the
  /// receiver.
  bool read_parts(int here, int there, std::uint64_t ticket, const Block& block);
  void write_parts(int here, int there, const CtsNote& note);
  std::uint32_t parts_of_sender(int here, int there, std::uint64_t ticket) const {
    return setup_.segment.claimed(here, ticket, end_of(there, here));
  }

 private:
  /// The sending side of a port of this process.
  struct alignas(64) Outlet {
    base::ShortMutex mutex;
    std::unique_ptr<StagingBuffers> staging_buffers;
    std::unique_ptr<Lane*[]> lanes;                   // [to]; null: not in use yet
    std::map<int, std::deque<PendingWrite>> backlog;  // [to]; no entry is empty
    std::atomic<int> waiting{0};                      // how many entries the backlog has; also read without
                                                      // the lock
  };
  /// The receiving side of the same port.
  struct alignas(64) Inlet {
    base::ShortMutex mutex;
    std::atomic<int> known{0};
    struct Source {
      Lane* lane = nullptr;
      int port = 0;
      unsigned popped = 0;
      ShmRendezvous* streamed = nullptr;  // the last offer whose pieces follow
      ShmRendezvous& piece_for(Envelope envelope) const {
        ShmRendezvous* const named = remote_of(envelope);
        return named != nullptr ? *named : *streamed;
      }
    };
    std::unique_ptr<Source[]> sources;  // there are `known` of them

    /// A message that was asked for and of which nothing has arrived.
    struct Asked {
      ShmRendezvous* message;
      std::chrono::steady_clock::time_point since;
    };
    base::ShortMutex asking;
    std::uint64_t last_ticket = 0;
    std::vector<Asked> asked;
    std::atomic<bool> any_asked{false};  // also read without the lock

    /// A thread waits until a word changes. The thread that serves the port checks this, too.
    struct Watch {
      const std::atomic<std::uint32_t>& word;
      const std::uint32_t old;
      fiber::Completion changed;
      Watch* next = nullptr;
    };
    alignas(64) base::ShortMutex watching;
    std::atomic<Watch*> watches{nullptr};  // also read without the lock
  };
  /// What is to be done when no lock is held any more.
  struct Later {
    SendRequest* matched = nullptr;  // linked: messages to be moved
    SendRequest** last = &matched;
    struct Wanted {
      int asker;
      CtsNote note;
    };
    std::vector<Wanted> wanted;  // messages of this side that both sides are to move
  };
  /// Whether this process may read the memory of others, or of one of them.
  enum class Reading : std::uint8_t { kUnknown, kWorks, kForbidden };
  /// The end from which a side moves parts. It is always the same, so that a buffer that goes back and forth
  /// has one half in each core's cache.
  static Segment::End end_of(int port, int other) {
    return port < other ? Segment::End::kFront : Segment::End::kBack;
  }

  Outlet& outlet(int port) { return outlets_[static_cast<std::size_t>(port - setup_.first_port)]; }
  Inlet& inlet(int port) { return inlets_[static_cast<std::size_t>(port - setup_.first_port)]; }
  Sink& sink(int rank) { return *setup_.sinks[static_cast<std::size_t>(rank)]; }
  Lane& lane(Outlet& from, int port, int to) {
    Lane* const open = from.lanes[static_cast<std::size_t>(to)];
    return open != nullptr ? *open : open_lane(from, port, to);
  }
  [[gnu::cold]] Lane& open_lane(Outlet& from, int port, int to);
  TransmitResources transmit_resources(Outlet& from, int port, int to) {
    return {lane(from, port, to), *from.staging_buffers, setup_.segment};
  }
  void ring(int port) { setup_.bells[port].ring(); }
  /// Whether this process can access the memory of the one that has the port, from which a message has come.
  /// Looks once for each port.
  bool reaches(int port);
  /// How much of a message is in the backlog.
  enum class Waiting : std::uint8_t { kNot, kPart, kWhole };
  Waiting retract_waiting(Outlet& outlet, int to, const SendRequest& message);
  bool flush(int port);
  bool flush(Outlet& outlet, int port, int to, SendRequest**& released);
  bool ready(const Inlet& inlet, int port) const;
  bool take_in(int port, bool wait);
  static bool look_at_watches(Inlet& inlet);
  bool stop_asking(Inlet& inlet);
  void learn_sources(Inlet& inlet, int port);
  void take_in(Inlet::Source& source, int port, Later& later);
  void deliver(const Lane::Message& message, int port, Inlet::Source& from, Later& later);
  void deliver_note(const Lane::Message& message, int port, Inlet::Source& from, Later& later);
  void deliver_staged(const Lane::Message& message, int port, const Inlet::Source& from);
  void deliver_piece(const Lane::Message& message, int port, const Inlet::Source& from);
  void keep_staging_buffer(const StagingNote& note, int port, int from);
  void deliver_rts(const Lane::Message& message, int port, Inlet::Source& from, Later& later);
  void tell_crowded(int rank);

  Setup setup_;
  std::vector<Traffic> traffic_;
  std::unique_ptr<Outlet[]> outlets_;
  std::unique_ptr<Inlet[]> inlets_;
  std::unique_ptr<std::atomic<Reading>[]> reach_;  // [port]; any thread, relaxed: all find the same
  // relaxed: no other data depend on these.
  std::atomic<Reading> reading_{Reading::kUnknown};
  std::atomic<bool> sharing_{true};
};

}  // namespace clump::net
