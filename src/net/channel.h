// The seam between transports and matching: a Channel moves bytes, a Sink matches them. Channels know nothing
// of matching, and no channel knows another one.
//
//   p2p --try_send(), send()--> Channel (self, shm, ofi, link) --take(), arrive()--> Sink of the destination
//   (its matcher)
//
// A message that is small enough is the sender's no longer when try_send() returns: it was copied to its
// receive, or to where it can wait for one (eager). Every other send is a SendRequest: an envelope and the
// layout of the user's buffer, which stays where it is until a receive is posted (rendezvous).
#pragma once

#include <atomic>
#include <cstdint>

#include "base/counter.h"
#include "base/status.h"
#include "base/types.h"
#include "datatype/datatype.h"
#include "fiber/help.h"
#include "net/progress_tasks.h"

namespace clump::net {

/// Messages of up to this size may be copied to where they wait, unless a tool sets another limit. Above, the
/// second copy costs more than the sender gains.
inline constexpr Count kEagerLimit = 32 * 1024;
/// Between workers, messages of up to this size go through a staging buffer, unless a tool sets another
/// limit, of at most kMostStaged.
inline constexpr Count kStaged = 32 * 1024;
inline constexpr Count kMostStaged = 128 * 1024;
/// Threads that wait help to copy a message that is longer than this and not staged.
inline constexpr Count kLeastTogether = 16 * 1024;
/// Between processes those of up to this size travel in one piece.
inline constexpr Count kPieceLimit = 16 * 1024;

/// What a message is matched by (MPI-5.0 section 3.2.3). Made to be passed in two registers: compilers put
/// smaller fields together in memory, and wait for that.
class Envelope {
 public:
  Envelope() = default;
  Envelope(std::uint32_t context, int source, int tag)
      : sender_(std::uint64_t{context} << 32 | static_cast<std::uint32_t>(source)), tag_(tag) {}

  std::uint32_t context() const { return static_cast<std::uint32_t>(sender_ >> 32); }
  /// Rank of the sender in the communicator (in the remote group's numbering: its own rank).
  int source() const { return static_cast<int>(static_cast<std::uint32_t>(sender_)); }
  int tag() const { return static_cast<int>(tag_); }
  friend bool operator==(const Envelope&, const Envelope&) = default;

 private:
  std::uint64_t sender_ = 0;
  std::int64_t tag_ = 0;
};

/// From one rank of the job to another.
struct Route {
  int source;
  int destination;
};

class Sink;

/// A message on its way, owned by the sender until released() or cancelled() is called. Exactly one call, by
/// any thread, as the last touch.
class SendRequest {
 public:
  Envelope envelope;
  bool synchronous = false;    ///< it waits for its receive where it lies
  bool may_be_copied = false;  ///< but its channel may copy it all the same: the sender does not want to wait
  bool is_remote = false;      ///< it lies in another process: `payload` says nothing, fetch() brings it
  bool comes_unasked = false;  ///< only if it is remote: its bytes come all the same, and take memory here
  Count bytes = 0;             ///< packed size of `payload`
  datatype::Layout payload;
  /// The channel's: of a remote message, what stands for it in its own process. Never followed elsewhere.
  SendRequest* original = nullptr;
  SendRequest* next = nullptr;  ///< the channel's: where it holds several of them
  Sink* sink = nullptr;         ///< the channel's: where this one has arrived
  fiber::Sides sides;           ///< the channel's: the workers of both ranks, where they are in one process
  void* match = nullptr;        ///< the Sink's: what it was matched with, between arrive() and move()

  /// The payload was copied (or will not be wanted): the buffer is the sender's again.
  virtual void released() = 0;
  /// No receive has got it, and none will. Only after Channel::retract() has returned false.
  virtual void cancelled() {}
  /// Only if it is remote: brings the first `bytes` of it to `to` and calls sink->fetched(), now or later, by
  /// any thread; instead of released().
  virtual void fetch(const datatype::Layout&, Count) {}

 protected:
  ~SendRequest() = default;
};

/// Takes arriving messages of one rank. Called by any thread, but in order for the messages of one sender.
class Sink {
 public:
  virtual ~Sink() = default;

  enum class Bound : std::uint8_t { kRespect, kIgnore };
  /// Matches a message of so many bytes, which lie in `payload`, against the posted receives: copies it
  /// there, or to where it waits for one. False, and nothing has happened, if too much waits here already:
  /// only with kRespect.
  virtual bool take(Envelope envelope, Count bytes, const datatype::Layout& payload, Bound bound) = 0;
  /// Matches `message`. True: there is a receive for it, and the caller must call move(), now or later, which
  /// copies. False: it was copied to where it can wait, and released, or is kept until a receive comes.
  virtual bool arrive(SendRequest& message) = 0;
  virtual void move(SendRequest& message) = 0;
  /// A remote message is where its receive wants it.
  virtual void fetched(SendRequest& message) = 0;
  /// Gives a kept message back, unmatched, without calling released(); false if it is not kept (any more).
  virtual bool retract(SendRequest& message) = 0;
  /// The same for the remote message with this envelope and `original`: null if it is not kept.
  virtual SendRequest* retract_remote(Envelope envelope, const SendRequest* original) = 0;

  /// Too much waits here: senders shall wait for their receives instead. A hint that channels look at before
  /// they accept a message which cannot be given back to its sender.
  bool crowded() const { return crowded_.load(std::memory_order_relaxed); }

 protected:
  // On a line of its own, because all senders read it. relaxed: nothing else is told by it.
  alignas(64) std::atomic<bool> crowded_{false};
};

/// Messages that were counted, for tools.
struct Volume {
  base::Counter messages, bytes;
  [[gnu::always_inline]] void add(Count size) {
    messages.add();
    bytes.add(static_cast<std::uint64_t>(size));
  }
};

/// How a channel gets a message to its receiver.
enum class Way : std::uint8_t {
  kDirect,     ///< shown to the matcher of the destination by the sender
  kLane,       ///< copied into a lane, or into whatever leads to where the destination is
  kReference,  ///< left with the sender, whose buffer is read when there is a receive
};
inline constexpr int kWays = 3;

/// What a rank has sent through a channel, for tools. Written by the sending thread, so messages that several
/// threads of a rank send at the same moment may be missed.
struct alignas(64) Traffic {
  Volume ways[kWays];
  base::Counter refused;  ///< by a lane that was full
  Volume& operator[](Way way) { return ways[static_cast<int>(way)]; }
  const Volume& operator[](Way way) const { return ways[static_cast<int>(way)]; }
};
static_assert(sizeof(Traffic) == 64);

/// The channels that there are.
enum class ChannelKind : std::uint8_t { kSelf, kShm, kOfi, kLink };
/// By kind, for tools; what each leads to.
struct ChannelInfo {
  const char* name;
  const char* reach;
};
inline constexpr ChannelInfo kChannels[] = {
    {"self", "ranks in the same process"},
    {"shm", "ranks in other processes of the same node"},
    {"ofi", "ranks of other nodes, by libfabric"},
    {"link", "ranks of other jobs on this machine, by sockets"},
};

/// How many numbered messages a process has given to a network and has taken from it: what a job's processes
/// have sent and not taken is on its way.
struct Passed {
  std::uint64_t sent = 0, taken = 0;
};

/// Moves messages to ranks that it can reach.
class Channel {
 public:
  virtual ~Channel() = default;
  ChannelKind kind() const { return kind_; }
  /// The longest message that is copied on its way. For tools; any thread.
  Count lane_limit() const { return lane_limit_.load(std::memory_order_relaxed); }
  void set_lane_limit(Count bytes) { lane_limit_.store(bytes, std::memory_order_relaxed); }
  /// Messages up to here are not worth asking for, whatever a rank's limit is.
  Count least_eager() const { return least_eager_; }
  /// What a rank of this host process has sent.
  virtual const Traffic& traffic(int rank) const = 0;
  /// Takes a message that may be copied to where it waits, if that is possible at once. True:
  /// `payload` is the sender's again. False: nothing has happened; send() it.
  virtual bool try_send(Route route, Envelope envelope, Count bytes, const datatype::Layout& payload) = 0;
  /// Never waits for the receiving rank.
  virtual void send(Route route, SendRequest& message) = 0;
  /// Takes back a message that no receive has matched yet (MPI_Cancel). False: it is too late, or the process
  /// that it has been offered to is asked, and message.cancelled() tells if it could be taken back.
  virtual bool retract(Route route, SendRequest& message) = 0;
  /// Lets what is on its way to `rank` arrive: what was sent before the call, by this thread of control or by
  /// others that it has synchronised with, is in the rank's sink afterwards.
  virtual void poll(int rank) = 0;
  /// Has a task of `rank`, of this host process, run soon: by a thread that works for the rank's worker, if
  /// there is such a one, otherwise by the caller (run_here()).
  virtual void submit(int rank, ProgressTask& task) = 0;

  // Progress of all ranks of this host process, for threads that work or wait.

  /// Takes in what has come for the ranks of a worker (0, where there are no workers), and sends what had to
  /// wait. Whether there was anything. Any thread; never waits.
  virtual bool drain(int worker) = 0;
  /// For a thread that is going to sleep after drain() has found nothing: true if it will be woken for what
  /// comes, false if it has to drain once more. Any thread.
  virtual bool may_sleep() { return true; }
  /// Adds what has passed between this process and a network. False: something is under way in this process,
  /// or was a moment ago. For a thread that is none of a rank's.
  virtual bool rests(Passed&) { return true; }

 protected:
  explicit Channel(ChannelKind kind) : kind_(kind) {}
  /// Before any rank uses it.
  void set_least_eager(Count bytes) { least_eager_ = bytes; }

 private:
  std::atomic<Count> lane_limit_{4096};  // relaxed: nothing else is told by it
  Count least_eager_ = 0;
  const ChannelKind kind_;
};

}  // namespace clump::net
