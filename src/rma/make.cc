// Making a window: ranks tell each other where their memory is; one rank of each node makes what the ranks of
// the node share, one of each process what those of the process do.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/why_refused.h"
#include "coll/schedule/agree.h"
#include "net/shm/remote_memory.h"
#include "net/shm/shared_allocator.h"
#include "rma/messages.h"
#include "rma/window.h"
#include "rma/window_checks.h"

namespace clump::rma {

using base::Status;

namespace {

constexpr std::size_t kPage = 4096;
constexpr int kElsewhere = -1;  // a node on which the rank is not

/// What each rank tells the others first.
struct Facts {
  std::int64_t node;
  std::int64_t process, secret_at, secret;  ///< net::RemoteProcess
  std::int64_t base, size, unit;
  std::int64_t error;      ///< the class of what is wrong with its arguments
  std::int64_t context;    ///< rank 0's: of the window's communicator
  std::int64_t alignment;  ///< of memory that the window provides
  std::int64_t apart;      ///< alloc_shared_noncontig
};

/// What the first rank of a node tells the others of it.
struct NodeFacts {
  std::int64_t controls, error;
  base::OpenFile file;
};

/// What the first rank of a process tells the others of it.
struct ProcessFacts {
  std::int64_t map, error;
  std::int64_t is_lost;  ///< the error is that it cannot open what the first rank of its node has made
};

template <typename One>
Status exchange(core::Comm& comm, const One& mine, std::vector<One>& all) {
  static_assert(sizeof(One) % sizeof(int) == 0);
  constexpr std::size_t kInts = sizeof(One) / sizeof(int);
  all.resize(static_cast<std::size_t>(comm.size()));
  return coll::allgather_ints(coll::Members(comm, coll::Caller::kWinMake),
                              {reinterpret_cast<const int*>(&mine), kInts},
                              {reinterpret_cast<int*>(all.data()), kInts * all.size()});
}

class Maker {
 public:
  explicit Maker(const Window::Making& making)
      : making_(making), comm_(making.comm), world_(making.self.world) {}

  Status tell_facts();
  Status check_all() const;
  Status share_node();
  Status share_process(base::Ref<WindowMap>& map);
  base::Ref<core::Comm> new_comm() const;
  const Facts& of(int rank) const { return facts_[static_cast<std::size_t>(rank)]; }
  bool is_dynamic() const { return making_.flavor == MPI_WIN_FLAVOR_DYNAMIC; }
  bool provides_memory() const {
    return making_.flavor == MPI_WIN_FLAVOR_ALLOCATE || making_.flavor == MPI_WIN_FLAVOR_SHARED;
  }

 private:
  Status check_arguments() const;
  bool is_here(int rank) const {
    return world_.ranks[static_cast<std::size_t>(comm_.group->world_rank(rank))] != nullptr;
  }
  // The numbers of processes are equal, too, where each has a PID namespace of its own.
  bool same_process(int a, int b) const { return of(a).node == of(b).node && of(a).secret == of(b).secret; }
  template <typename Same>
  int first_of(Same same) const {
    int rank = 0;
    while (!same(rank)) ++rank;
    return rank;
  }
  int node_leader() const {
    return first_of([&](int rank) { return of(rank).node == of(comm_.rank).node; });
  }
  int process_leader() const {
    return first_of([&](int rank) { return same_process(rank, comm_.rank); });
  }
  NodeControls::Shape shape() const;
  SharedMapping::Size memory_size() const;
  std::size_t alignment_of(int rank) const;
  Status make_map(WindowMap& map, const NodeFacts& node);
  void place_targets(WindowMap& map) const;
  Reach reach_of(int rank, bool shares_memory) const;

  const Window::Making& making_;
  core::Comm& comm_;
  core::World& world_;
  std::vector<Facts> facts_;
  std::vector<NodeFacts> nodes_;
  base::Ref<WindowMap> map_;                                   // the leader's of its process
  mutable std::vector<std::pair<std::int64_t, bool>> probed_;  // by the secret
};

bool info_says(const core::Info* info, const char* key) {
  return info != nullptr && info->get(key) == "true";
}

std::int64_t wanted_alignment(const core::Info* info) {
  const auto value = info != nullptr ? info->get("mpi_minimum_memory_alignment") : std::nullopt;
  std::int64_t alignment = 64;
  if (!value) return alignment;
  std::int64_t wanted = 0;
  std::from_chars(value->data(), value->data() + value->size(), wanted);
  return wanted > 0 && (wanted & (wanted - 1)) == 0 && wanted <= (1 << 30) ? std::max(alignment, wanted)
                                                                           : alignment;
}

Status Maker::check_arguments() const {
  if (is_dynamic()) return {};
  if (making_.size < 0) return base::fail(MPI_ERR_SIZE, "(size = {}): it is negative", making_.size);
  if (making_.unit <= 0)
    return base::fail(MPI_ERR_DISP, "(disp_unit = {}): it must be 1 or more", making_.unit);
  if (making_.flavor == MPI_WIN_FLAVOR_CREATE && making_.base == nullptr && making_.size > 0)
    return base::fail(MPI_ERR_BASE, "(base = NULL): there is no memory, and size is {}", making_.size);
  const auto memory =
      static_cast<Count>(::sysconf(_SC_PHYS_PAGES)) * static_cast<Count>(::sysconf(_SC_PAGESIZE));
  if (provides_memory() && making_.size > memory)
    return base::fail(MPI_ERR_NO_MEM, "(size = {}): this machine has {} bytes of memory", making_.size,
                      memory);
  return {};
}

Status Maker::tell_facts() {
  const Status mine = check_arguments();
  const net::RemoteProcess self = net::this_process();
  const Facts facts{
      .node = world_.node_of(making_.self.number),
      .process = self.number,
      .secret_at = static_cast<std::int64_t>(self.secret_at),
      .secret = static_cast<std::int64_t>(self.secret),
      .base = reinterpret_cast<std::int64_t>(making_.base),
      .size = is_dynamic() ? 0 : making_.size,
      .unit = is_dynamic() ? 1 : making_.unit,
      .error = mine.error_class(),
      .context = comm_.rank == 0 ? static_cast<std::int64_t>(comm_.new_context()) : 0,
      .alignment = wanted_alignment(making_.info),
      .apart = static_cast<std::int64_t>(info_says(making_.info, "alloc_shared_noncontig")),
  };
  CLUMP_TRY(exchange(comm_, facts, facts_));
  // Each job numbers its hosts by itself, and shares no memory with others.
  const auto number_of = [&](int rank) { return comm_.group->world_rank(rank); };
  if (comm_.crosses_jobs())
    for (int rank = 0; rank < comm_.size(); ++rank)
      if (!world_.share_node(making_.self.number, number_of(rank)))
        facts_[static_cast<std::size_t>(rank)].node = kElsewhere;
  return mine;
}

Status Maker::check_all() const {
  for (int rank = 0; rank < comm_.size(); ++rank)
    if (of(rank).error != MPI_SUCCESS)
      return base::fail(static_cast<int>(of(rank).error),
                        "rank {} gives wrong arguments, so no rank gets a window", rank);
  if (making_.flavor != MPI_WIN_FLAVOR_SHARED) return {};
  for (int rank = 0; rank < comm_.size(); ++rank)
    if (of(rank).node != of(0).node)
      return base::fail(MPI_ERR_RMA_SHARED,
                        "(comm): ranks 0 and {} are on different hosts, or of different jobs, and cannot "
                        "share memory: make a communicator of those that can (MPI_Comm_split_type with "
                        "MPI_COMM_TYPE_SHARED)",
                        rank);
  return {};
}

base::Ref<core::Comm> Maker::new_comm() const {
  return base::make_ref<core::Comm>(making_.self, core::ContextId{static_cast<std::uint32_t>(of(0).context)},
                                    comm_.group, base::Ref<const core::Group>());
}

NodeControls::Shape Maker::shape() const {
  NodeControls::Shape shape{.ranks = 0, .window = comm_.size(), .processes = 0, .dynamic = is_dynamic()};
  for (int rank = 0; rank < comm_.size(); ++rank) {
    if (of(rank).node != of(comm_.rank).node) continue;
    ++shape.ranks;
    if (first_of([&](int other) { return same_process(other, rank); }) == rank) ++shape.processes;
  }
  return shape;
}

/// Each rank's memory begins at a multiple of this.
std::size_t Maker::alignment_of(int rank) const {
  const Facts& one = of(rank);
  const bool together = making_.flavor == MPI_WIN_FLAVOR_SHARED && one.apart == 0;
  const auto wanted = static_cast<std::size_t>(one.alignment);
  if (together) return 1;  // next to the one before (MPI-5.0 section 12.2.3)
  return one.size >= static_cast<std::int64_t>(kPage) ? std::max(wanted, kPage) : wanted;
}

SharedMapping::Size Maker::memory_size() const {
  std::size_t bytes = 0, largest = kPage;
  for (int rank = 0; rank < comm_.size(); ++rank) {
    if (of(rank).node != of(comm_.rank).node) continue;
    const std::size_t alignment = alignment_of(rank);
    bytes = (bytes + alignment - 1) / alignment * alignment + static_cast<std::size_t>(of(rank).size);
    largest = std::max(largest, static_cast<std::size_t>(of(rank).alignment));
  }
  return {(std::max<std::size_t>(bytes, 1) + kPage - 1) / kPage * kPage, largest};
}

/// The first rank of a node makes what the node shares; it is the first rank of its process, too.
Status Maker::share_node() {
  NodeFacts mine{.controls = 0, .error = 0, .file = {}};
  if (node_leader() == comm_.rank) {
    const NodeControls::Shape node = shape();
    map_ = base::make_ref<WindowMap>();
    mine.controls = map_->controls.make(node, world_.shared_allocator.get());
    if (mine.controls < 0) mine.error = ENOMEM;
    if (provides_memory() && mine.error == 0) {
      mine.error = map_->memory.make(memory_size(), node.processes > 1);
      if (mine.error == 0 && node.processes > 1) mine.file = base::describe_open_file(map_->memory.file());
      if (mine.error != 0) map_->controls.abandon();  // no process opens them
    }
  }
  return exchange(comm_, mine, nodes_);
}

/// How this process accesses the memory of the one that `rank` is in.
Reach Maker::reach_of(int rank, bool shares_memory) const {
  if (is_here(rank)) return Reach::kMemory;
  if (of(rank).node != of(comm_.rank).node) return Reach::kMessages;
  if (shares_memory) return Reach::kMemory;
  const Facts& facts = of(rank);
  const auto known = std::ranges::find(probed_, facts.secret, &std::pair<std::int64_t, bool>::first);
  if (known != probed_.end()) return known->second ? Reach::kProcess : Reach::kMessages;
  const bool works =
      net::is_within_reach({static_cast<pid_t>(facts.process), static_cast<std::uintptr_t>(facts.secret_at),
                            static_cast<std::uint64_t>(facts.secret)});
  probed_.emplace_back(facts.secret, works);
  return works ? Reach::kProcess : Reach::kMessages;
}

void Maker::place_targets(WindowMap& map) const {
  map.targets.resize(static_cast<std::size_t>(comm_.size()));
  std::size_t at = 0;
  int index = 0, here = 0;
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const Facts& facts = of(rank);
    Target& target = map.targets[static_cast<std::size_t>(rank)];
    target.size = facts.size;
    target.unit = facts.unit;
    target.process = static_cast<pid_t>(facts.process);
    if (is_here(rank)) target.index_here = here++;
    target.reach = reach_of(rank, provides_memory());
    target.base = reinterpret_cast<std::byte*>(facts.base);
    if (facts.node != of(comm_.rank).node) continue;
    target.control = &map.controls.control(index);
    if (is_dynamic()) target.attached = &map.controls.attached(index);
    ++index;
    if (!provides_memory()) continue;
    const std::size_t alignment = alignment_of(rank);
    at = (at + alignment - 1) / alignment * alignment;
    // A part of size 0 begins where the one before it ends (MPI-5.0 section 12.2.3).
    const bool has_place = facts.size > 0 || making_.flavor == MPI_WIN_FLAVOR_SHARED;
    target.base = has_place ? map.memory.base() + at : nullptr;
    at += static_cast<std::size_t>(facts.size);
  }
  map.signals = std::make_unique<EpochSignals>(here);
}

Status Maker::share_process(base::Ref<WindowMap>& map) {
  const NodeFacts& node = nodes_[static_cast<std::size_t>(node_leader())];
  ProcessFacts mine{.map = 0, .error = node.error, .is_lost = 0};
  const int leader = process_leader();
  if (leader == comm_.rank && mine.error == 0) {
    if (!map_) {
      map_ = base::make_ref<WindowMap>();
      map_->controls.open(shape(), *world_.shared_allocator, node.controls);
      if (provides_memory()) {
        bool is_found = true;
        mine.error = map_->memory.open(node.file, memory_size(), is_found);
        mine.is_lost = static_cast<std::int64_t>(!is_found);
      }
    }
    if (mine.error == 0) place_targets(*map_);
    if (world_.checks != core::Checks::kNone) map_->conflicts = std::make_unique<Conflicts>(comm_.size());
    mine.map = reinterpret_cast<std::int64_t>(map_.get());
  }
  std::vector<ProcessFacts> all;
  CLUMP_TRY(exchange(comm_, mine, all));
  const ProcessFacts& ours = all[static_cast<std::size_t>(leader)];
  const auto failed = std::ranges::find_if(all, [](const ProcessFacts& one) { return one.error != 0; });
  if (ours.map != 0) map = base::Ref(reinterpret_cast<WindowMap*>(ours.map));
  // The leaders' references go when all ranks of their processes have their own.
  CLUMP_TRY(coll::synchronize(coll::Members(comm_, coll::Caller::kWinMake)));
  if (map_) map_->memory.close();
  if (failed == all.end()) return {};
  if (failed->is_lost != 0)
    return base::fail(
        MPI_ERR_RMA_SHARED,
        "(size = {}): rank {} cannot open the memory that another process of its host has made for the "
        "window: {}. {}. Windows of MPI_Win_create need no such memory",
        making_.size, failed - all.begin(), std::strerror(static_cast<int>(failed->error)), base::kHowToOpen);
  return base::fail(MPI_ERR_NO_MEM,
                    "(size = {}): there is no memory of {} bytes for the window on the node of rank {}: {}",
                    making_.size, memory_size().bytes, failed - all.begin(),
                    std::strerror(static_cast<int>(failed->error)));
}

/// What the rank's memory is aligned to, up to what it has asked for. In memory of MPI_Win_allocate_shared
/// that has no gaps, this depends on the sizes of the ranks before.
std::int64_t alignment_in_force(const Window& window, const core::Info* given) {
  const std::int64_t wanted = wanted_alignment(given);
  const auto base = reinterpret_cast<std::intptr_t>(window.base());
  return base == 0 ? wanted : std::min(wanted, base & -base);
}

/// The hints that mean something, with the values in force (MPI-5.0 section 12.2.1).
void keep_info(Window& window, const core::Info* given) {
  const auto value = [&](const char* key, const char* otherwise) {
    const auto found = given != nullptr ? given->get(key) : std::nullopt;
    window.info.set(key, found ? *found : otherwise);
  };
  value("no_locks", "false");
  value("accumulate_ordering", "rar,raw,war,waw");
  value("accumulate_ops", "same_op_no_op");
  value("mpi_accumulate_granularity", "0");
  value("same_size", "false");
  value("same_disp_unit", "false");
  if (window.flavor == MPI_WIN_FLAVOR_SHARED) value("alloc_shared_noncontig", "false");
  if (window.flavor == MPI_WIN_FLAVOR_SHARED || window.flavor == MPI_WIN_FLAVOR_ALLOCATE)
    window.info.set("mpi_minimum_memory_alignment", std::to_string(alignment_in_force(window, given)));
}

}  // namespace

Status Window::make(const Making& making, base::Ref<Window>& window) {
  Maker maker(making);
  CLUMP_TRY(maker.tell_facts());
  CLUMP_TRY(maker.check_all());
  base::Ref<WindowMap> map;
  CLUMP_TRY(maker.share_node());
  CLUMP_TRY(maker.share_process(map));
  auto made = base::make_ref<Window>(making.self, maker.new_comm(), making.flavor);
  made->map_ = std::move(map);
  made->targets_ = made->map_->targets;
  const Target& mine = made->mine();
  if (made->map_->conflicts != nullptr) made->checks_ = std::make_unique<WindowChecks>(*made);
  made->size_attribute = mine.size;
  // The attribute is an int, and MPI_Win_create_c takes a longer one.
  const bool fits = mine.unit <= std::numeric_limits<int>::max();
  made->unit_attribute = fits ? static_cast<int>(mine.unit) : MPI_UNDEFINED;
  made->flavor_attribute = making.flavor;
  keep_info(*made, making.info);
  if (mine.size > 0 || made->flavor == MPI_WIN_FLAVOR_DYNAMIC) made->add_addressed(made->rank());
  const bool asks = std::ranges::any_of(made->map_->targets,
                                        [](const Target& one) { return one.reach == Reach::kMessages; });
  int serves = asks ? 1 : 0;
  CLUMP_TRY(coll::agree_max(coll::Members(making.comm, coll::Caller::kWinMake), {&serves, 1}));
  if (serves != 0) made->messages_ = std::make_unique<Messages>(*made, true);
  window = std::move(made);
  return {};
}

}  // namespace clump::rma
