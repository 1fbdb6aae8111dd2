// The start of a host process: from ld.so's first constructor to every rank's main().
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/environment.h"
#include "base/foreign_name.h"
#include "base/process.h"
#include "base/program_path.h"
#include "base/standard_descriptors.h"
#include "base/status.h"
#include "base/thread_name.h"
#include "base/uncaught.h"
#include "base/why_refused.h"
#include "diag/capture.h"
#include "fiber/completion.h"
#include "fiber/exploration.h"
#include "fiber/fiber.h"
#include "fiber/float_control.h"
#include "fiber/help.h"
#include "fiber/kernel_state.h"
#include "host/host.h"
#include "host/stacks.h"
#include "host/state.h"
#include "image/late_calls.h"
#include "image/lifetime.h"
#include "image/own_calls.h"
#include "image/sentinels.h"
#include "image/symbols.h"
#include "inspect/mpi4py.h"
#include "pmi/rank_variables.h"
#include "process/files/output.h"
#include "process/files/own_program.h"
#include "process/files/record_locks.h"
#include "process/files/standard.h"
#include "process/libc/exit.h"
#include "process/refusal.h"
#include "process/signals/signals.h"
#include "process/threads/cores.h"

extern "C" {
[[gnu::weak]] void __tsan_init();
[[gnu::weak]] void __asan_init();
// src/malloc/young.h: there if mpiexec has preloaded libclump_malloc.so.
[[gnu::weak]] void clump_malloc_prepare(std::size_t ranks);
[[gnu::weak]] void clump_malloc_begin(std::size_t rank);
}

namespace clump::host {

namespace {

image::Main original_main = nullptr;

[[noreturn]] void cannot_start(int rank, std::string text) {
  fail_job({rank, pmi::Reason::kCannotStart, 1, std::move(text), {}});
}

bool uses_fibers() { return host().job.scheduler == pmi::Scheduler::kFibers; }

void tell_core_count(HostedRank& rank) {
  if (uses_fibers()) image::set_core_count(rank.identity, host().job.share_of(rank.identity.rank));
}

/// Puts the environment of this process's first rank where this process has its own, which has mpiexec's
/// additions and so is at least as long: behind the arguments, where programs that write their title look for
/// it. The auxiliary vector follows, as programs expect (Go's run-time library): entries to be ignored are
/// between.
void restore_environment(char** environment) {
  char** slot = environment;
  char** vector = environment;
  while (*vector++ != nullptr) {
  }
  char* text = *environment;
  const char* end = text;
  for (char** entry = environment; *entry == end && end != nullptr; ++entry) end += std::strlen(end) + 1;
  const pmi::Job& job = host().job;
  const int rank = job.first_rank(job.here());
  static const auto& entries = *new std::vector<std::string>(
      pmi::environment_of_rank(job, rank, job.apps[static_cast<std::size_t>(job.app_of(rank))].environment));
  for (const std::string& entry : entries) {
    if (*slot == nullptr) break;
    const bool fits = static_cast<std::size_t>(end - text) > entry.size();
    *slot++ = fits ? static_cast<char*>(std::memcpy(text, entry.c_str(), entry.size() + 1))
                   : const_cast<char*>(entry.c_str());
    if (fits) text += entry.size() + 1;
  }
  // An entry of the vector has two words. The last variable tells who is a rank, and is Clump's own.
  if (slot > environment && (vector - slot) % 2 == 0) {
    *slot = slot[-1];
    ++slot;
  }
  *slot++ = nullptr;
  for (; slot < vector; slot += 2) {
    const ElfW(auxv_t) ignored{AT_IGNORE, {0}};
    std::memcpy(slot, &ignored, sizeof ignored);
  }
}

/// The process is its one rank, as the system starts it.
void begin_plain(int argc, char** argv, char** environment) {
  Host& here = host();
  here.ranks[0].identity.threaded = true;  // it makes them without us
  fiber::set_default_identity(&here.ranks[0].identity);
  fiber::set_spinning(here.job.spin);
  image::add_linked_sentinels();
  image::note_loaded_at_start();
  image::see_exit_of_process();
  image::construct_mpi(argc, argv, environment);
}

[[noreturn]] void on_refusal(fiber::Identity* rank, std::string text) {
  fail_job({rank != nullptr ? rank->rank : -1, pmi::Reason::kAborted, 1, std::move(text), {}});
}

/// Makes a file for the output of a rank that joins the job, and its folder. What it held is lost. What goes
/// wrong, and what another user has put there, is found when the file is opened.
void make_output_file(const std::string& path) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  if (base::foreign_name_by(path.c_str())) return;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file >= 0) ::close(file);
}

/// The files of the rank: mpiexec has made those of the ranks that it has started.
void open_output(HostedRank& rank) {
  const pmi::Job& job = host().job;
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    const std::string path = job.output_file(rank.identity.rank, descriptor);
    if (path.empty()) continue;
    if (rank.spawned != nullptr) make_output_file(path);
    const base::Status opened =
        image::send_output_to(rank.identity, descriptor, path, job.output.to_files_only);
    if (!opened.ok()) cannot_start(rank.identity.rank, base::message_of(opened.code()));
  }
}

/// Ranks that share the process may open together as many files as they could in a process each, as far as
/// the hard limit goes.
void raise_file_limit(int ranks) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const rlim_t most =
      limit.rlim_max == RLIM_INFINITY ? limit.rlim_cur * static_cast<rlim_t>(ranks) : limit.rlim_max;
  limit.rlim_cur = std::min(limit.rlim_cur * static_cast<rlim_t>(ranks), most);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void begin_imaged(int argc, char** argv, char** environment) {
  Host& here = host();
  static std::byte signal_stack[kSignalStackBytes];
  use_signal_stack(signal_stack, sizeof signal_stack);
  install_failure_handlers();
  HostedRank& native = here.ranks[0];
  fiber::adopt_identity(&native.identity);
  image::output::set_prefix(host().job.line_prefix(), host().job.output.whole_lines);
  watch_output();
  image::note_auxiliary_vector(environment);
  image::output::start();
  image::standard::begin();
  const base::Status captured =
      image::capture(native.identity, argc, argv, environment);  // looks at LD_BIND_NOW
  restore_environment(environment);
  if (!captured.ok()) cannot_start(-1, base::message_of(captured.code()));
  image::set_exit_hook(on_rank_exit);
  offer_successors();
  image::set_refusal_hook(on_refusal);
  if (here.rank_count() > 1) image::locks::begin();
  raise_file_limit(here.rank_count());
  give_ranks_signals();
  open_output(native);
  open_input(native);
  native.kernel_thread = here.process;
  if (here.has_neighbours()) name_process();
  fiber::set_spinning(here.job.spin);
  native.phase = Phase::kRunning;
  fiber::thread_begins();
  tell_core_count(native);
  narrow_to_cores_of(native.identity.rank);
}

/// Runs before every other constructor of the process: this library is linked with -z initfirst.
__attribute__((constructor)) void begin(int argc, char** argv, char** environment) {
  image::bind_late_calls(environment);
  image::keep_own_calls(environment);
  // A sanitizer in the program has functions in the way of the C library's, which we are about to call.
  if (__tsan_init != nullptr) __tsan_init();
  if (__asan_init != nullptr) __asan_init();
  host().process = base::process_id();
  base::own_file();
  base::tell_uncaught(fail_by_exception);
  note_main_stack();
  prepare_for_forks();
  std::string wrong = find_job(argc, argv, environment);
  if (!wrong.empty()) cannot_start(-1, std::move(wrong));
  describe_to_debuggers();
  if (host().is_imaged()) return begin_imaged(argc, argv, environment);
  if (host().started_by_mpiexec()) begin_again_over_facade(argv, environment);
  begin_plain(argc, argv, environment);
}

/// Loads the programs of this process's other apps.
void load_programs() {
  Host& here = host();
  std::map<std::string, int> numbers;
  for (int i = 0; i < here.rank_count(); ++i) {
    const std::string& program = here.job.apps[static_cast<std::size_t>(here.ranks[i].app)].program;
    auto [known, fresh] = numbers.try_emplace(program, 0);
    if (fresh && i > 0) {
      const base::Status loaded = image::load_program(program, &known->second);
      if (!loaded.ok()) cannot_start(-1, base::message_of(loaded.code()));
    }
    here.ranks[i].program = known->second;
  }
}

[[noreturn]] void run_main(HostedRank& rank, image::Main main, int argc, char** argv) {
  rank.phase = Phase::kRunning;
  if (uses_fibers() && host().job.cores_of(rank.identity.rank).empty())
    image::tell_openmp_core_count(rank.identity);
  watch_main_thread(rank);
  image::signals::begin_main_thread();
  if (host().is_debugged) wait_for_debugger();
  image::note_main_begins(rank.identity);
  std::exit(main(argc, argv,
                 image::environment_of(
                     rank.identity)));  // the process layer's exit: this rank's handlers and destructors
}

/// The calling kernel thread will run ranks: gives it what it cannot share with others.
void prepare_kernel_thread(void* signal_stack) {
  use_signal_stack(signal_stack, kSignalStackBytes);
  fiber::inherit(nullptr);  // a working directory and umask of its own, as a process has
}

/// The same for a worker thread of fibers, which outlives them all.
void prepare_worker_thread() {
  void* const stack =
      ::mmap(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED)
    cannot_start(-1, fmt::format("no memory for a signal stack: {}", base::why_refused("mmap", errno)));
  prepare_kernel_thread(stack);
}

/// A rank's thread finds its way to where it runs: to a worker, or it stays where it is.
void settle(HostedRank& rank) {
  const pmi::Job& job = host().job;
  rank.kernel_thread = ::gettid();
  // The main thread's name is the process's.
  if (rank.kernel_thread != host().process)
    base::name_this_thread(fmt::format("rank {}", rank.identity.rank));
  narrow_to_cores_of(rank.identity.rank);
  if (uses_fibers()) {
    return fiber::become_fiber(job.worker_of(rank.identity.rank) - job.first_worker(job.here()),
                               &rank.identity);
  }
  prepare_kernel_thread(signal_stack_of(rank));
}

/// Its number among the ranks of this process.
std::size_t place_of(const HostedRank& rank) {
  const Host& here = host();
  if (rank.spawned != nullptr) return static_cast<std::size_t>(rank.identity.rank);
  return static_cast<std::size_t>(&rank - &here.ranks[0]);
}

std::vector<std::string> environment_of(const HostedRank& rank, const pmi::App& app) {
  return rank.spawned != nullptr
             ? pmi::environment_of_spawned(rank.identity.launch_rank, rank.launch_size, app.environment)
             : pmi::environment_of_rank(host().job, rank.identity.rank, app.environment);
}

/// A rank but the first: the body of its thread.
void* run_rank(void* argument) {
  HostedRank& rank = *static_cast<HostedRank*>(argument);
  if (clump_malloc_begin != nullptr) clump_malloc_begin(place_of(rank));
  const pmi::App& app = host().app_of(rank);
  settle(rank);
  if (!app.working_directory.empty() && ::chdir(app.working_directory.c_str()) != 0) {
    cannot_start(rank.identity.rank,
                 fmt::format("cannot enter {}: {}", app.working_directory, std::strerror(errno)));
  }
  const base::Status made = image::create(rank.identity, rank.program);
  if (!made.ok()) cannot_start(rank.identity.rank, base::message_of(made.code()));
  open_output(rank);
  open_input(rank);
  image::adopt_thread(rank.identity);
  char** const argv = image::set_environment(rank.identity, app.arguments, environment_of(rank, app));
  tell_core_count(rank);
  // Not as the thread that has made this one computes: a rank that spawns may have changed that (gcc
  // -ffast-math flushes denormals).
  if (rank.spawned != nullptr) fiber::FloatControl().use();

  const int argc = static_cast<int>(app.arguments.size());
  image::run_constructors(rank.identity, argc, argv);
  if (rank.program != 0) image::enter(rank.identity);  // and so to __libc_start_main below
  run_main(rank, image::main_of(rank.identity, original_main), argc, argv);
}

/// The start of a rank whose program is not the one that ld.so started has come to its main().
[[noreturn]] void begin_other_program(image::Main main, int argc, char** argv) {
  run_main(host().rank(*fiber::identity()), main, argc, argv);
}

void start_thread(HostedRank& rank, int index) {
  make_stack(rank, index);
  const std::uintptr_t bottom = rank.stack.bottom;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstack(&attributes, reinterpret_cast<void*>(bottom), rank.stack.top - bottom);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  // It is a thread of none, until it makes itself one of its rank.
  fiber::Identity* const maker = fiber::identity();
  fiber::adopt_identity(nullptr);
  fiber::thread_begins();
  const int error = ::pthread_create(&thread, &attributes, run_rank, &rank);
  fiber::adopt_identity(maker);
  ::pthread_attr_destroy(&attributes);
  if (error != 0) {
    cannot_start(rank.identity.rank,
                 fmt::format("cannot start a thread: {}", base::why_refused("pthread_create", error)));
  }
}

/// The workers of this process.
void make_workers() {
  Host& here = host();
  const pmi::HostProcess& mine = here.job.here();
  const auto begin = here.job.cores.begin() + here.job.first_worker(mine);
  const std::vector<std::int32_t> cores(begin, begin + here.job.workers(mine));
  if (here.job.seed) fiber::exploration::begin(*here.job.seed, mine.ranks);
  const int joining = here.job.has_room_to_join() ? pmi::kMostJoining : 0;
  if (!fiber::make_workers(cores, mine.ranks + joining, prepare_worker_thread))
    cannot_start(-1,
                 fmt::format("ranks as fibers need this: {}; or have them as threads: --scheduler threads",
                             base::why_refused("membarrier", errno)));
}

/// On cores that no worker has, and that a rank shares with the threads that it makes.
void start_helpers(int rank) {
  const pmi::Job& job = host().job;
  std::vector<std::int32_t> cores = job.cores_of(rank);
  if (cores.size() < 2) return;
  cores.erase(cores.begin());  // the worker's
  fiber::start_helpers(std::min(static_cast<int>(cores.size()), job.helpers), cores);
}

void start_ranks() {
  Host& here = host();
  const int count =
      here.job.here().ranks;  // not rank_count(): a rank that has begun may spawn others already
  fiber::note_beginning();
  prepare_for_thread_ends();
  image::signals::allow_threads();
  if (uses_fibers()) make_workers();
  listen_to_neighbours();
  if (uses_fibers()) {
    if (!fiber::start_workers())
      cannot_start(-1, fmt::format("cannot start a thread for each core: {}",
                                   base::why_refused("pthread_create", errno)));
    if (::dlsym(RTLD_DEFAULT, "omp_in_parallel") != nullptr)
      fiber::ask_for_parallel_regions(image::is_in_parallel_region);
    for (int i = 0; i < count; ++i) start_helpers(here.ranks[i].identity.rank);
    // The kernel threads of ranks only lend their stacks: signals go to the workers. The system call, as the
    // native rank blocks nothing by that.
    constexpr std::uint64_t kAll = ~std::uint64_t{0};
    ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &kAll, nullptr, sizeof kAll);
  }
  if (clump_malloc_prepare != nullptr) clump_malloc_prepare(static_cast<std::size_t>(count));
  reserve_stacks();
  for (int i = 1; i < count; ++i) start_thread(here.ranks[i], i);
  uses_fibers() ? settle(here.ranks[0]) : narrow_to_cores_of(here.ranks[0].identity.rank);
}

/// Takes the place of the program's main(): starts the other ranks and becomes the first.
int hosted_main(int argc, char** argv, char**) {
  Host& here = host();
  widen_to_cores_of_process();
  load_programs();
  diag::prepare();
  start_ranks();
  image::run_constructors(here.ranks[0].identity, argc, argv);
  run_main(here.ranks[0], original_main, argc, argv);
}

/// Has mpi4py take the module that Clump serves, if this process is Python, and find its library in processes
/// that this one starts.
void choose_module_of_mpi4py() {
  if (base::has_rights_of_file()) return;  // the variable is the caller's, and not asked for
  const auto path = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  const std::string python = path != nullptr ? image::python_of(path) : "";
  if (python.empty()) return;
  const char* const asked = base::variable(image::kMpi4pyVariable);
  const std::string module = asked != nullptr ? asked
                                              : image::module_for_mpi4py(python, base::variable("PYTHONPATH"),
                                                                         base::variable("HOME"));
  if (!module.empty()) ::setenv(image::kMpi4pyVariable, module.c_str(), 1);
  constexpr const char* kPath = "LD_LIBRARY_PATH";  // which ld.so has read for this process
  const std::string path_of_children = image::library_path_of_children(module, base::variable(kPath));
  if (!path_of_children.empty()) ::setenv(kPath, path_of_children.c_str(), 1);
}

/// The same for a plain process: its end is seen, nothing else.
int plain_main(int argc, char** argv, char**) {
  listen_to_neighbours();
  watch_main_thread_of_process();
  diag::find_interpreter(host().ranks[0].interpreter);
  choose_module_of_mpi4py();
  std::exit(original_main(argc, argv, base::environment()));
}

}  // namespace

Host& host() {
  static Host* only = new Host;  // never destroyed: ranks' threads run until the process is gone
  return *only;
}

void start_joined(HostedRank& rank, int place) {
  // As start_ranks() has it: a kernel thread that lends its stack to a fiber takes no signals.
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  std::uint64_t before = 0;
  if (uses_fibers()) ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &kAll, &before, sizeof before);
  start_thread(rank, place);
  if (uses_fibers()) ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
}

void listen_to_neighbours() {
  Host& here = host();
  const int first = here.job.first_port(here.job.process);
  if (here.job.ports() > static_cast<int>(here.job.cores.size()) && !here.job.spin) fiber::share_cores();
  if (here.has_neighbours() && !std::exchange(here.listens, true))
    fiber::listen_to({&here.node.bell(first), static_cast<std::size_t>(here.job.ports(here.job.here()))});
}

const pmi::Job& job() { return host().job; }

const char* why_no_mpi() {
  Host& here = host();
  if (here.why_no_mpi != nullptr) return here.why_no_mpi;
  if (!here.is_imaged()) {
    static std::once_flag once;  // the rank's first call of MPI
    std::call_once(once, base::keep_standard_descriptors);
  }
  if (here.by_pmix) return join_by_pmix();
  if (here.is_successor())
    if (const char* const why = join_as_successor()) return why;
  if (!here.started_by_mpiexec()) return nullptr;
  if (const char* const why = why_ranks_cannot_begin()) return why;
  return here.job.here().plain ? join_job() : nullptr;
}

int node_descriptor() { return host().node_descriptor; }

int record_descriptor() { return host().record_descriptor; }

base::Bell& bell(int port) { return host().node.bell(port); }

}  // namespace clump::host

extern "C" CLUMP_HOST_API int __libc_start_main(clump::image::Main main, int argc, char** argv,
                                                void (*init)(), void (*fini)(), void (*rtld_fini)(),
                                                void* stack_end) {
  using Start = int (*)(clump::image::Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  const auto start = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  clump::image::Main body = main;
  clump::host::Host& here = clump::host::host();
  if (here.is_imaged()) {
    if (clump::host::original_main != nullptr) clump::host::begin_other_program(main, argc, argv);
    clump::host::original_main = main;
    body = clump::host::hosted_main;
    init = nullptr;  // the constructors of a program that was linked with glibc before 2.34
  } else if (here.started_by_mpiexec()) {
    clump::host::original_main = main;
    body = clump::host::plain_main;
  }
  return start(body, argc, argv, init, fini, rtld_fini, stack_end);
}
