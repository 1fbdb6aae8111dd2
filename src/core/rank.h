// Rank: everything that belongs to one MPI process. World: what all ranks of this host process share.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/published.h"
#include "base/ref.h"
#include "base/status.h"
#include "core/buffers_in_use.h"
#include "core/comm.h"
#include "core/error_codes.h"
#include "core/file.h"
#include "core/handle_table.h"
#include "core/launch.h"
#include "core/op.h"
#include "core/rank_callbacks.h"
#include "core/request.h"
#include "core/send_buffer.h"
#include "core/session.h"
#include "core/site.h"
#include "core/tool_observer.h"
#include "core/window.h"
#include "datatype/datatype.h"
#include "fiber/identity.h"
#include "net/channel.h"

namespace clump::net {
class SelfChannel;
class SharedAllocator;
class LinkChannel;
}  // namespace clump::net

namespace clump::core {

class Rank;

/// What the ranks of this host process share. The runtime makes it when the first of them initialises MPI.
struct World {
  World();
  ~World();

  /// By number in the job; null: in another host process, or the number is not used yet. As long as it will
  /// ever be: there is room for ranks that join (MPI_Comm_spawn), and so there is in the other tables by
  /// number. Any thread looks, also while start_ranks() (runtime/join.cc) adds one.
  std::vector<base::Published<Rank>> ranks;
  Launch launch;           ///< mpiexec's
  std::string node;        ///< the name of this host
  std::vector<int> nodes;  ///< which host each rank is on; empty: all are on this one
  std::vector<std::unique_ptr<net::Channel>> channels;
  std::vector<net::Channel*> routes;  ///< the channel to each rank of the job
  net::SelfChannel* self = nullptr;   ///< the channel to ranks of this host process; null in an explored run
  std::unique_ptr<net::SharedAllocator> shared_allocator;  ///< null: this is the only process of the node
  /// The channel to ranks of other jobs, which is none of `channels`: it makes progress by itself. Null: they
  /// cannot be reached.
  std::unique_ptr<net::LinkChannel> link;
  /// The next context: an even number; the first few belong to the predefined communicators. Each host
  /// process has numbers of its own: they are context_step apart.
  std::atomic<std::uint32_t> next_context{8};
  std::uint32_t context_step = 2;
  /// The home worker of each rank of the job: ranks with different homes run at the same time. Empty:
  /// unknown.
  std::vector<int> homes;

  /// A kind of hardware resource. For each rank of the job, the number of the one resource of this kind that
  /// it uses; -1: it uses several.
  struct Resource {
    std::string name;
    std::vector<int> instances;
  };
  std::vector<Resource> resources;  ///< from the whole machine inwards
  bool tells_placement = false;     ///< the user asks where the ranks of topologies that may be reordered are

  /// Teams that some of their ranks have not found yet, by context and by the number in the job of their rank
  /// 0.
  struct Teams {
    struct Forming {
      base::Ref<Team> team;
      int joined = 0;
    };
    std::mutex mutex;
    std::map<std::pair<ContextId, int>, Forming> forming;
  } teams;

  /// Ends the job because of rank `rank`; never returns. `text` is the reason.
  void (*abort_job)(int rank, int code, const std::string& text) = nullptr;
  /// find_programs_call() corrects a return address that lies in bindings or a facade and not in the program.
  const void* (*find_programs_call)(const void* address) = nullptr;
  /// find_in_code() finds the call in the program's code that returns to `address`, and name_in_code() names
  /// it for a message: "solver.c:12". Null: not available. Any thread.
  CodePlace (*find_in_code)(const void* address) = nullptr;
  std::string (*name_in_code)(const CodePlace& place) = nullptr;
  /// Calls both: " at solver.c:12", or nothing if the place is unknown.
  std::string at(const Site& site) const;
  /// What mpiexec --check asks for: the same for all ranks, from the start to the end.
  Checks checks = Checks::kNone;

  int node_of(int rank) const { return nodes.empty() ? 0 : nodes[static_cast<std::size_t>(rank)]; }
  /// Whether the two, of this job or of others, are ranks of this job on one host.
  bool share_node(int rank, int other) const;
  /// The most ranks that the job can have.
  int places() const { return static_cast<int>(ranks.size()); }
  ContextId allocate_context() {
    return ContextId{next_context.fetch_add(context_step, std::memory_order_relaxed)};
  }
  /// The same for a communicator that may have ranks of other jobs: no job of this machine uses it. Ends the
  /// job if there is none.
  ContextId allocate_crossing_context();
  static bool is_crossing(ContextId context) { return static_cast<std::uint32_t>(context) >> 31 != 0; }
  /// An order of ranks, of this job and of others, that is the same for all that know them.
  bool is_before(int rank, int other) const;
};

class Rank {
  static inline const fiber::Identity kUnknown;  // there may be several threads

 public:
  /// The phase of the World model: MPI_Init and MPI_Finalize.
  enum class Phase : std::uint8_t { kBefore, kInitialized, kFinalized };

  /// The tables of `world` have their lengths.
  Rank(World& world, Launch& launch, int number);
  ~Rank();

  World& world;
  Launch& launch;                               ///< lives as long as the process
  const int number;                             ///< in the job
  const fiber::Identity* identity = &kUnknown;  ///< that of its threads, once one of them has called MPI
  std::atomic<Phase> phase{Phase::kBefore};
  /// How many give this rank the right to call MPI: the World model, while it is initialised, and each
  /// session.
  std::atomic<int> users{0};
  std::mutex users_mutex;                  ///< held while `users` is changed and the runtime is told
  std::atomic<const char*> call{nullptr};  ///< the MPI function that a thread of this rank entered last
  std::atomic<bool> polls{false};          ///< has tested or probed since mpiexec --hang-after looked last
  int thread_level = MPI_THREAD_SINGLE;    ///< the level that was asked for and granted
  unsigned long main_thread = 0;           ///< pthread_self() of the thread that initialised MPI
  std::atomic<unsigned long> thread_inside{0};  ///< pthread_self() of the thread in a watched call; 0: none
  Telling telling;
  /// No other rank has the same home. Set before this rank runs; unset when another one joins. relaxed: a
  /// hint.
  std::atomic<bool> has_own_worker{false};

  RankCallbacks callbacks;  ///< work that only threads of this rank may do
  /// The most bytes of a standard send that is copied so that it need not wait for its receive; a longer one
  /// waits. Set by tools.
  std::atomic<Count> eager_limit{net::kEagerLimit};

  std::unique_ptr<net::Sink>
      inbox;  ///< the matcher; owned here, made by the runtime (p2p is above this layer)

  /// A message that a matched probe has taken, for MPI_Mrecv. Its contents belong to p2p.
  struct Message {
    virtual ~Message() = default;
  };

  // The object behind a handle; null if the handle is null, was freed or never existed.
  [[gnu::always_inline]] Comm* comm(MPI_Comm handle) const {
    // relaxed: a rank's threads are ordered after its MPI_Init by what started them.
    if (handle == MPI_COMM_WORLD) return usable_world_.load(std::memory_order_relaxed);
    if (handle == MPI_COMM_SELF) return usable_self_.load(std::memory_order_relaxed);
    return comms_.find(value_of(handle));
  }
  const Group* group(MPI_Group handle) const;
  [[gnu::always_inline]] const datatype::Datatype* datatype(MPI_Datatype handle) const {
    const datatype::Datatype* const type = datatype::predefined(handle);
    return type != nullptr ? type : datatypes_.find(value_of(handle));
  }
  Op* op(MPI_Op handle) const;
  Errhandler* errhandler(MPI_Errhandler handle) const;
  Info* info(MPI_Info handle) const;
  Request* request(MPI_Request handle) const { return requests_.find(value_of(handle)); }
  Message* message(MPI_Message handle) const;
  Keyval* keyval(int number) const;
  Session* session(MPI_Session handle) const { return sessions_.find(value_of(handle)); }
  Window* window(MPI_Win handle) const { return windows_.find(value_of(handle)); }
  File* file(MPI_File handle) const { return files_.find(value_of(handle)); }
  /// The session of an origin; null if there is none (any more). No thread may end it meanwhile.
  Session* session(Origin origin);

  // Each makes the handle that the user gets; the handle owns its object until the matching remove.
  MPI_Comm add(base::Ref<Comm> comm);
  MPI_Group add(base::Ref<const Group> group);
  MPI_Datatype add(datatype::Ref type);
  MPI_Op add(base::Ref<Op> op);
  MPI_Errhandler add(base::Ref<Errhandler> errhandler);
  MPI_Info add(std::unique_ptr<Info> info);
  [[gnu::always_inline]] MPI_Request add(std::unique_ptr<Request> request) {
    Request* const object = request.release();
    return object->handle = handle_of<MPI_Request>(requests_.insert(object, is_alone()));
  }
  MPI_Message add(std::unique_ptr<Message> message);
  int add(base::Ref<Keyval> keyval);
  MPI_Session add(base::Ref<Session> session);
  MPI_Win add(base::Ref<Window> window);
  MPI_File add(base::Ref<File> file);

  // Each ends the handle; the object lives as long as others use it. The handle must be valid and not
  // predefined.
  base::Ref<Comm> remove(MPI_Comm handle);
  void remove(MPI_Group handle);
  void remove(MPI_Datatype handle);
  void remove(MPI_Op handle);
  void remove(MPI_Errhandler handle);
  void remove(MPI_Info handle);
  std::unique_ptr<Request> remove(MPI_Request handle) {
    Request* const request = requests_.find(value_of(handle));
    return request == nullptr ? nullptr : remove(*request);
  }
  /// The same for a request that is known to have a handle.
  [[gnu::always_inline]] std::unique_ptr<Request> remove(Request& request) {
    requests_.forget(value_of(request.handle), is_alone());
    return std::unique_ptr<Request>(&request);
  }
  /// Lets a new request be used again: retire() keeps it for reuse(). All such requests have one class.
  void make_reusable(Request& request) {
    request.reusable = true;
    request.place_ = requests_.place_of(value_of(request.handle));
  }
  /// Frees a request that the user has finished with; one that is reusable is kept, with its place among the
  /// handles, for reuse(). Most receives end here.
  [[gnu::always_inline]] void retire(Request& request) {
    if (!request.reusable || spare_count_ == kMostSpare || !is_alone()) [[unlikely]]
      return static_cast<void>(remove(request));
    request.renew();
    requests_.vacate(request.place_);
    request.next_spare_ = std::exchange(spare_, &request);
    ++spare_count_;
  }
  /// A kept request, with a new handle. Null if there is none.
  Request* reuse() {
    Request* const request = spare_;
    if (request == nullptr || !is_alone()) return nullptr;
    spare_ = request->next_spare_;
    --spare_count_;
    request->handle =
        handle_of<MPI_Request>(requests_.occupy(request->place_, value_of(request->handle), request));
    return request;
  }
  std::unique_ptr<Message> remove(MPI_Message handle);
  void remove_keyval(int number);
  base::Ref<Session> remove(MPI_Session handle);
  base::Ref<Window> remove(MPI_Win handle);
  base::Ref<File> remove(MPI_File handle);

  /// Makes MPI_COMM_WORLD and MPI_COMM_SELF usable, or no longer: they are from MPI_Init until MPI_Finalize.
  void show_world(bool usable);
  /// The origin of a session that begins.
  Origin new_origin() { return Origin{last_origin_.fetch_add(1, std::memory_order_relaxed) + 1}; }
  bool had_sessions() const { return last_origin_.load(std::memory_order_relaxed) != 0; }
  /// Ends the handles of the communicators and groups that the user still has of an origin that has ended.
  void forget(Origin origin);
  /// Ends all handles that the user still has, but for objects that may be used without MPI: info objects and
  /// error handlers.
  void forget_all();

  /// The communicators that cross jobs, by context, as long as they live. Any thread.
  struct Crossing {
    std::mutex mutex;
    std::map<ContextId, const Comm*> comms;
  } crossing;

  base::Ref<Comm> comm_world, comm_self;
  /// A communicator of all ranks. Ranks that have no communicator in common yet use it to agree
  /// (MPI_Comm_create_from_group).
  base::Ref<Comm> comm_founding;
  /// A communicator of all ranks that the job can have: the rank of each is its number in the job. For
  /// questions between ranks of different launches, and between ranks that have nothing in common.
  base::Ref<Comm> comm_job;
  /// Of a rank that was spawned: the intercommunicator with those that have spawned it. The handle is made
  /// when the program asks for it (MPI_Comm_get_parent).
  struct Parent {
    std::mutex mutex;
    base::Ref<Comm> comm;
    MPI_Comm handle = MPI_COMM_NULL;
    ContextId context{};  ///< the handle's communicator has it, until the program frees it
  } parent;
  /// The ports that the rank has opened (MPI-5.0 section 11.8). Its contents belong to mpi. Owned; made by
  /// one of the rank's threads when it opens the first one.
  struct Ports {
    virtual ~Ports() = default;
  };
  std::atomic<Ports*> ports{nullptr};
  ErrorCodes error_codes;
  /// The error handler of MPI_FILE_NULL: of calls without an open file, and the one that a new file gets
  /// (MPI-5.0 section 14.7).
  ErrhandlerSlot file_errhandler{Errhandler::returns()};
  /// The attributes of a datatype, by handle, as long as it has one. Null: it has never had any. The lock is
  /// not held when this returns: only what removes the handle ends them.
  Attributes* type_attributes(MPI_Datatype handle);
  /// The same; makes them if there are none.
  Attributes& new_type_attributes(MPI_Datatype handle);
  /// Keys that were freed by their own delete functions, and not yet by the program.
  struct EarlyFreed {
    std::mutex mutex;
    std::set<int> keyvals;
  } freed_early;
  /// Lets a handle be the type's until let_go(), also if the program frees it meanwhile; false: it is no
  /// handle of the type (any more). For LentHandle.
  [[nodiscard]] bool hold(MPI_Datatype handle, const datatype::Datatype& type);
  void let_go(MPI_Datatype handle);
  /// Whether a datatype has an attribute of this key.
  bool is_type_attribute(int keyval) const;
  SendBufferSlot send_buffer;  ///< MPI_Buffer_attach

  /// What the rank's Fortran layer has told MPI about its compiler (MPI-5.0 section 20.3.4), each part once.
  struct Fortran {
    std::mutex mutex;
    std::unique_ptr<const Info> info;
    int logical_size = 0;  ///< 0: unknown
    std::array<std::byte, 16> logical_true{}, logical_false{};
  } fortran;

  // For tools (MPI-5.0 chapter 15).
  CollectiveChoices collectives;
  std::atomic<ToolObserver*> observer{nullptr};  ///< null: there is none
  /// Flags that the rank's next call of MPI looks at first; usually none is set. relaxed: as above.
  std::atomic<std::uint8_t> pending_events{0};
  static constexpr std::uint8_t kEventsWait = 1;  ///< the observer has events to report
  static constexpr std::uint8_t kRecorded = 2;    ///< calls are recorded (mpi/trace/recording.h)
  static constexpr std::uint8_t kChecked = 4;     ///< calls are checked (mpi/check/checking.h)
  static constexpr std::uint8_t kExplored = 8;    ///< the run is explored: what happens is drawn
                                                  ///< (fiber/exploration.h)
  bool is_explored() const { return (pending_events.load(std::memory_order_relaxed) & kExplored) != 0; }
  /// Whether the caller is the only thread of this rank.
  bool is_alone() const { return !identity->threaded.load(std::memory_order_relaxed); }
  void attend(std::uint8_t what) { pending_events.fetch_or(what, std::memory_order_relaxed); }
  void disregard(std::uint8_t what) {
    pending_events.fetch_and(static_cast<std::uint8_t>(~what), std::memory_order_relaxed);
  }
  /// Owned; made when a tool first asks, by one of the rank's threads.
  std::atomic<ToolState*> tool{nullptr};
  enum class Handles : std::uint8_t {
    kComms,
    kGroups,
    kDatatypes,
    kOps,
    kRequests,
    kInfos,
    kErrhandlers,
    kKeyvals,
    kMessages,
    kWindows
  };
  /// How many objects of a kind the program has made and not freed. Any thread.
  std::size_t live(Handles kind) const;

  /// The places in the program where its objects were made; null: not wanted. Made by the first use of MPI.
  std::unique_ptr<Sites> sites;
  std::unique_ptr<BuffersInUse> buffers_in_use;  ///< there if `sites` is
  /// Notes a remark about the current call: "MPI_Allreduce at solver.c:12 " and the text. Does nothing
  /// without --check.
  void remark(Remark::Kind kind, std::string_view text) const;
  /// Calls visit(kind, handle) for each object that the program has made and not freed. No thread of the rank
  /// makes or frees objects meanwhile.
  template <typename Visit>
  void for_each_live(Visit visit) const;

  // For reports. The rank has several threads, or no thread of it runs but the caller. What is returned stays
  // although threads of the rank free handles meanwhile.
  std::vector<base::Ref<Comm>> all_comms() const {
    std::vector<base::Ref<Comm>> all = comms_.snapshot([](Comm& comm) { return base::Ref(&comm); });
    for (const base::Ref<Comm>& own : {comm_world, comm_self, comm_founding, comm_job})
      if (own) all.push_back(own);
    return all;
  }
  std::vector<base::Ref<Window>> all_windows() const {
    return windows_.snapshot([](Window& window) { return base::Ref(&window); });
  }
  /// `take(request)` of each request; see HandleTable::snapshot(). Requests have no references: afterwards
  /// only those are sure to be there that a stopped thread waits for.
  template <typename Take>
  auto take_from_requests(Take take) const {
    return requests_.snapshot(take);
  }

 private:
  std::atomic<Comm*> usable_world_{nullptr}, usable_self_{nullptr};  // the objects of MPI_COMM_WORLD and
                                                                     // MPI_COMM_SELF
  HandleTable<Comm> comms_;
  HandleTable<const Group> groups_;
  HandleTable<const datatype::Datatype> datatypes_;
  HandleTable<Op> ops_;
  HandleTable<Errhandler> errhandlers_;
  HandleTable<Info> infos_;
  HandleTable<Request> requests_;
  HandleTable<Message> messages_;
  HandleTable<Keyval> keyvals_;
  HandleTable<Session> sessions_;
  HandleTable<Window> windows_;
  HandleTable<File> files_;
  static constexpr int kMostSpare = 256;
  Request* spare_ = nullptr;
  int spare_count_ = 0;
  std::atomic<std::uint32_t> last_origin_{0};
  // Any threads of the rank make, find and free datatypes at the same time; the mutex guards what follows,
  // and is not held while a function of the program runs.
  mutable std::mutex datatypes_mutex_;
  std::unordered_map<MPI_Datatype, Attributes> type_attributes_;
  struct HeldType {
    MPI_Datatype handle;
    int uses;
    bool freed;  ///< by the program
  };
  std::vector<HeldType> held_types_;
};

template <typename Visit>
void Rank::for_each_live(Visit visit) const {
  const auto visit_all = [&](Sites::Kind kind, const auto& table) {
    table.for_each_handle([&](std::intptr_t handle) { visit(kind, handle); });
  };
  visit_all(Sites::Kind::kComm, comms_);
  visit_all(Sites::Kind::kGroup, groups_);
  visit_all(Sites::Kind::kDatatype, datatypes_);
  visit_all(Sites::Kind::kOp, ops_);
  visit_all(Sites::Kind::kErrhandler, errhandlers_);
  visit_all(Sites::Kind::kInfo, infos_);
  visit_all(Sites::Kind::kRequest, requests_);
  visit_all(Sites::Kind::kMessage, messages_);
  visit_all(Sites::Kind::kKeyval, keyvals_);
  visit_all(Sites::Kind::kWindow, windows_);
}

/// The rank of the calling thread; null if the thread belongs to no rank, or to one that has not needed MPI
/// yet.
inline Rank* current_rank() {
  const fiber::Identity* identity = fiber::identity();
  // acquire: pairs with the release in mpi::find_rank().
  return identity == nullptr ? nullptr : identity->mpi.load(std::memory_order_acquire);
}

}  // namespace clump::core
