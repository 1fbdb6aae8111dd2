// What the system keeps once for a process, and what is kept for each rank here. Each part belongs to the
// file that is named there.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include <pthread.h>

#include "base/mutex.h"
#include "image/fork_locks.h"
#include "image/rank_image.h"

namespace clump::image {
namespace output {
class RankOutput;
}
namespace signals {
struct SignalState;
}

/// exit(), quick_exit() and their handlers: libc/exit.cc.
struct ExitState {
  enum class Signature : std::uint8_t { kPlain, kArgument, kStatusAndArgument };
  struct Handler {
    void (*function)() = nullptr;
    void* argument = nullptr;
    void* object = nullptr;  ///< the __dso_handle of the object that has registered it; null for on_exit
    Signature signature = Signature::kPlain;
  };
  RankMutex lock;
  std::vector<Handler> at_exit;
  std::vector<Handler> at_quick_exit;
  /// How many of `at_exit`, the first ones, were registered by libraries before the program began: they run
  /// with the libraries' destructors.
  std::size_t of_libraries = 0;
  bool program_begun = false;
  bool leaving = false;           ///< a thread is in exit() or quick_exit()
  bool skipped_handlers = false;  ///< the rank has left in a way that runs no exit handlers and no
                                  ///< destructors
  pthread_t leaver{};
  std::atomic<pthread_t> ended_by{};  ///< threads/left_behind.h; 0: the rank has not ended
};

/// getopt(): libc/getopt.cc. The position in argv, besides optind.
struct GetoptState {
  char* next = nullptr;   ///< the next letter of a cluster like -abc
  int first_operand = 1;  ///< operands that were passed over are argv[first_operand .. last_operand)
  int last_operand = 1;
  int last_error = 0;  ///< what each call sets the program's optopt to
  enum class Order : std::uint8_t { kPermute, kStop, kReturn } order = Order::kPermute;
  bool begun = false;
};

/// rand(), random(), drand48(): libc/random.cc.
struct RandomState {
  ForkSafeOfRank<base::ShortMutex> lock;  ///< guards `data` and `words`
  random_data data{};
  char words[128] = {};
  drand48_data drand{};
};

/// localtime(), gmtime(), asctime(), ctime(): libc/time.cc.
struct TimeState {
  std::tm broken_down{};
  char text[64] = {};
};

/// setenv() and related functions: libc/environment.cc.
struct EnvironmentState {
  RecursiveRankMutex lock;
  std::vector<char*>
      table;  ///< null-terminated; `environ` points to it, unless the program has set `environ`
};

/// system(): children/shell.cc. The actions for the keyboard's signals that the rank has otherwise.
struct ShellState {
  RankMutex lock;
  int commands = 0;  ///< how many run now
  struct sigaction interrupt {};
  struct sigaction quit {};
};

/// pthread_key_create() and related functions: threads/keys.cc. Made for the rank's first key.
struct KeyState {
  static constexpr std::size_t kMost = 1024;  ///< the C library's PTHREAD_KEYS_MAX
  struct Key {
    void (*destructor)(void*) = nullptr;
    bool used = false;
    std::uint64_t spent_number = 0;  ///< of the key that the rank has deleted last
  };
  Key all[kMost];
};

/// What the descriptors 0, 1 and 2 are to the rank: standard.cc. Also which of the descriptors that the
/// process was started with the rank has closed: descriptor_owners.cc.
struct StandardState {
  static constexpr int kMostInherited = 1024;
  struct alignas(8) Place {    // as large: Clang 14 has no atomic instruction for less
    std::int32_t real = -1;    ///< the kernel's number for it; -1: closed
    std::int16_t stream = -1;  ///< 0, 1, 2: the job's stdin, stdout, stderr; -1: a file of the rank's own
    bool shared = false;       ///< `real` is not the rank's to close
    bool closed_on_exec = false;
  };
  static_assert(std::atomic<Place>::is_always_lock_free);  // handlers of signals read it
  std::atomic<Place> now[3] = {Place{0, 0, true}, Place{1, 1, true}, Place{2, 2, true}};
  /// The job's streams, as the rank was given them.
  std::atomic<Place> given[3] = {Place{0, 0, true}, Place{1, 1, true}, Place{2, 2, true}};
  std::FILE* input = nullptr;            ///< the program's `stdin`; null: the rank has none of its own
  std::atomic<bool> has_streams{false};  ///< the rank has opened a stream: descriptor_owners.cc
  std::atomic<std::uint64_t> closed_inherited[kMostInherited / 64] = {};
  std::atomic<std::uint64_t> most_open{0};  ///< the rank's RLIMIT_NOFILE, if it has set one; 0: it has not
};

/// /proc/self/cmdline: own_program.cc.
struct SelfState {
  RankMutex lock;
  char arguments[32] = {};  ///< path of a file with the rank's arguments; empty: not made yet
};

/// The resource usage of the children that the rank has waited for: threads/usage.cc. In the order of struct
/// rusage.
struct ChildrenUsage {
  std::atomic<long> user_time{0}, system_time{0};  ///< microseconds
  std::atomic<long> most_memory{0};
  std::atomic<long> minor_faults{0}, major_faults{0}, blocks_in{0}, blocks_out{0}, waits{0}, preemptions{0};
};

/// All of it. Of what few programs use, PerRank makes the rest.
struct RankState {
  static constexpr std::size_t kMostKinds = 64;  ///< of PerRank: more than there are, see number_of_kind()

  RankState(signals::SignalState& of_signals, output::RankOutput& of_output)
      : signals(of_signals), output(of_output) {}

  ExitState exit;
  GetoptState getopt;
  RandomState random;
  TimeState time;
  EnvironmentState environment;
  ChildrenUsage children;
  SelfState self;
  ShellState shell;
  std::unique_ptr<KeyState> keys;
  StandardState standard;
  signals::SignalState& signals;     ///< signals/state.h
  output::RankOutput& output;        ///< files/output.h
  std::atomic<int> locked_files{0};  ///< in how many files the rank may have record locks: record_locks.cc
  char* strtok_rest = nullptr;
  int personality = -1;                   ///< what a fiber has set; -1: nothing. personality.cc
  std::atomic<long> told_system_time{0};  ///< microseconds. threads/usage.cc
  int core_count = 0;  ///< what a program takes for the number of cores; 0: ask the kernel. threads/cores.cc
  std::array<std::atomic<void*>, kMostKinds> kept_by_files{};
};

/// Gives the next number to a kind of state that has none yet.
int number_of_kind(std::atomic<int>& number);

/// State of a rank that few programs use, and one file knows: a static variable of that file. It is made at
/// the rank's first use, by `new`, and never destroyed. Any thread.
template <typename T>
class PerRank {
 public:
  T& of(Image& image = current_image()) {
    const int known = number_.load(std::memory_order_relaxed);  // relaxed: it stands for nothing else
    Place& place = place_in(image, known >= 0 ? known : number_of_kind(number_));
    void* mine = place.load(std::memory_order_acquire);  // acquire: pairs with release below
    if (mine == nullptr) {
      auto fresh = std::make_unique<T>();
      if (place.compare_exchange_strong(mine, fresh.get(), std::memory_order_acq_rel)) mine = fresh.release();
    }
    return *static_cast<T*>(mine);
  }
  /// The rank's; null if it was not used yet.
  T* made_of(Image& image = current_image()) {
    const int known = number_.load(std::memory_order_relaxed);  // relaxed, acquire: as above
    return known >= 0 ? static_cast<T*>(place_in(image, known).load(std::memory_order_acquire)) : nullptr;
  }

 private:
  using Place = std::atomic<void*>;
  static Place& place_in(Image& image, int number) {
    return image.state().kept_by_files[static_cast<std::size_t>(number)];
  }

  std::atomic<int> number_{-1};
};

}  // namespace clump::image
