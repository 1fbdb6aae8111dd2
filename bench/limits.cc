// What this machine can do without MPI, to stand beside what MPI libraries do on it. Prints lines
// `NAME BYTES SECONDS`, as the MPI programs of this folder do.             usage: limits [SECONDS_PER_BATCH [cache-line]]
//
// The first two usable cores take part; on a machine with one core, what needs two is left out.

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

double target_seconds = 0.1;
std::vector<int> cores;

void pin_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) perror("limits: sched_setaffinity");
}

// Doubles the number of iterations until a batch takes long enough, as measure.h does.
template <typename Batch>
void measure(const char* name, std::size_t bytes, double operations_per_iteration, Batch batch) {
  batch(1);
  for (long iterations = 1;; iterations *= 2) {
    const auto start = std::chrono::steady_clock::now();
    batch(iterations);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (seconds < target_seconds && iterations < 1L << 40) continue;
    std::printf("%s %zu %.6g\n", name, bytes, seconds / iterations / operations_per_iteration);
    std::fflush(stdout);
    return;
  }
}

// Runs there() on the second core and here() on the first. A thread begins where it was made: on the first
// core it would wait for here() to stop.
template <typename Here, typename There>
void side_by_side(int second_core, Here here, There there) {
  pin_to(second_core);
  std::thread other(there);
  pin_to(cores[0]);
  here();
  other.join();
}

struct alignas(128) Line {
  std::atomic<long> value{0};
};

// A flag that two cores pass to and fro: one cache line changes hands twice per iteration.
void hand_over() {
  measure("limit-cache-line", 0, 2, [](long iterations) {
    static Line line;
    line.value.store(0);
    // Each side's release store is what the other one's acquire load waits for.
    side_by_side(
        cores[1],
        [&] {
          for (long i = 0; i < iterations; ++i) {
            line.value.store(2 * i + 1, std::memory_order_release);
            while (line.value.load(std::memory_order_acquire) != 2 * i + 2) continue;
          }
        },
        [&] {
          for (long i = 0; i < iterations; ++i) {
            while (line.value.load(std::memory_order_acquire) != 2 * i + 1) continue;
            line.value.store(2 * i + 2, std::memory_order_release);
          }
        });
  });
}

void atomic_add() {
  measure("limit-atomic", 0, 1, [](long iterations) {
    static Line line;
    for (long i = 0; i < iterations; ++i)
      line.value.fetch_add(1, std::memory_order_relaxed);  // nobody's partner
  });
}

// A futex that two threads pass to and fro, each sleeping until the other wakes it.
void futex_wake(const char* name, int second_core) {
  measure(name, 0, 2, [second_core](long iterations) {
    static std::atomic<int> turn;
    turn.store(0);
    auto pass = [&](int from, int to) {
      for (long i = 0; i < iterations; ++i) {
        while (turn.load(std::memory_order_acquire) != from)  // partner: the store below, of the other thread
          syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, to, nullptr, nullptr, 0);
        turn.store(to, std::memory_order_release);
        syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
      }
    };
    side_by_side(
        second_core, [&] { pass(0, 1); }, [&] { pass(1, 0); });
  });
}

void thread_creation() {
  measure("limit-thread", 0, 1, [](long iterations) {
    for (long i = 0; i < iterations; ++i) std::thread([] {}).join();
  });
}

// Copies between two buffers that stay where they are; `helpers` more cores copy a part of their own.
void copy(const char* name, std::size_t bytes, int parts) {
  std::vector<char> from(bytes, 1), to(bytes, 2);
  const std::size_t part = bytes / static_cast<std::size_t>(parts);
  measure(name, bytes, 1, [&](long iterations) {
    auto copy_part = [&](std::size_t first) {
      for (long i = 0; i < iterations; ++i) {
        std::memcpy(to.data() + first, from.data() + first, part);
        asm volatile("" : : "r"(to.data()) : "memory");
      }
    };
    if (parts == 1)
      copy_part(0);
    else
      side_by_side(
          cores[1], [&] { copy_part(0); }, [&] { copy_part(part); });
  });
}

#if defined(__x86_64__)
// The least that a switch between two threads of control does: registers that a call preserves, stack, and
// thread pointer (written with the value that it has).
asm(R"(
.type limit_switch, @function
limit_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  testq %rdx, %rdx
  jz 1f
  wrfsbase %rdx
1:
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size limit_switch, . - limit_switch
)");
extern "C" void limit_switch(void** from, void* to, std::uint64_t thread_pointer);

void *here_stack, *there_stack;
std::uint64_t thread_pointer;

[[noreturn]] void switch_back() {
  for (;;) limit_switch(&there_stack, here_stack, thread_pointer);
}

void switch_between(const char* name) {
  alignas(16) static char stack[16 << 10];
  auto** top = reinterpret_cast<void**>(stack + sizeof stack);
  top -= 2;  // a function begins with its stack 8 bytes off a multiple of 16
  *top = reinterpret_cast<void*>(&switch_back);
  there_stack = top - 6;
  measure(name, 0, 2, [](long iterations) {
    for (long i = 0; i < iterations; ++i) limit_switch(&here_stack, there_stack, thread_pointer);
  });
}

void context_switch() {
  thread_pointer = 0;
  switch_between("limit-switch");
  constexpr unsigned long kFsgsbase = 2;
  if ((getauxval(AT_HWCAP2) & kFsgsbase) == 0) return;
  asm("rdfsbase %0" : "=r"(thread_pointer));
  switch_between("limit-switch-tls");
}
#else
void context_switch() {}
#endif

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) target_seconds = std::atof(argv[1]);
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) {
    perror("limits: sched_getaffinity");
    return 1;
  }
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &usable)) cores.push_back(core);
  pin_to(cores[0]);

  if (argc > 2) {  // this one alone
    if (cores.size() > 1) hand_over();
    return 0;
  }
  atomic_add();
  context_switch();
  if (cores.size() > 1) hand_over();
  futex_wake("limit-futex-onecore", cores[0]);
  if (cores.size() > 1) futex_wake("limit-futex", cores[1]);
  thread_creation();
  for (std::size_t bytes : {64UL << 10, 4UL << 20, 16UL << 20}) {
    copy("limit-copy-1", bytes, 1);
    if (cores.size() > 1) copy("limit-copy-2", bytes, 2);
  }
  return 0;
}
