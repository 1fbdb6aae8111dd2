// Point-to-point messages (MPI-5.0 chapter 3), as the layers above use them: MPI bodies and collectives.
//
// The caller has checked the arguments. begin() never blocks. An operation is complete when its `completion`
// is done; until then neither the operation nor its buffer may be touched. Blocking calls keep the operation
// on the stack, requests keep it on the heap.
#pragma once

#include "core/comm.h"
#include "core/rank.h"
#include "core/request.h"
#include "datatype/datatype.h"
#include "net/channel.h"
#include "net/self/self_channel.h"
#include "p2p/match_queue.h"

namespace clump::p2p {

enum class Mode : std::uint8_t { kStandard, kSynchronous, kReady };

/// The rank that a message goes to or comes from. `peer` is a rank of comm.peers(), MPI_PROC_NULL or
/// (receives) MPI_ANY_SOURCE.
struct Address {
  core::Comm& comm;
  int peer;
  int tag;
  bool collective = false;  ///< in the communicator's collective context

  /// A copy, for the rare paths of a call. If those paths took the address of this object, or all of it at
  /// once, compilers would keep it in memory on all paths.
  [[gnu::always_inline]] Address apart() const { return {comm, peer, tag, collective}; }

  MatchKey key() const {
    const core::ContextId context = collective ? core::collective(comm.context) : comm.context;
    return {static_cast<std::uint32_t>(context), peer, tag};
  }
};

/// Sends a message that can be taken at once. True: the buffer is the caller's again. False: nothing has
/// happened, and the send needs an operation. Not for synchronous sends.
inline bool try_send(const Address& to, const datatype::Layout& from);

/// Delivers the messages that are on their way to `rank`, the caller's. For calls that look once and do not
/// wait.
void poll(core::Rank& rank);

class SendOperation : public net::SendRequest, public core::Request {
 public:
  void begin(const Address& to, const datatype::Layout& from, Mode mode = Mode::kStandard);
  void released() override { complete(); }
  void cancelled() override;
  /// begin() after try_send() has failed, or for synchronous sends.
  void begin_untaken(const Address& to, const datatype::Layout& from, Mode mode = Mode::kStandard);
  /// Succeeds only while no receive has matched (MPI-5.0 section 3.8.4). If the message is in another process
  /// already, the answer comes later.
  base::Status cancel() override;
  void before_wait(WaitsFor what) override;
  int awaited() const override { return route_.destination; }
  void tell(std::vector<core::Awaited>& all) const override;

 private:
  net::Route route_{MPI_PROC_NULL, MPI_PROC_NULL};  ///< ranks of the job; none while it is the caller's
};

/// A receive as the matcher knows it. The operation's result has source, tag and bytes; if the message is
/// longer than the buffer, result.error is MPI_ERR_TRUNCATE.
struct Receive : MatchEntry {
  explicit Receive(core::Operation& operation) : operation(operation) {}
  Receive(core::Operation& operation, const MatchKey& wanted, const datatype::Layout& buffer)
      : operation(operation), buffer{buffer.base, buffer.count, buffer.type} {
    key = wanted;
  }

  core::Operation& operation;
  datatype::Layout buffer;
  bool is_expected = false;  ///< its completion is expected (Completion::expect()) while no message has been
                             ///< found
  bool is_labelled = false;  ///< it is a LabelledReceive
};
/// Posts a receive for `rank`, the caller's.
void post(const core::Rank& rank, Receive& receive);
/// The same, and waits for the receive.
inline void post_and_wait(const core::Rank& rank, Receive& receive) {
  fiber::Completion& completion = receive.operation.completion;
  receive.is_expected = completion.expect();
  post(rank, receive);
  if (receive.is_expected) [[likely]]
    completion.wait_expected();
  else
    completion.wait();
}

class ReceiveOperation : public core::Request, public Receive {
 public:
  ReceiveOperation() : Receive(static_cast<core::Operation&>(*this)) {}
  inline void begin(const Address& from, const datatype::Layout& to);
  base::Status cancel() override;
  /// Polls the lane that the message comes from, if the rank has a worker to itself.
  void before_wait(WaitsFor what) override;
  int awaited() const override;
  void tell(std::vector<core::Awaited>& all) const override;

 private:
  void begin_with_nobody();
  core::Rank* owner_ = nullptr;
};

/// The blocking calls. The Status is the operation's error.
inline base::Status send(const Address& to, const datatype::Layout& from, Mode mode = Mode::kStandard);
/// `operation` is new; its result describes the message.
inline base::Status receive(const Address& from, const datatype::Layout& to, core::Operation& operation);
base::Status send_receive(const Address& to, const datatype::Layout& out, const Address& from,
                          const datatype::Layout& in, core::Result* result = nullptr);

/// The route of a message.
inline net::Route route_of(const Address& to) {
  return {to.comm.owner.number, to.comm.peers().world_rank(to.peer)};
}
inline net::Channel& channel_to(const core::World& world, net::Route route) {
  return *world.routes[static_cast<std::size_t>(route.destination)];
}
// Calls that have to wait, and calls with MPI_PROC_NULL.
[[gnu::noinline]] base::Status send_and_wait(Address to, const datatype::Layout& from, Mode mode);
[[gnu::noinline]] void receive_from_nobody(core::Result& result);

/// receive() by a rank that has a worker to itself, and so polls while it waits.
[[gnu::noinline]] base::Status receive_alone(Address from, const datatype::Layout& to,
                                             core::Operation& operation);

/// Matcher::take() with kRespect, for a sink that is a matcher.
bool show(net::Sink& sink, net::Envelope envelope, Count bytes, const datatype::Layout& payload);

// Short functions that are called often are inline, so that addresses and layouts stay in registers.

[[gnu::always_inline]] inline bool try_send(const Address& to, const datatype::Layout& from) {
  if (to.peer == MPI_PROC_NULL) [[unlikely]]
    return true;
  const Count bytes = from.bytes();
  if (bytes > to.comm.owner.eager_limit.load(std::memory_order_relaxed)) return false;
  const net::Route route = route_of(to);
  const net::Envelope envelope{to.key().context, to.comm.rank, to.tag};
  const core::World& world = to.comm.owner.world;
  net::Channel& channel = channel_to(world, route);
  if (&channel == world.self) [[likely]]
    return world.self->try_send(route, envelope, bytes, from, show);
  return channel.try_send(route, envelope, bytes, from);
}

[[gnu::always_inline]] inline base::Status send(const Address& to, const datatype::Layout& from, Mode mode) {
  if (mode != Mode::kSynchronous && try_send(to, from)) [[likely]]
    return {};
  return send_and_wait(to.apart(), from, mode);
}

inline base::Status receive(const Address& from, const datatype::Layout& to, core::Operation& operation) {
  if (from.peer == MPI_PROC_NULL) [[unlikely]] {
    receive_from_nobody(operation.result);
    return {};
  }
  if (from.comm.owner.has_own_worker.load(std::memory_order_relaxed))
    return receive_alone(from.apart(), to, operation);
  Receive incoming(operation, from.key(), to);
  post_and_wait(from.comm.owner, incoming);
  return base::Status::from_code(operation.result.error);
}

inline void ReceiveOperation::begin(const Address& from, const datatype::Layout& to) {
  if (from.peer == MPI_PROC_NULL) [[unlikely]]
    return begin_with_nobody();
  key = from.key();
  buffer = {to.base, to.count, to.type};
  owner_ = &from.comm.owner;
  post(*owner_, *this);
}

}  // namespace clump::p2p
