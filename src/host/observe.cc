// The observer: a thread of each host process that tells mpiexec about its ranks when it is asked to, and
// otherwise sleeps. docs/decisions/018-who-waits-for-whom.md
#include <linux/futex.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "base/environment.h"
#include "base/thread_name.h"
#include "base/why_refused.h"
#include "diag/capture.h"
#include "diag/libraries.h"
#include "fiber/awake_threads.h"
#include "fiber/worker.h"
#include "fiber/world_stop.h"
#include "host/host.h"
#include "host/state.h"
#include "host/tasks.h"
#include "pmi/waits.h"
#include "process/signals/signals.h"

namespace clump::host {

namespace {

/// How long no thread may have run, if some sleep outside MPI, before it is certain that none will: the
/// monitor looks after workers more often than that.
constexpr std::chrono::milliseconds kStill{500};
/// A process that sleeps while its network has something to do is looked at again.
constexpr std::chrono::milliseconds kSoon{50};
/// Between looks at threads outside MPI: at first, and at last where some of them run.
constexpr std::chrono::milliseconds kLongestPause{8000};
/// Tests make it shorter.
std::chrono::milliseconds first_pause() {
  static const char* const set = base::variable("CLUMP_OBSERVER_PAUSE");
  return std::chrono::milliseconds(set != nullptr ? std::max(std::atoi(set), 1) : 1000);
}

/// What has called MPI is told with so many frames, as the innermost may have no debugging information.
constexpr std::size_t kCallers = 4;

constinit Observed observed{};
constinit std::atomic<bool> all_sleep{false}, may_rest{false};

// The observer's own.
auto& tasks = *new Tasks(Tasks::Wakers::kThreads);
auto& tasks_for_hang = *new Tasks(Tasks::Wakers::kAnything);

pmi::HostState& state() { return host().node.host(host().job.process); }

void call_observer() { host().node.call_observer(host().job.process); }

/// In a job of one process: nobody else can wake us, and we know of all our threads.
void on_deadlock() {
  all_sleep.store(true, std::memory_order_release);
  call_observer();
}

/// In others a thread sleeps for long: perhaps it was the last.
void on_long_sleep() {
  may_rest.store(true, std::memory_order_release);
  call_observer();
}

void send(const std::string& packet) {
  (void)!::send(host().control, packet.data(), packet.size(), MSG_NOSIGNAL);
}

void send_account(std::uint32_t question) {
  const std::string bytes = pmi::encode(observed.take_account());
  for (std::size_t at = 0; at < bytes.size(); at += pmi::AccountNote::kMost)
    send(pmi::encode(pmi::AccountNote{host().job.process, question,
                                      at + pmi::AccountNote::kMost >= bytes.size(),
                                      bytes.substr(at, pmi::AccountNote::kMost)}));
}

/// Whether all threads sleep in MPI. Of a plain process we do not know who makes threads.
bool all_threads_sleep_in_mpi() {
  if (!host().job.here().plain) return fiber::threads_awake() == 0;
  struct stat tasks {};
  if (::stat("/proc/self/task", &tasks) != 0) return false;
  const int threads = static_cast<int>(tasks.st_nlink) - 2;
  // The main thread is not counted as one that begins: asleep, it makes the count negative. The count is 0 or
  // more while a service thread works for the rank, as on a file (io/background.h).
  return fiber::threads_awake() < 0 && fiber::sleeping_threads() + fiber::service_threads() == threads;
}

/// The same, or that those which do not will never go on by themselves.
bool all_threads_sleep() { return all_threads_sleep_in_mpi() || tasks.are_still(kStill); }

/// Whether nobody else can wake this process: a deadlock is found when the last thread goes to sleep or ends.
bool is_alone() { return host().is_imaged() && host().job.processes.size() == 1; }

/// When to look whether threads outside MPI are asleep: nobody tells. The observer's own.
class Outsiders {
 public:
  /// How long to wait for the next look; nothing if there need not be one: all threads of the process sleep
  /// in MPI, so that others have to wake it.
  std::optional<std::chrono::milliseconds> pause() {
    if (all_threads_sleep_in_mpi()) {
      if (has_looked_) return {};
      return kSoon;  // the last one outside may have ended, which tells nobody
    }
    has_looked_ = false;
    return pause_;
  }
  /// The pause is over. Whether nobody will go on any more.
  bool look() {
    has_looked_ = all_threads_sleep_in_mpi();
    if (!is_alone() && has_looked_) return true;
    const std::uint64_t wakes = state().wakes.load(std::memory_order_relaxed);
    const bool is_quiet = std::exchange(wakes_, wakes) == wakes;
    if (is_quiet && tasks.are_still(kStill)) return true;
    // Who runs is looked at less and less often; who sleeps is looked at once more soon.
    pause_ = is_quiet && tasks.were_asleep() ? first_pause() : std::min(2 * pause_, kLongestPause);
    return false;
  }

 private:
  std::chrono::milliseconds pause_ = first_pause();
  std::uint64_t wakes_ = 0;
  bool has_looked_ = false;  ///< since all threads sleep in MPI
};

bool is_done() { return state().done.load(std::memory_order_acquire); }

/// What is read between two looks at the same sleep is of one moment.
pmi::RestNote look_whether_it_rests(std::uint32_t check) {
  pmi::RestNote note{.process = host().job.process, .check = check, .waits = !is_done()};
  const auto rests = [](std::uint64_t& since) {
    return host().node.rests(host().job, host().job.process, since);
  };
  std::uint64_t wakes = 0;
  note.rests = rests(note.wakes) && (is_done() || all_threads_sleep()) &&
               observed.network_rests(note.sent, note.taken) && rests(wakes) && wakes == note.wakes;
  return note;
}

/// Tells mpiexec if this process rests. False: all of its threads do, but the network does not by now.
bool tell_whether_it_rests() {
  if (!is_done()) {
    const std::uint64_t since = state().wakes.load(std::memory_order_seq_cst);
    const bool in_mpi = fiber::progress_sleeper_sleeps() && all_threads_sleep_in_mpi();
    if (!in_mpi && !tasks.are_still(kStill)) return true;
    (in_mpi ? state().rested : state().outside).store(since + 1, std::memory_order_seq_cst);
  }
  const pmi::RestNote note = look_whether_it_rests(0);
  if (note.rests) send(pmi::encode(note));
  return note.rests;
}

void look_at_progress(std::uint32_t look) {
  state().progress.store(observed.progress(), std::memory_order_relaxed);
  // Who sleeps outside MPI all the time does nothing there.
  const bool in_mpi = observed.all_in_mpi(), still = tasks_for_hang.are_still({});
  state().in_mpi.store(in_mpi || still, std::memory_order_relaxed);
  state().looked.store(look, std::memory_order_release);
}

/// Nobody wakes in MPI, and threads outside of it sleep for good. The others of the job may still wake this
/// process, if there are others.
void tell_that_outsiders_sleep() {
  std::uint64_t sent = 0, taken = 0;
  if (is_alone() && observed.network_rests(sent, taken))
    all_sleep.store(true, std::memory_order_relaxed);
  else if (!is_alone() && !tell_whether_it_rests())
    may_rest.store(true, std::memory_order_release);
}

/// Until somebody calls the observer, or for so long. False if nobody has.
bool wait_for_news(std::uint32_t seen, std::optional<std::chrono::milliseconds> longest) {
  timespec time{};
  if (longest) time = {longest->count() / 1000, longest->count() % 1000 * 1'000'000};
  return ::syscall(SYS_futex, &state().news, FUTEX_WAIT, seen, longest ? &time : nullptr, nullptr, 0) == 0 ||
         errno != ETIMEDOUT;
}

void* run_observer(void*) {
  base::name_own_thread("observer");
  Outsiders outsiders;
  for (std::uint32_t answered = 0, looked = 0, checked = 0;;) {
    bool again = false;
    const std::uint32_t seen = state().news.load(std::memory_order_acquire);
    if (all_sleep.load(std::memory_order_acquire)) send_account(0);
    if (all_sleep.load(std::memory_order_acquire) || state().ends.load(std::memory_order_acquire)) {
      if (host().is_debugged) stop_in_debugger();
      fail_job({-1, pmi::Reason::kDeadlock, 1, {}, {}});
    }
    if (const std::uint32_t question = state().question.load(std::memory_order_acquire); question != answered)
      send_account(answered = question);
    if (const std::uint32_t look = state().looks.load(std::memory_order_acquire); look != looked)
      look_at_progress(looked = look);
    if (const std::uint32_t check = state().check.load(std::memory_order_acquire); check != checked) {
      const pmi::RestNote note = look_whether_it_rests(checked = check);
      send(pmi::encode(note));
      again = !note.rests;
    }
    if (again || may_rest.exchange(false, std::memory_order_acq_rel)) again = !tell_whether_it_rests();
    if (again) may_rest.store(true, std::memory_order_release);
    if (!wait_for_news(seen, again ? kSoon : outsiders.pause()) && !again && outsiders.look())
      tell_that_outsiders_sleep();
  }
}

std::string_view object_of(const pmi::FailureView::Frame& frame) {
  return frame.object != nullptr ? frame.object : std::string_view();
}
bool is_ours(const pmi::FailureView::Frame& frame) {
  return diag::is_library(object_of(frame), "libclump_host.so");
}
bool is_mpi(const pmi::FailureView::Frame& frame) { return diag::is_mpi(object_of(frame)); }

}  // namespace

const char* last_call_of(const fiber::Identity& rank) noexcept {
  return observed.last_call != nullptr ? observed.last_call(rank) : nullptr;
}

void observe(const Observed& how) {
  if (!host().started_by_mpiexec()) return;
  observed = how;
  fiber::count_wakes_in(state().wakes);
  // Signals are for the ranks' threads.
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  std::uint64_t before = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &kAll, &before, sizeof before);
  const bool started = fiber::start_kernel_thread(run_observer, nullptr);
  const int error = errno;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
  if (!started)
    fail_job({-1,
              pmi::Reason::kCannotStart,
              1,
              fmt::format("cannot start a thread: {}", base::why_refused("pthread_create", error)),
              {}});
  state().observes.store(true, std::memory_order_release);
  if (is_alone())
    fiber::on_deadlock(on_deadlock);
  else
    fiber::on_long_sleep(on_long_sleep);
}

namespace {

/// time_of_all_threads(), read once for all ranks that are asked for in a row. By the observer.
std::chrono::nanoseconds time_of_process() {
  constexpr std::chrono::milliseconds kInARow{50};
  static std::chrono::steady_clock::time_point read{};
  static std::chrono::nanoseconds time{};
  if (const auto now = std::chrono::steady_clock::now(); now - read > kInARow) {
    time = time_of_all_threads();
    read = now;
  }
  return time;
}

}  // namespace

ThreadTimes times_of_threads(int rank) {
  std::array<pid_t, 1024> numbers{};
  const fiber::Identity& identity = host().rank(rank).identity;
  const int count = image::signals::kernel_threads_of(identity, numbers);
  const bool are_all = count >= 0 && count < static_cast<int>(numbers.size());
  // Threads that have ended come after the living: one that ends meanwhile counts twice rather than not at
  // all.
  if (!are_all) {
    const std::chrono::nanoseconds all = time_of_process() + image::signals::time_of_ended_threads(identity);
    return {all, all, nullptr};
  }
  ThreadTimes times;
  for (int i = 0; i < count; ++i) times.but_fiber += time_of_thread(numbers[static_cast<std::size_t>(i)]);
  times.but_fiber += image::signals::time_of_ended_threads(identity);
  times.fiber = image::signals::fiber_of(identity);
  // A fiber runs on whatever worker thread: if the rank has other threads as well, all workers count.
  times.all = count > 0 && times.fiber != nullptr ? time_of_process() : times.but_fiber;
  return times;
}

bool has_ended(int rank) { return host().rank(rank).phase.load() == Phase::kEnded; }

namespace {

/// Whether a source file belongs to the interpreter or to a package, rather than to the program.
bool is_of_package(std::string_view file) {
  return file.starts_with('<') || file.find("/lib/python3") != file.npos;
}

/// The innermost frame that is the program's own; the innermost, if none is. By the observer.
std::vector<pmi::Frame> place_in_program(int rank, const void* thread) {
  std::array<pmi::FailureView::Frame, diag::Stack::kMostFrames> memory;
  static auto& texts = *new diag::FrameTexts;
  texts.used = 0;
  const std::span all =
      std::span(memory).first(diag::read_python(host().rank(rank).interpreter, thread, memory, texts));
  if (all.empty()) return {};
  const auto found =
      std::ranges::find_if(all, [](const auto& frame) { return !is_of_package(object_of(frame)); });
  const pmi::FailureView::Frame& frame = found != all.end() ? *found : all.front();
  return {{std::string(object_of(frame)), frame.address, frame.function}};
}

}  // namespace

std::vector<pmi::Frame> place_of_interpreter(int rank) {
  std::vector<pmi::Frame> place = place_in_program(rank, nullptr);
  // Where the stacks of an interpreter are not known, it may not run at all.
  if (!place.empty() && place.front().object.empty()) place.clear();
  return place;
}

std::vector<pmi::Frame> frames_of(const fiber::BlockedThread& thread) {
  diag::Stack stack;
  diag::capture_behind(stack, thread.registers);
  const auto all = stack.view();
  // The outermost frame of the innermost call of MPI; if there is none, the first that is not of Clump.
  std::size_t first = 0;
  while (first < all.size() && is_ours(all[first])) ++first;
  while (first + 1 < all.size() && is_mpi(all[first]) && is_mpi(all[first + 1])) ++first;
  std::vector<pmi::Frame> frames, interpreted;
  // A program may have loaded an interpreter, and not be in it.
  if (diag::first_of_interpreter(stack, host().rank(thread.rank->rank).interpreter) < all.size())
    interpreted = place_in_program(thread.rank->rank, thread.thread_pointer);
  const std::size_t most = interpreted.empty() ? kCallers + 1 : is_mpi(all[first]) ? 1 : 0;
  for (std::size_t i = first; i < all.size() && frames.size() < most && !is_ours(all[i]); ++i)
    if (!diag::is_binding(object_of(all[i])))
      frames.push_back({std::string(object_of(all[i])), all[i].address, {}});
  frames.insert(frames.end(), interpreted.begin(), interpreted.end());
  return frames;
}

bool is_in_mpi(const std::vector<pmi::Frame>& frames) {
  return !frames.empty() && diag::is_mpi(frames.front().object);
}

}  // namespace clump::host
