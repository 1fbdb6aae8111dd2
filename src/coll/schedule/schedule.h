// A schedule: a collective operation as a list of small steps, seen from one rank.
//
// An algorithm writes it with textbook verbs: send, receive, copy, combine. Communication steps that follow
// one another make a round: they are in progress together. A local step waits for the round before it, and a
// round waits for the local steps before it; next() ends a round where no local step does. So binomial
// broadcast is "receive; next; send, send, send".
//
// Building moves no data and reads none of the user's, so a schedule can be run more than once (persistent
// collectives). run() blocks; start() and advance() never do: the thread that completes the last operation of
// a round tells the schedule's listener, and then a thread of any rank takes the next steps. Buffers
// and datatypes belong to the caller and must stay until the schedule is done. One thread at a time; what
// lies in a schedule never moves.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory_resource>
#include <span>
#include <variant>
#include <vector>

#include "base/status.h"
#include "coll/call.h"
#include "coll/schedule/agree.h"
#include "coll/schedule/scratch.h"
#include "coll/select/select.h"
#include "core/comm.h"
#include "core/op.h"
#include "datatype/datatype.h"
#include "fiber/float_control.h"
#include "p2p/p2p.h"

namespace clump::coll {

class Hosts;

class Schedule {
 public:
  /// Takes the communicator's next collective tag: every rank makes its schedules in the same order.
  explicit Schedule(core::Comm& comm, const Reduction& reduction = {}, Caller caller = Caller::kOwn);
  explicit Schedule(const Members& members, const Reduction& reduction = {});
  /// One beside those that the program asks for: has this tag, and is in no books.
  struct Aside {
    int tag;
  };
  Schedule(core::Comm& comm, Aside aside, const Reduction& reduction = {});
  ~Schedule();
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  int rank() const { return rank_; }    ///< of the caller, in its group
  int size() const { return size_; }    ///< of the caller's group
  int peers() const { return peers_; }  ///< size of the group that peers are ranks of
  bool is_inter() const { return comm_.is_inter(); }
  bool commutative() const { return reduction_.op == nullptr || reduction_.op->commutative(); }
  bool splits_operands() const { return operations_of(reduction_) == Operations::kPredefined; }
  /// Of the communicator, which has one.
  const core::Topology& topology() const { return *comm_.topology; }
  /// The algorithm for a collective, or for a part of one, that is built now.
  Algorithm choose(Collective collective, Count bytes) { return choose(collective, bytes, false); }
  /// For one that combines operands.
  Algorithm choose(Collective collective, const Layout& operands);
  /// The operation is a blocking one of ranks that are there: before it is written.
  void set_where(Where where) { where_ = where; }
  /// Where the ranks are; null if that makes no difference.
  const Hosts* hosts() const { return hosts_; }

  /// While it lives, the schedule is written for some of its ranks as if there were no others: they have the
  /// numbers that they have in `ranks`, where the caller is number `me`. Not for intercommunicators.
  class Among {
   public:
    Among(Schedule& s, std::span<const int> ranks, int me);
    ~Among();
    Among(const Among&) = delete;
    Among& operator=(const Among&) = delete;

   private:
    Schedule& s_;
    const int rank_, size_;
  };

  // The verbs. Peers are ranks of the remote group of an intercommunicator. Nothing may be sent to oneself.
  void send(const Layout& from, int to);
  void receive(const Layout& to, int from);
  /// The packed bytes of `from` become those of `to`; nothing happens if they are the same place.
  void copy(const Layout& to, const Layout& from);
  /// right[i] = left[i] op right[i], where `left` is of lower ranks than `right` if the operation does not
  /// commute.
  void combine(const Layout& left, const Layout& right);
  /// Communication steps that follow wait for those before.
  void next();

  // Steps whose data is known only when the schedule runs. Each function is called once in a run.
  void send(std::function<Layout()> from, int to);
  /// No more than `to` has room for.
  void receive_up_to(const Layout& to, int from);
  /// Something else that the caller does by itself.
  void act(std::function<base::Status()> action);
  /// MPI_ERR_TRUNCATE: `peer` sent so many bytes, and not those that the caller expects.
  base::Status unequal(int peer, Count sent, Count expected) const;

  /// Room of the schedule's own for `count` elements of `type`.
  Layout scratch(Count count, const datatype::Datatype& type);
  /// Room for solid bytes.
  Layout scratch(Count bytes);

  /// Runs all steps, and blocks while others have to do something. After a failed step the others are still
  /// run, so that no other rank hangs; the first failure is returned.
  base::Status run();

  /// Is told that a round in flight has ended. Once for each advance() that returned false; by any
  /// thread, which may hold locks of a channel.
  struct Listener {
    virtual void round_ended() = 0;

   protected:
    ~Listener() = default;
  };
  /// Makes it ready to be run, again if it ran before; advance() begins with the first steps.
  void start(Listener& listener) { start(&listener); }
  /// Whether the first steps may take long: data moves in them, as much as others help to copy.
  bool begins_with_much() const;
  /// Takes the steps that can be taken now. True when everything is done; false when a round is in flight,
  /// whose end may have come before this returns: then the schedule may be advanced, done or gone already.
  bool advance();
  /// Before start(): operands are combined as by a thread with this control.
  void compute_as(fiber::FloatControl control) { control_ = control; }
  /// The floating-point exceptions that were met in combining since start(), for fiber::meet().
  std::uint32_t met() const { return met_; }
  int tag() const { return tag_; }
  /// After advance() returned true: the first failure, if any.
  base::Status status() const { return status_; }

 private:
  friend class WrittenRounds;  // for unit tests: rounds_test.cc
  struct Step {
    enum class Kind : std::uint8_t { kSend, kSendThen, kReceive, kReceiveUpTo, kCopy, kCombine, kAct, kNext };
    Kind kind;
    int peer;
    Layout first;  ///< its count: which of thens_ or actions_, of kSendThen and kAct
    Layout second;
  };
  /// An operation of a round. With a listener no thread waits for it: the schedule is told.
  template <typename Kind>
  class Operation final : public Kind {
   public:
    explicit Operation(Schedule& schedule) : schedule_(schedule) {}

   private:
    void end_abandoned() override { schedule_.operation_ended(); }
    Schedule& schedule_;
  };
  using Send = Operation<p2p::SendOperation>;
  using Receive = Operation<p2p::ReceiveOperation>;
  using Slot = std::variant<std::monostate, Send, Receive>;

  Algorithm choose(Collective collective, Count bytes, bool one_order);
  std::size_t widest_round() const;
  std::size_t round_at(std::size_t position) const;
  void start(Listener* listener);
  void begin(const Step& step, Slot& slot);
  bool begin_round();
  void operation_ended();
  void wait_for_round();
  void end_round();
  void copy_now(const Layout& to, const Layout& from);
  void combine_now(const Step& step);
  void check_received(const Step& step, const core::Result& result);
  int peer_of(int rank) const;
  const char* group() const { return is_inter() ? "remote rank" : "rank"; }
  int written(int peer) const { return among_.empty() ? peer : among_[static_cast<std::size_t>(peer)]; }

  // Steps, operations and small scratch of the usual schedule fit in here: no allocation for small
  // collectives.
  static constexpr std::size_t kInlineBytes = 3072;
  alignas(64) std::array<std::byte, kInlineBytes> inline_;
  std::pmr::monotonic_buffer_resource arena_{inline_.data(), inline_.size()};

  core::Comm& comm_;
  const core::Group* part_;  // numbers the ranks, if it is not the communicator's group
  Reduction reduction_;
  int rank_, size_, peers_, tag_;
  const Hosts* const hosts_;
  std::span<const int> among_;  // peers of the steps that are written now are numbers in it; empty: ranks
  bool noted_ = true;
  Where where_ = Where::kAnywhere;
  bool flat_ = false;  // an algorithm without stages was chosen where there could be two: so its parts

  std::pmr::vector<Step> steps_{&arena_};
  std::vector<std::function<Layout()>> thens_;
  std::vector<std::function<base::Status()>> actions_;
  std::vector<Scratch> buffers_;
  Slot* slots_ = nullptr;
  std::size_t slot_count_ = 0;

  std::size_t position_ = 0;   // of the next step; a round in flight is right before it
  std::size_t in_flight_ = 0;  // operations of that round, in slots_[0...]
  Listener* listener_ = nullptr;
  fiber::FloatControl control_ = fiber::FloatControl::none();  // of a run without a listener: the caller's
  std::uint32_t met_ = 0;
  // Operations of the round that have not ended; one more while the round is being begun.
  std::atomic<std::size_t> outstanding_{0};
  base::Status status_;
  base::Status unusable_;  // why it cannot be run: building it failed
};

}  // namespace clump::coll
