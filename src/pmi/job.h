// The description of a job, as mpiexec hands it to a host process: what to run, how many ranks, with what
// options.
//
// mpiexec writes it into a memfd and names the descriptor in the environment variable CLUMP_JOB_FD; the host
// process reads it before any of the program's code runs, closes it, and removes the variable. The control
// socket (failures, results) is named by CLUMP_CONTROL_FD in the same way (see pmi/control.h), and by
// CLUMP_LIFE_FD a pipe that closes when mpiexec and its supervisor have ended.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/line_prefix.h"
#include "base/status.h"
#include "base/types.h"

namespace clump::pmi {

/// One part of an MPMD command line: `-n 3 ./program args`.
struct App {
  std::string program;                   ///< absolute path of the file to run
  std::vector<std::string> arguments;    ///< argv, argv[0] first
  std::vector<std::string> environment;  ///< "NAME=value", all of it, as this app's ranks shall see it
  std::string working_directory;         ///< absolute; empty: mpiexec's own
  int ranks = 1;
};

/// What runs the ranks of a host process.
enum class Scheduler : std::uint8_t {
  kFibers,   ///< a worker for each core runs them as fibers
  kThreads,  ///< each rank is a kernel thread
};

/// Where a worker's core lies. Cores that share a package, a NUMA node, ... have the same number there.
struct Place {
  std::int32_t package = 0;
  std::int32_t node = 0;         ///< NUMA
  std::int32_t cache = 0;        ///< the last level
  std::int32_t core = 0;         ///< shared by hardware threads
  std::int32_t cache_level = 0;  ///< 3 for an L3 cache; 0: there is none, or nobody knows

  bool operator==(const Place&) const = default;
};

/// Names the error handler that a rank begins with (mpiexec --initial-errhandler, MPI-5.0 section 11.5), by
/// one of these.
inline constexpr std::string_view kInitialErrhandlerVariable = "CLUMP_INITIAL_ERRHANDLER";
inline constexpr std::string_view kInitialErrhandlers[] = {"mpi_errors_are_fatal", "mpi_errors_abort",
                                                           "mpi_errors_return"};

/// What a descriptor is open on, as a word for a variable of the environment: CLUMP_STDOUT, CLUMP_STDERR.
inline std::string name_of_file(const struct stat& info) {
  return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
}

/// One process of the job, with the ranks of consecutive slots.
struct HostProcess {
  std::int32_t first_slot = 0;
  std::int32_t ranks = 0;
  /// Its only rank is the program as the system starts it: no image, no fiber, nothing of the C library's
  /// that is not as usual. Whatever of the process's descendants calls MPI first becomes the rank.
  bool plain = false;

  bool operator==(const HostProcess&) const = default;
};

/// Which rank has which slot. Slots are numbered node by node, and process by process within a node, so all
/// that is shared out in blocks (processes, workers, cores) goes by slots; which ranks have those of a node
/// is as the user asked for. Ranks of one process are in rising order.
class RankMapping {
 public:
  /// Rank and slot are the same number.
  RankMapping() = default;
  /// `ranks[i]` has slot i.
  CLUMP_HOST_API explicit RankMapping(std::vector<std::int32_t> ranks);

  int rank_at(int slot) const { return ranks_.empty() ? slot : ranks_[static_cast<std::size_t>(slot)]; }
  int slot_of(int rank) const { return slots_.empty() ? rank : slots_[static_cast<std::size_t>(rank)]; }
  /// The rank of each slot; empty where rank and slot are the same number.
  const std::vector<std::int32_t>& ranks() const { return ranks_; }

 private:
  std::vector<std::int32_t> ranks_, slots_;
};

/// A host of the job, with some of its host processes, one after the other.
struct Node {
  std::string name;
  std::int32_t first = 0;  ///< host process
  std::int32_t processes = 0;

  bool operator==(const Node&) const = default;
};

/// What the channel between hosts has to know (net/ofi).
struct Network {
  std::string provider;   ///< libfabric's; empty: its own choice
  std::string interface;  ///< numeric address of this host that the others reach; empty: libfabric's choice
};

/// What begins a line of output that mpiexec shall collapse: the mark, the rank, the mark.
inline constexpr char kLineMark = '\x1e';
inline constexpr const char* kMarkedPrefix = "\x1e%r\x1e";

/// Where the ranks' output goes.
struct Output {
  std::string prefix;        ///< of each line, as base::LinePrefix has it
  std::int64_t east = 0;     ///< of UTC, in seconds: the clock of the prefix
  bool whole_lines = false;  ///< mpiexec reads them: the prefix is kMarkedPrefix, and no line is cut
  /// Each rank's own files, of stdout and of stderr: absolute paths, with %r for the rank, %h for its
  /// host and %% for a percent sign. Empty: none.
  std::array<std::string, 2> files;
  bool to_files_only = false;  ///< what has a file does not go to mpiexec's own output

  bool operator==(const Output&) const = default;
};

/// So many ranks can join a job of one host process whose ranks have images (MPI_Comm_spawn), over its life.
/// They have the numbers after those of the ranks that are there from the start.
inline constexpr int kMostJoining = 256;
/// So many ranks of other jobs a process can be connected to, at a time. They have the numbers after those.
inline constexpr int kMostOfOthers = 256;

/// In place of a rank whose stdin is mpiexec's: all ranks read all of it, or none reads any.
inline constexpr std::int32_t kInputForAll = -2;
inline constexpr std::int32_t kNoInput = -1;

struct Job {
  std::vector<App> apps;  ///< ranks are numbered through the apps in this order
  RankMapping rank_mapping;
  std::vector<HostProcess> processes;  ///< in the order of their slots; together they hold all
  std::vector<Node> nodes;             ///< in the order of their processes; together they have all
  int process = 0;                     ///< the reader's own; not part of encode(): CLUMP_PROCESS names it
  int node = 0;                        ///< the reader's own; all that follows is of this one
  Network network;                     ///< only if other hosts may connect
  Output output;
  bool map = false;   ///< say where topologies are placed
  bool spin = false;  ///< a core for each rank: waiting ranks may spin (kThreads)
  Scheduler scheduler = Scheduler::kFibers;
  /// The core of each worker (the system's number), in an order in which neighbours share caches; at most one
  /// worker for each rank. Empty with kThreads.
  std::vector<std::int32_t> cores;
  /// The places of `cores`; empty where the kernel chooses the cores.
  std::vector<Place> places;
  /// More cores that the job may use and that no worker has: for threads that ranks make, and for helpers.
  std::vector<std::int32_t> other_cores;
  /// How many of a rank's other cores may help with large data (fiber/help.h); a few saturate the memory.
  int helpers = 3;
  /// What is left open is drawn from this (fiber/exploration.h). Only with one process and one worker.
  std::optional<std::uint64_t> seed;
  /// MPI_UNIVERSE_SIZE: how many ranks are expected, with those that join. No fewer than there are.
  std::int32_t universe = 0;
  /// The rank that reads mpiexec's stdin, whatever its host.
  std::int32_t input = 0;
  /// By which other jobs find it, and what they have to know to be let in (net/link): random
  /// numbers. Zero: not known.
  std::uint64_t link_id = 0, link_token = 0;
  /// Whether names that its ranks publish are for all jobs of this user on this machine (mpiexec
  /// --name-server).
  bool shares_names = false;
  /// The port of the ranks that have started this job (MPI_Comm_spawn); empty: none have.
  std::string parent_port;
  /// How mpiexec reaches hosts, as its own first words: for jobs that ranks of this one start.
  std::vector<std::string> launch_words;
  /// mpiexec may be on another host than its processes, and starts those jobs.
  bool has_proxies = false;

  int ranks() const {
    int sum = 0;
    for (const App& app : apps) sum += app.ranks;
    return sum;
  }
  const HostProcess& here() const { return processes[static_cast<std::size_t>(process)]; }
  const Node& this_node() const { return nodes[static_cast<std::size_t>(node)]; }
  bool is_on_this_node(int one) const {  // host process
    return one >= this_node().first && one < this_node().first + this_node().processes;
  }
  /// The lowest one.
  int first_rank(const HostProcess& one) const { return rank_mapping.rank_at(one.first_slot); }
  std::vector<int> ranks_of(const HostProcess& one) const { return ranks_from(one.first_slot, one.ranks); }
  std::vector<int> ranks_of(const Node& one) const { return ranks_from(first_slot(one), ranks(one)); }
  /// How many.
  CLUMP_HOST_API int ranks(const Node& one) const;
  CLUMP_HOST_API int first_slot(const Node& one) const;
  CLUMP_HOST_API int node_of(int rank) const;
  CLUMP_HOST_API int process_of(int rank) const;
  bool is_here(int rank) const { return process_of(rank) == process; }
  bool uses_fibers(const HostProcess& one) const { return scheduler == Scheduler::kFibers && !one.plain; }
  /// Only of this node, from here on. The first of the workers that run the ranks of a host process, and how
  /// many they are; none but with fibers.
  int first_worker(const HostProcess& one) const { return uses_fibers(one) ? worker_at(one.first_slot) : 0; }
  int workers(const HostProcess& one) const {
    if (!uses_fibers(one)) return 0;
    if (has_room_to_join()) return static_cast<int>(cores.size());  // some may have no rank yet
    return worker_at(one.first_slot + one.ranks - 1) - worker_at(one.first_slot) + 1;
  }
  /// Where messages from other processes of the node come in: a port for each worker, or one for all threads.
  /// Numbered through the node.
  int ports(const HostProcess& one) const { return uses_fibers(one) ? workers(one) : 1; }
  /// Of a host process.
  CLUMP_HOST_API int first_port(int process) const;
  /// Of all.
  int ports() const { return first_port(this_node().first + this_node().processes); }
  CLUMP_HOST_API int port_of(int rank) const;
  /// The worker that is home to a rank: blocks of slots, as equal as can be. Only with
  /// cores; host processes with blocks in common have a worker each on one core. Ranks that join get one in
  /// turn.
  int worker_of(int rank) const {
    // Ranks that join get one in turn, workers without ranks first.
    const int later = rank - ranks();
    return later < 0 || cores.empty() ? worker_at(rank_mapping.slot_of(rank)) : worker_of_joining(later);
  }
  /// Whether ranks can join it while it runs, as far as its shape goes.
  bool has_room_to_join() const { return processes.size() == 1 && !processes.front().plain && !seed; }
  /// How many numbers of ranks there are, with those of ranks that may join, or be connected to.
  int places_for_ranks() const { return seed ? ranks() : first_of_others() + kMostOfOthers; }
  /// From which number on they are those of ranks of other jobs.
  int first_of_others() const { return ranks() + kMostJoining; }
  /// Whether a number is that of a rank that is there from the start.
  bool is_of_start(int rank) const { return rank < ranks(); }
  /// The cores of a rank and of the threads that it makes: its worker's, and its part of those that no worker
  /// has; of a rank that joins, only the first. Empty if the kernel decides.
  std::vector<std::int32_t> cores_of(int rank) const;
  /// How many threads a rank should have, no less than 1. Only with workers.
  int share_of(int rank) const;
  /// Of the ranks of this node.
  CLUMP_HOST_API base::LinePrefix line_prefix() const;
  /// What Output::files means for a rank; `descriptor` is 1 or 2. A rank that joins is on this node.
  CLUMP_HOST_API std::string output_file(int rank, int descriptor) const;
  /// The app of a rank: MPI_APPNUM.
  int app_of(int rank) const {
    int app = 0;
    for (; rank >= apps[static_cast<std::size_t>(app)].ranks; ++app)
      rank -= apps[static_cast<std::size_t>(app)].ranks;
    return app;
  }

 private:
  CLUMP_HOST_API int worker_of_joining(int later) const;
  CLUMP_HOST_API std::vector<int> ranks_from(int slot, int count) const;
  int worker_at(int slot) const {
    const Node& mine = this_node();
    return static_cast<int>(static_cast<std::int64_t>(slot - first_slot(mine)) *
                            static_cast<std::int64_t>(cores.size()) / ranks(mine));
  }
};

/// A byte string that decode() turns back into the same Job.
std::string encode(const Job& job);
/// Whether the file behind the descriptor has been written with encode(), by any version of Clump.
bool is_job(int descriptor);
/// Fails with MPI_ERR_ARG when `bytes` was not written by the same version of Clump, or is damaged: of what
/// it returns, all numbers, sizes and places fit each other (job_check.h).
base::Status decode(const std::string& bytes, Job& job);

}  // namespace clump::pmi
