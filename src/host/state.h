// What the files host_*.cc share: the ranks of this process and how far each has come. Not for other layers.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "diag/python.h"
#include "fiber/identity.h"
#include "image/image.h"
#include "pmi/job.h"
#include "pmi/node_memory.h"
#include "process/libc/exit.h"

namespace clump::host {

/// Where this library lies, and libmpi_abi beside it.
std::string_view own_folder();

/// Tells a program that exec() has started which rank it has replaced.
inline constexpr const char* kSuccessorVariable = "CLUMP_SUCCESSOR_OF";
/// Tells it instead why it cannot take that rank's place.
inline constexpr const char* kNoMpiVariable = "CLUMP_NO_MPI";

/// How far a rank has come.
enum class Phase : std::uint8_t { kStarting, kRunning, kEnded };

/// A rank's stack, which is [bottom, top) and can grow down to `lowest`: see host/stacks.h. All 0 for a rank
/// that runs on the main thread's stack.
struct StackBounds {
  std::uintptr_t guard = 0;  ///< [guard, bottom) cannot be touched
  std::uintptr_t lowest = 0;
  std::atomic<std::uintptr_t> bottom{0};
  std::uintptr_t top = 0;

  /// The C library puts a thread's own data at the top of its stack.
  bool is_of_calling_thread() const {
    const auto thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
    return thread >= bottom && thread < top;
  }
};

/// One rank of this process.
struct HostedRank {
  fiber::Identity identity;
  std::atomic<Phase> phase{Phase::kStarting};
  std::atomic<const char*> owes{nullptr};  ///< what it has to call before it may end
  std::atomic<bool> in_world{false};       ///< it has called MPI_Init
  bool is_replaced = false;                ///< by exec(), before it called MPI: host/exec.cc
  int app = 0;
  const pmi::App* spawned = nullptr;  ///< what it runs, if it has joined (host/spawn.cc); null: job.apps[app]
  int launch_size = 0;                ///< of a rank that has joined: of its MPI_COMM_WORLD
  int program = 0;                    ///< the image layer's number
  StackBounds stack;
  std::atomic<rlim_t> soft_limits[RLIM_NLIMITS] = {}, hard_limits[RLIM_NLIMITS] = {};  ///< host/limits.cc
  std::atomic<std::uint32_t> changed_limits{0};                                        ///< a bit for each
  diag::Interpreter interpreter;
  pid_t kernel_thread = 0;  ///< the main thread's own, where a fiber's sleeps
  int key_rounds = 0;       ///< host/threads.cc
};

/// The host process. Made once by the constructor of libclump_host.so; never destroyed, as ranks' threads
/// outlive everything.
struct Host {
  pmi::Job job;
  std::unique_ptr<HostedRank[]> ranks;  ///< of this process, from the start; see rank_at()
  /// Ranks that have joined. Never freed; an entry is not changed once it is counted.
  std::array<HostedRank*, pmi::kMostJoining> joined{};
  std::atomic<int> joined_count{0};
  int control = -1;                ///< socket to mpiexec; -1: no mpiexec
  pid_t process = 0;               ///< this process: a child that a rank forks finds out that it is not
  std::uintptr_t main_thread = 0;  ///< the thread pointer of the process's main thread
  std::uintptr_t main_stack = 0;   ///< an address in its stack
  bool listens = false;            ///< to its neighbours
  bool have_own_limits = false;    ///< the ranks: see host/limits.cc
  bool is_debugged = false;        ///< mpiexec --gdb: ranks wait for the debugger
  const char* why_no_mpi = nullptr;
  bool by_pmix = false;  ///< another launcher than mpiexec has started it, and PMIx tells of the others
  std::atomic<bool> left_pmix{false};  ///< by_pmix: so have all others
  /// Shared with the job's other processes on this node; only if there are any.
  pmi::NodeMemory node;
  int node_descriptor = -1;
  int life_descriptor = -1;    ///< of a pipe that closes when mpiexec has ended; only in a plain process
  int successor_of = -1;       ///< the rank that this program has replaced by exec(), and has not joined as
  std::vector<int> inputs;     ///< with pmi::kInputForAll: what the process's ranks have as stdin
  int record_descriptor = -1;  ///< of the memory for records of calls; -1: none are wanted

  bool started_by_mpiexec() const { return control >= 0; }
  /// All ranks of this process have images.
  bool is_imaged() const { return started_by_mpiexec() && !job.here().plain; }
  bool is_successor() const { return successor_of >= 0; }
  bool has_neighbours() const { return node_descriptor >= 0 && job.processes.size() > 1; }
  /// Those that have joined are counted, and those that have ended.
  int rank_count() const {
    return job.here().ranks +
           joined_count.load(std::memory_order_acquire);  // acquire: pairs with host/spawn.cc
  }
  HostedRank& rank_at(int i) {
    const int later = i - job.here().ranks;
    return later < 0 ? ranks[static_cast<std::size_t>(i)] : *joined[static_cast<std::size_t>(later)];
  }
  /// `number`: in the job.
  HostedRank& rank(int number) {
    const int later = number - job.here().ranks;
    if (later >= 0 && later < joined_count.load(std::memory_order_acquire)) return rank_at(number);
    return ranks[static_cast<std::size_t>(job.rank_mapping.slot_of(number) - job.here().first_slot)];
  }
  const pmi::App& app_of(const HostedRank& rank) const {
    return rank.spawned != nullptr ? *rank.spawned : job.apps[static_cast<std::size_t>(rank.app)];
  }
  HostedRank& rank(const fiber::Identity& identity) { return rank(identity.rank); }
};

/// Valid from before the program's first constructor.
Host& host();

// host/start.cc and its helpers, in the order in which a process goes through them.

/// host/job.cc: reads what mpiexec has left for this process; nothing if it has the rights of its file
/// (base/environment.h). `argc`, `argv` and `variables` describe the job of one rank that there is without
/// mpiexec. Returns what is wrong, and that is then the job; an empty text if all is well.
std::string find_job(int argc, char** argv, char** variables);
/// A plain process becomes its rank, on its first call of MPI: null, or why it cannot.
const char* join_job();
/// host/mpi_library.cc: ends the job if this plain process is made for another MPI library.
void refuse_other_mpi();
/// host/mpi_library.cc: executes the program once more with a facade before the MPI library, if ld.so has
/// loaded another library in its place. By the first constructor of a plain process.
void begin_again_over_facade(char** argv, char** environment);
/// host/preloads.cc: what this plain process executes before it is the rank keeps Clump's libraries in
/// LD_PRELOAD.
void keep_preloads(char** environment);
/// It is the rank: what it starts from now on is none, and gets LD_PRELOAD as the caller of mpiexec had it.
void take_back_preload();
/// Makes the ranks of this process, which the job describes.
void make_ranks();
/// A successor has the job, which its descriptors describe, and becomes a plain process of it.
std::string take_place(int process, std::span<const int> descriptors);
/// host/exec.cc: ranks of this process may be replaced.
void offer_successors();
/// This process may be the successor of a rank.
void become_successor(char** environment);
/// It calls MPI: null, or why it cannot be the rank.
const char* join_as_successor();
/// A rank that is an image, or a plain process, calls MPI for the first time: null, or why it cannot.
const char* why_ranks_cannot_begin();
/// host/pmix.cc: the same for one that PMIx serves, with a job of its own until then.
const char* join_by_pmix();
base::Status announce_by_pmix(std::span<const std::byte> address);
base::Status find_by_pmix(int process, std::vector<std::byte>& address);
/// host/spawn_job.cc: waits for what start_mpiexec() has started.
void wait_for_jobs();
/// host/addresses.cc: this process is done with MPI, and would end.
void wait_for_other_hosts();
/// Where the job's other processes wake this one's threads. A second call does nothing.
void listen_to_neighbours();
/// The process, as ps and top name it, says which ranks it is.
void name_process();
/// host/cores.cc: the calling kernel thread, which will be the rank's main thread, gets the rank's cores, if
/// it has some of its own; so do threads that it makes. The process's own thread does so before constructors
/// run, of which some count cores (OpenMP's), and takes all cores of the process again before it makes the
/// threads of others.
void narrow_to_cores_of(int rank);
void widen_to_cores_of_process();
/// host/debugger.cc: fills the table that debuggers read.
void describe_to_debuggers();
/// Returns when the debugger lets the ranks go. By each rank, before its main(); by the first call of MPI in
/// a plain process.
void wait_for_debugger();
/// Stops there, if a debugger looks at this process.
void stop_in_debugger();
/// Starts the thread of a rank that has joined: the `place`-th of this process. By a thread of another rank.
void start_joined(HostedRank& rank, int place);
/// host/limits.cc: gives a rank that joins the limits that the process has now.
void give_limits_to_joining(HostedRank& rank);
/// host/input.cc: fills Host::inputs, from what mpiexec has left in the environment. Null: nothing. Returns
/// what is wrong; an empty text if all is well.
std::string find_inputs(const char* descriptors);
/// What mpiexec has for the rank becomes its stdin. When it has an image, before its constructors run.
void open_input(HostedRank& rank);
/// host/output.cc: mpiexec learns of output of ranks that is lost. Of a plain process `out` and `err` tell
/// what mpiexec has given it; the C library's stdout, if it is that, writes each line when it is complete.
void watch_output();
void watch_plain_output(const char* out, const char* err);
/// host/fork.cc
void prepare_for_forks();
/// host/threads.cc: once, and by each rank's main thread
void prepare_for_thread_ends();
void watch_main_thread(HostedRank& rank);
/// By that of a plain process: it may end by pthread_exit(), and then the process ends with the last thread
/// of the program.
void watch_main_thread_of_process();
/// Installs the handlers that turn fatal signals and uncaught exceptions into failures of a rank.
void install_failure_handlers();
/// From here on ranks with images have signals of their own. After the image layer's capture().
void give_ranks_signals();
/// Gives the calling thread a stack for signal handlers in [memory, memory + bytes).
void use_signal_stack(void* memory, std::size_t bytes);
/// Gives the calling thread, the first of a plain process to call MPI, a stack for signal handlers if it has
/// none.
void use_signal_stack_if_none();
/// The process layer's hook: see image::ExitHook.
void on_rank_exit(fiber::Identity* rank, int code, image::ExitKind kind);
/// For on_exit(), of a rank that another launcher than mpiexec has started. To be registered before the
/// program registers anything: what the program does at its exit may call MPI_Finalize.
void on_exit_without_mpiexec(int code, void*);

/// Bytes of a signal stack: the handler unwinds on it.
inline constexpr std::size_t kSignalStackBytes = 64 << 10;

}  // namespace clump::host
