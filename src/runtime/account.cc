#include "runtime/account.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "coll/shared/team.h"
#include "core/accesses.h"
#include "fiber/world_stop.h"
#include "host/host.h"
#include "io/transfer.h"
#include "mpi/generalized_requests.h"
#include "net/link/link_channel.h"
#include "p2p/label.h"
#include "p2p/matcher.h"
#include "rma/waits.h"
#include "rma/window.h"

namespace clump {

namespace {

/// The most items that are reported for one thread; of a longer wait only the first ones are.
constexpr std::size_t kMostItems = 64;
/// The first tag that no collective of the program has.
constexpr int kCollectiveTags = 1 << 29;

/// Whether a number of this process is that of a rank of another job.
bool is_of_others(int number) { return number >= host::job().first_of_others(); }

/// The number of a rank in the accounts of all processes of the job: each process has numbers of its own for
/// ranks of other jobs.
std::int32_t number_of(int number) {
  return is_of_others(number) ? number + host::job().process * pmi::kMostOfOthers : number;
}

/// Before threads are stopped, which may be connecting.
std::vector<pmi::OtherRank> others_of(const core::World& world) {
  std::vector<pmi::OtherRank> others;
  if (world.link == nullptr || !world.link->has_places()) return others;
  for (int number = host::job().first_of_others(); number < world.places(); ++number) {
    if (!world.link->is_place(number)) continue;
    const net::link::PeerName name = world.link->name_of(number);
    others.push_back({number_of(number), name.rank, name.job.id});
  }
  return others;
}

/// The first rank of this job in a group: it is the same in all processes of the job. -1: there is none.
int first_of(const core::Group& group) {
  for (int rank = 0; rank < group.size(); ++rank)
    if (!is_of_others(group.world_rank(rank))) return group.world_rank(rank);
  return -1;
}

pmi::CommKey key_of(const core::Comm& comm) {
  int first = first_of(*comm.group);
  if (comm.is_inter())
    if (const int other = first_of(*comm.remote_group); other >= 0) first = std::min(first, other);
  return {static_cast<std::uint32_t>(comm.context), first};
}

std::vector<std::int32_t> ranks_of(const core::Group& group) {
  std::vector<std::int32_t> ranks;
  for (int rank = 0; rank < group.size(); ++rank) ranks.push_back(number_of(group.world_rank(rank)));
  return ranks;
}

pmi::CommFacts facts_of(const core::Comm& comm) {
  pmi::CommFacts facts{key_of(comm), comm.name.get(), ranks_of(*comm.group)};
  if (comm.is_inter())
    for (const std::int32_t rank : ranks_of(*comm.remote_group)) facts.members.push_back(rank);
  const int everyone = comm.owner.world.launch.size;
  const auto is_first = [&](std::int32_t rank) { return rank < everyone; };
  if (static_cast<int>(facts.members.size()) == everyone && std::ranges::all_of(facts.members, is_first))
    facts.members.clear();
  return facts;
}

std::int32_t tag_of(int tag) { return tag == MPI_ANY_TAG ? pmi::Awaited::kAny : tag; }

/// What an account has looked at, and what threads of ranks may free meanwhile: the last reference may be one
/// of these, and then this thread ends the object, with locks that a stopped thread may hold.
struct Kept {
  std::vector<base::Ref<core::Comm>> comms;
  std::vector<base::Ref<core::Window>> windows;
};

/// One rank's part of an account.
class RankAccount final : p2p::Matcher::Visitor {
 public:
  /// `kept` is emptied when the world goes on.
  RankAccount(core::Rank& rank, pmi::Account& account, std::set<pmi::CommKey>& told, Kept& kept)
      : rank_(rank), account_(account), told_(told), kept_(kept) {}

  void add(std::span<const fiber::BlockedThread> threads) {
    for (const fiber::BlockedThread& thread : threads)
      waiters_.push_back({&thread, {rank_.number, host::frames_of(thread), {}}, {}});
    // The only thread of a rank changes the rank's objects without a lock. They are read only if a thread of
    // the rank is blocked.
    if (!threads.empty()) {
      for (const base::Ref<core::Comm>& comm : rank_.all_comms()) know(*comm);
      for (const base::Ref<core::Window>& window : rank_.all_windows()) {
        kept_.windows.push_back(window);
        know(*static_cast<rma::Window&>(*window).comm);
      }
      add_requests();
    }
    if (rank_.inbox != nullptr) p2p::matcher_of(rank_).visit(*this);
    for (Waiter& waiter : waiters_) add_record(waiter);
    for (Waiter& waiter : waiters_)
      if (waiter.told.items.empty()) add_team(waiter);
    for (Waiter& waiter : waiters_) account_.waiters.push_back(std::move(waiter.told));
  }

 private:
  struct Waiter {
    const fiber::BlockedThread* thread;
    pmi::Waiter told;
    std::set<const core::Request*> requests;  // the requests that `told` already has
  };

  void know(core::Comm& comm) {
    kept_.comms.emplace_back(&comm);
    comms_[static_cast<std::uint32_t>(comm.context)] = &comm;
    if (comm.collective_tags() > 0)
      account_.begun.push_back({rank_.number, key_of(comm), comm.collective_tags()});
    if (comm.local) know(*comm.local);
  }

  pmi::CommKey tell(const core::Comm& comm) {
    const pmi::CommKey key = key_of(comm);
    if (told_.insert(key).second) account_.comms.push_back(facts_of(comm));
    return key;
  }

  /// The communicator of a context, which may be the one for messages or the one for collectives; null:
  /// unknown.
  const core::Comm* comm_of(std::uint32_t context) const {
    const auto found = comms_.find(context & ~1u);
    return found != comms_.end() ? found->second : nullptr;
  }
  static bool is_of_program(std::uint32_t context) { return (context & 1) == 0; }

  Waiter* find(const void* who) {
    if (who == nullptr) return nullptr;
    const auto found = std::ranges::find_if(waiters_, [&](const Waiter& w) { return w.thread->who == who; });
    return found != waiters_.end() ? &*found : nullptr;
  }

  /// The number in accounts of rank `peer` of the communicator's peers.
  std::int32_t world_rank(const core::Comm* comm, int peer) const {
    return comm == nullptr || peer < 0 ? pmi::Awaited::kAny : number_of(comm->peers().world_rank(peer));
  }

  void add_item(Waiter& waiter, pmi::Awaited item, std::uint32_t context) {
    if (waiter.told.items.size() == kMostItems) return;
    const core::Comm* const comm = comm_of(context);
    item.comm = comm != nullptr ? tell(*comm) : pmi::CommKey{context & ~1u, -1};
    waiter.told.items.push_back(std::move(item));
  }

  /// The bytes of a message without its label.
  Count data_bytes(std::uint32_t context, Count bytes) const {
    const bool labelled = rank_.world.checks != core::Checks::kNone && (context & 1u) == 0;
    return labelled ? bytes - static_cast<Count>(sizeof(p2p::Label)) : bytes;
  }

  void add_items(Waiter& waiter, const core::Request& request) {
    using Kind = core::Awaited::Kind;
    using To = pmi::Awaited::Kind;
    if (!waiter.requests.insert(&request).second) return;
    if (const auto* const of_window = dynamic_cast<const rma::WaitForWindow*>(&request)) {
      rma::AwaitedOfWindow what = of_window->awaited_of_window();
      waiter.told.items.push_back(
          {.kind = To::kWindow, .peer = what.peer, .call = std::move(what.what), .holds = what.holds});
      return;
    }
    std::vector<core::Awaited> all;
    request.tell(all);
    for (const core::Awaited& one : all) {
      pmi::Awaited item{.tag = tag_of(one.tag), .bytes = one.bytes};
      item.peer =
          one.world_peer >= 0 ? number_of(one.world_peer) : world_rank(comm_of(one.context), one.peer);
      switch (one.kind) {
        case Kind::kReceive:
          item.kind = To::kReceive;
          item.bytes = data_bytes(one.context, one.bytes);
          break;
        case Kind::kSend:
          item.kind = To::kSend;
          item.bytes = data_bytes(one.context, one.bytes);
          break;
        case Kind::kPartitionedSend:
          item.kind = To::kPartitionedSend;
          break;
        case Kind::kPartitionedReceive:
          item.kind = To::kPartitionedReceive;
          break;
        case Kind::kUser:
          item.kind = To::kUser;
          break;
        case Kind::kCollective:
          item = {.kind = To::kCollective, .call = one.call != nullptr ? one.call : "", .sequence = one.tag};
          break;
      }
      add_item(waiter, std::move(item), one.context);
    }
  }

  static bool is_open(const core::Request& request) {
    return request.state == core::Request::State::kActive && !request.completion.done();
  }

  /// A thread that waits for a request is stopped, and no other thread may free the request.
  void add_requests() {
    struct Seen {
      const core::Request* request;
      const void* sleeper;
    };
    const auto look = [](const core::Request& request) {
      return Seen{&request, is_open(request) ? request.completion.sleeper() : nullptr};
    };
    for (const Seen& one : rank_.take_from_requests(look)) {
      in_table_.push_back(one.request);
      if (Waiter* const waiter = find(one.sleeper)) add_items(*waiter, *one.request);
    }
    std::ranges::sort(in_table_);
  }
  bool is_in_table(const core::Operation& operation) const {
    return std::ranges::binary_search(in_table_, &operation);
  }

  void add_record(Waiter& waiter) {
    const auto* const record = static_cast<const core::Waiting*>(waiter.thread->waits);
    if (record == nullptr) return;
    if (const core::Request* const request = record->request()) add_items(waiter, *request);
    for (const MPI_Request handle : record->handles()) {
      const core::Request* const request = handle != MPI_REQUEST_NULL ? rank_.request(handle) : nullptr;
      if (request != nullptr && is_open(*request)) add_items(waiter, *request);
    }
    if (const core::AwaitedCollective* const awaited = record->collective()) {
      pmi::Awaited item{.kind = pmi::Awaited::Kind::kCollective};
      if (awaited->tag < kCollectiveTags) item.sequence = awaited->tag;
      if (awaited->part != nullptr) item.part = ranks_of(*awaited->part);
      add_item(waiter, std::move(item), static_cast<std::uint32_t>(awaited->comm.context));
    }
    if (record->team() != nullptr) {
      for (const auto& [context, comm] : comms_)
        if (comm->team.get() == record->team())
          add_item(waiter, {.kind = pmi::Awaited::Kind::kCollective}, context);
    }
  }

  void add_team(Waiter& waiter) {
    for (const auto& [context, comm] : comms_) {
      const core::Team* const team = comm->team.get();
      if (team == nullptr || team->kind != core::Team::Kind::kHere) continue;
      if (static_cast<const coll::Team*>(team)->is_waited_in(comm->rank, waiter.thread->who))
        add_item(waiter, {.kind = pmi::Awaited::Kind::kCollective}, context);
    }
  }

  void posted(const p2p::Receive& receive) override {
    const p2p::MatchKey& key = receive.key;
    if (!is_of_program(key.context)) return;
    const core::Comm* const comm = comm_of(key.context);
    const pmi::Posted told{rank_.number, world_rank(comm, key.source), tag_of(key.tag),
                           comm != nullptr ? tell(*comm) : pmi::CommKey{key.context, -1}};
    count(account_.posted, told,
          [&](const pmi::Posted& other) { return other.source == told.source && other.tag == told.tag; });
    // A receive that is a request is reported where the requests are.
    Waiter* const waiter = find(receive.operation.completion.sleeper());
    if (waiter == nullptr || is_in_table(receive.operation)) return;
    add_item(*waiter,
             {.kind = pmi::Awaited::Kind::kReceive,
              .peer = told.source,
              .tag = told.tag,
              .bytes = data_bytes(key.context, receive.buffer.bytes())},
             key.context);
  }

  void unexpected(const p2p::Unexpected& message) override {
    const p2p::MatchKey& key = message.key;
    if (!is_of_program(key.context)) return;
    const core::Comm* const comm = comm_of(key.context);
    const pmi::Unmatched told{rank_.number, world_rank(comm, key.source), key.tag,
                              comm != nullptr ? tell(*comm) : pmi::CommKey{key.context, -1},
                              data_bytes(key.context, message.bytes)};
    count(account_.unmatched, told, [&](const pmi::Unmatched& other) {
      return other.source == told.source && other.tag == told.tag && other.bytes == told.bytes;
    });
  }

  void probed(const p2p::MatchKey& key, const fiber::Completion& arrived) override {
    if (Waiter* const waiter = find(arrived.sleeper()))
      add_item(*waiter,
               {.kind = pmi::Awaited::Kind::kProbe,
                .peer = world_rank(comm_of(key.context), key.source),
                .tag = tag_of(key.tag)},
               key.context);
  }

  /// Counts `one` with an equal entry of this rank, if there is one, and appends it otherwise.
  template <typename One, typename Same>
  void count(std::vector<One>& all, const One& one, Same same) {
    for (auto at = all.rbegin(); at != all.rend() && at->rank == one.rank; ++at) {
      if (at->comm != one.comm || !same(*at)) continue;
      ++at->count;
      return;
    }
    all.push_back(one);
  }

  core::Rank& rank_;
  pmi::Account& account_;
  std::set<pmi::CommKey>& told_;
  std::vector<Waiter> waiters_;
  std::map<std::uint32_t, core::Comm*> comms_;    // by context; kept_ has references
  std::vector<const core::Operation*> in_table_;  // addresses, sorted
  Kept& kept_;
};

pmi::Standing::State state_of(const core::Rank& rank) {
  using State = pmi::Standing::State;
  if (host::has_ended(rank.number)) return State::kEnded;
  if (rank.users.load(std::memory_order_relaxed) != 0) return State::kUses;
  const bool finalized = rank.phase.load(std::memory_order_relaxed) == core::Rank::Phase::kFinalized;
  return finalized || rank.had_sessions() ? State::kFinalized : State::kBefore;
}

class BlockedByRank {
 public:
  explicit BlockedByRank(const fiber::WorldStop& hold) : all_(hold.blocked_threads()) {
    std::erase_if(all_, [](const fiber::BlockedThread& one) {
      return one.rank == nullptr || is_of_library(*one.rank);
    });
    std::ranges::stable_sort(all_, {}, number_of);
  }
  std::span<const fiber::BlockedThread> of(int rank) const {
    const auto first = std::ranges::lower_bound(all_, rank, {}, number_of);
    return {first, std::ranges::upper_bound(first, all_.end(), rank, {}, number_of)};
  }

 private:
  static int number_of(const fiber::BlockedThread& one) { return one.rank->rank; }
  /// Whether a thread is none of the program's: it acts for a rank with an identity of its own
  /// (io/exchange_queue.h).
  static bool is_of_library(const fiber::Identity& identity) {
    const core::Rank* const rank = identity.mpi.load(std::memory_order_acquire);
    return rank != nullptr && rank->identity != &identity;
  }
  std::vector<fiber::BlockedThread> all_;
};

/// A number that changes whenever a message of the rank has moved, a collective has begun, an access to a
/// window or a file has begun, or an epoch of a window has begun or ended. `accesses` are the rank's.
std::uint64_t progress_of(const core::World& world, core::Rank& rank, const core::AccessCounters& accesses) {
  p2p::Matcher& matcher = p2p::matcher_of(rank);
  const p2p::Matcher::Arrived arrived = matcher.arrived();
  // A message that is unexpected at first changes the sum twice: when it comes, and when it is received.
  std::uint64_t sum =
      arrived.expected + 2 * arrived.unexpected - static_cast<std::uint64_t>(matcher.lengths().unexpected);
  for (const auto& channel : world.channels) {
    const net::Traffic& traffic = channel->traffic(rank.number);
    for (const net::Volume& way : traffic.ways) sum += way.messages.value();
  }
  if (world.link != nullptr)
    for (const net::Volume& way : world.link->traffic(rank.number).ways) sum += way.messages.value();
  for (const base::Counter& begun : rank.collectives.begun) sum += begun.value();
  for (const base::Counter& begun : accesses.calls) sum += begun.value();
  return sum + accesses.epochs.value();
}

std::string last_call_of(const core::Rank& rank) {
  const char* const call = rank.call.load(std::memory_order_relaxed);
  return call != nullptr ? call : "";
}

}  // namespace

pmi::Account take_account(core::World& world) {
  pmi::Account account;
  std::set<pmi::CommKey> told;
  std::vector<const core::AccessCounters*> accesses;  // found by a lock that a stopped thread may hold
  for (const auto& rank : world.ranks)
    accesses.push_back(rank != nullptr ? &core::access_counters_of(*rank) : nullptr);
  account.others = others_of(world);
  Kept kept;
  const fiber::WorldStop hold;
  const BlockedByRank sleepers(hold);
  for (const auto& rank : world.ranks) {
    if (rank == nullptr) continue;
    const core::AccessCounters* const its_accesses = accesses[static_cast<std::size_t>(rank->number)];
    if (its_accesses == nullptr) continue;  // it has just joined
    const std::span<const fiber::BlockedThread> blocked = sleepers.of(rank->number);
    account.standings.push_back(
        {rank->number, state_of(*rank), last_call_of(*rank), progress_of(world, *rank, *its_accesses), {}});
    if (blocked.empty()) account.standings.back().runs = host::place_of_interpreter(rank->number);
    RankAccount(*rank, account, told, kept).add(blocked);
  }
  return account;
}

std::uint64_t progress_of(const core::World& world) {
  std::uint64_t sum = mpi::completed_generalized_requests();
  for (const auto& rank : world.ranks)
    if (rank != nullptr) sum += progress_of(world, *rank, core::access_counters_of(*rank));
  return sum;
}

namespace {

/// Which threads of a rank have computed since the last look: they have used, or wanted, more than a
/// twentieth of a core.
struct Computing {
  bool any = true;              ///< of other ranks, too, where the rank has a fiber and other threads
  bool another = true;          ///< one that is not its fiber
  const void* fiber = nullptr;  ///< the rank's
};

/// Of the time since the last call of this function for the rank. At the first call all are said to have
/// computed. By the thread that calls all_in_mpi().
Computing computing_since_last_look(const core::Rank& rank) {
  using Clock = std::chrono::steady_clock;
  struct Look {
    Clock::time_point at;
    host::ThreadTimes used;
  };
  static auto& looks = *new std::map<int, Look>;
  const Look now{Clock::now(), host::times_of_threads(rank.number)};
  const auto [known, is_first] = looks.try_emplace(rank.number, now);
  if (is_first) return {.fiber = now.used.fiber};
  const Look before = std::exchange(known->second, now);
  const auto computes = [&](std::chrono::nanoseconds host::ThreadTimes::*threads) {
    const bool has_one_ended = now.used.*threads < before.used.*threads;
    return has_one_ended || 20 * (now.used.*threads - before.used.*threads) > now.at - before.at;
  };
  return {computes(&host::ThreadTimes::all), computes(&host::ThreadTimes::but_fiber), now.used.fiber};
}

/// Whether a thread of the rank waits in MPI, and its fiber, if it has one, does not compute; that its other
/// threads do not is known. If the fiber waits in MPI in each look, and nothing moves, it has not gone on.
/// Then the time that workers have used for other ranks does not count.
bool only_waits(const Computing& rank, std::span<const fiber::BlockedThread> blocked) {
  return std::ranges::any_of(blocked, [&](const fiber::BlockedThread& one) {
    const bool tells = !rank.any || one.who == rank.fiber;
    return tells && host::is_in_mpi(host::frames_of(one));
  });
}

}  // namespace

bool all_in_mpi(core::World& world) {
  std::vector<std::pair<int, Computing>> silent;
  bool works = false;
  for (const auto& rank : world.ranks) {
    if (rank == nullptr || state_of(*rank) == pmi::Standing::State::kEnded) continue;
    const Computing computing = computing_since_last_look(*rank);
    if (rank->polls.exchange(false, std::memory_order_relaxed)) continue;
    silent.emplace_back(rank->number, computing);
    works |= computing.another;  // though one of its threads may wait in MPI
  }
  // A thread of the library works for a rank that may wait for it, or for another rank.
  if (works || io::transfers_under_way() != 0) return false;
  const fiber::WorldStop hold;
  const BlockedByRank sleepers(hold);
  return std::ranges::all_of(silent,
                             [&](const auto& one) { return only_waits(one.second, sleepers.of(one.first)); });
}

}  // namespace clump
