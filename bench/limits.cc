// What this machine can do without MPI, to stand beside what MPI libraries do on it. Prints lines
// `NAME BYTES SECONDS`, as the MPI programs of this folder do.
// usage: limits [SECONDS_PER_BATCH [cache-line | [NAME BYTES...]...]]
// cache-line: this one alone; NAME: bcast, allreduce, allgather or alltoall alone, the least that two cores
// need.
//
// The first two usable cores take part; on a machine with one core, what needs two is left out.

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
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

// For one iteration. Doubles their number until a batch takes long enough, as measure.h does.
template <typename Batch>
double seconds_of(Batch batch) {
  batch(1);
  for (long iterations = 1;; iterations *= 2) {
    const auto start = std::chrono::steady_clock::now();
    batch(iterations);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (seconds >= target_seconds || iterations >= 1L << 40) return seconds / static_cast<double>(iterations);
  }
}

void print(const char* name, std::size_t bytes, double seconds) {
  std::printf("%s %zu %.6g\n", name, bytes, seconds);
  std::fflush(stdout);
}

template <typename Batch>
void measure(const char* name, std::size_t bytes, double operations_per_iteration, Batch batch) {
  print(name, bytes, seconds_of(batch) / operations_per_iteration);
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

// The same with a flag for each direction, which only one side writes, as messages have it: the line was
// looked at before it is written, so it has to be taken away from the other core first, and costs both ways.
void flags_to_and_fro() {
  measure("limit-flags", 0, 2, [](long iterations) {
    static Line there_to_here, here_to_there;
    there_to_here.value.store(0);
    here_to_there.value.store(0);
    const auto wait_for = [](const Line& line, long value) {
      while (line.value.load(std::memory_order_acquire) != value) continue;
    };
    side_by_side(
        cores[1],
        [&] {
          for (long i = 1; i <= iterations; ++i) {
            here_to_there.value.store(i, std::memory_order_release);
            wait_for(there_to_here, i);
          }
        },
        [&] {
          for (long i = 1; i <= iterations; ++i) {
            wait_for(here_to_there, i);
            there_to_here.value.store(i, std::memory_order_release);
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

// The least that a collective operation of two ranks with a core each must do, where each core reaches the
// buffers of both: nothing is copied twice. The buffers are like those of collectives.c, filled once.
constexpr std::size_t kRoom = 16 << 20;
struct Buffers {
  char *in, *out;
} ranks[2];

void fill_buffers() {
  auto fill = [](Buffers& mine) {
    for (char** buffer : {&mine.in, &mine.out}) {
      *buffer = static_cast<char*>(std::aligned_alloc(64, kRoom));
      if (*buffer == nullptr) std::abort();
      std::memset(*buffer, 1, kRoom);  // not 0: pages that were never written are all one page
    }
  };
  side_by_side(
      cores[1], [&] { fill(ranks[0]); }, [&] { fill(ranks[1]); });
}

// How bytes are written: as memcpy or a plain loop does it; or past the caches, which saves reading what is
// overwritten and is worth it where the data does not fit them.
struct Stores {
  void (*copy)(char* to, const char* from, std::size_t bytes);
  // Writes the sum to both; a multiple of 64 bytes, as all lengths here.
  void (*add)(Buffers& one, Buffers& other, std::size_t first, std::size_t bytes);
};

void copy_plainly(char* to, const char* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

#if defined(__x86_64__)
template <bool kPastCaches>
__attribute__((target("avx2"), always_inline)) inline void store(double* to, __m256d value) {
  if constexpr (kPastCaches)
    _mm256_stream_pd(to, value);
  else
    _mm256_store_pd(to, value);
}

template <bool kPastCaches>
__attribute__((target("avx2"))) void copy_by_avx2(char* to, const char* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 64) {
    const __m256d low = _mm256_load_pd(reinterpret_cast<const double*>(from + i));
    const __m256d high = _mm256_load_pd(reinterpret_cast<const double*>(from + i + 32));
    store<kPastCaches>(reinterpret_cast<double*>(to + i), low);
    store<kPastCaches>(reinterpret_cast<double*>(to + i + 32), high);
  }
  if constexpr (kPastCaches) _mm_sfence();
}

template <bool kPastCaches>
__attribute__((target("avx2"))) void add_by_avx2(Buffers& one, Buffers& other, std::size_t first,
                                                 std::size_t bytes) {
  auto at = [](char* buffer, std::size_t i) { return reinterpret_cast<double*>(buffer + i); };
  for (std::size_t i = first; i < first + bytes; i += 64) {
    const __m256d low = _mm256_add_pd(_mm256_load_pd(at(one.in, i)), _mm256_load_pd(at(other.in, i)));
    const __m256d high =
        _mm256_add_pd(_mm256_load_pd(at(one.in, i + 32)), _mm256_load_pd(at(other.in, i + 32)));
    store<kPastCaches>(at(one.out, i), low);
    store<kPastCaches>(at(one.out, i + 32), high);
    store<kPastCaches>(at(other.out, i), low);
    store<kPastCaches>(at(other.out, i + 32), high);
  }
  if constexpr (kPastCaches) _mm_sfence();
}
#endif

void add_plainly(Buffers& one, Buffers& other, std::size_t first, std::size_t bytes) {
  for (std::size_t i = first; i < first + bytes; i += sizeof(double)) {
    auto at = [i](char* buffer) { return reinterpret_cast<double*>(buffer + i); };
    *at(one.out) = *at(other.out) = *at(one.in) + *at(other.in);
  }
}

std::vector<Stores> all_stores() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2"))
    return {{copy_by_avx2<false>, add_by_avx2<false>},
            {copy_by_avx2<true>, add_by_avx2<true>},
            {copy_plainly, add_by_avx2<false>}};  // memcpy may be faster, or much slower (datatype/move.h)
#endif
  return {{copy_plainly, add_plainly}};
}

// What core `me`, whose rank has the same number, does of iteration i. All work is divided evenly, and no
// core writes what the other one wrote in an iteration before.
using Share = void (*)(const Stores& stores, std::size_t bytes, std::size_t me, long i);

void broadcast(const Stores& stores, std::size_t bytes, std::size_t me, long i) {
  const Buffers &root = ranks[i % 2], &other = ranks[1 - i % 2];
  const std::size_t half = bytes / 2;
  stores.copy(other.in + me * half, root.in + me * half, half);
}

void allreduce(const Stores& stores, std::size_t bytes, std::size_t me, long) {
  stores.add(ranks[0], ranks[1], me * (bytes / 2), bytes / 2);
}

// Each core fetches what its rank gets,
void allgather_fetching(const Stores& stores, std::size_t bytes, std::size_t me, long) {
  for (std::size_t block = 0; block < 2; ++block)
    stores.copy(ranks[me].out + block * bytes, ranks[block].in, bytes);
}

// or gives what its rank has to both, piece by piece, so that memory is asked for it once.
void allgather_giving(const Stores& stores, std::size_t bytes, std::size_t me, long) {
  constexpr std::size_t kPiece = 16 << 10;
  for (std::size_t done = 0; done < bytes; done += kPiece)
    for (Buffers& rank : ranks)
      stores.copy(rank.out + me * bytes + done, ranks[me].in + done, std::min(kPiece, bytes - done));
}

void alltoall(const Stores& stores, std::size_t bytes, std::size_t me, long) {
  for (std::size_t block = 0; block < 2; ++block)
    stores.copy(ranks[me].out + block * bytes, ranks[block].in + me * bytes, bytes);
}

// Both cores do their shares, and meet after each iteration.
double seconds_together(Share share, const Stores& stores, std::size_t bytes) {
  return seconds_of([&](long iterations) {
    static Line finished[2];
    for (Line& line : finished) line.value.store(0);
    auto work = [&](std::size_t me) {
      for (long i = 1; i <= iterations; ++i) {
        share(stores, bytes, me, i);
        finished[me].value.store(i, std::memory_order_release);  // partner: the load below, of the other core
        while (finished[1 - me].value.load(std::memory_order_acquire) < i) continue;
      }
    };
    side_by_side(
        cores[1], [&] { work(0); }, [&] { work(1); });
  });
}

const struct Collective {
  const char* name;
  std::size_t blocks;  // of so many bytes in a buffer
  std::vector<Share> ways;
} collectives[] = {{"limit-bcast", 1, {broadcast}},
                   {"limit-allreduce", 1, {allreduce}},
                   {"limit-allgather", 2, {allgather_fetching, allgather_giving}},
                   {"limit-alltoall", 2, {alltoall}}};

// The best way counts.
void measure_collective(const Collective& collective, std::size_t bytes) {
  double best = 0;
  for (const Share way : collective.ways)
    for (const Stores& stores : all_stores()) {
      const double seconds = seconds_together(way, stores, bytes);
      if (best == 0 || seconds < best) best = seconds;
    }
  print(collective.name, bytes, best);
}

// [NAME BYTES...]...
int measure_collectives(const std::vector<std::string>& arguments) {
  if (cores.size() < 2) return 0;
  fill_buffers();
  const Collective* named = nullptr;
  for (const std::string& argument : arguments) {
    const std::size_t bytes = std::strtoull(argument.c_str(), nullptr, 10);
    if (bytes == 0) named = std::ranges::find(collectives, "limit-" + argument, &Collective::name);
    if (named == nullptr || named == std::end(collectives) || bytes % 128 != 0 ||
        bytes * named->blocks > kRoom) {
      std::fprintf(stderr, "limits: '%s' is neither a collective operation nor a size for one\n",
                   argument.c_str());
      return 2;
    }
    if (bytes != 0) measure_collective(*named, bytes);
  }
  return 0;
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

  if (argc > 2 && std::strcmp(argv[2], "cache-line") != 0)
    return measure_collectives({argv + 2, argv + argc});
  if (argc > 2) {
    if (cores.size() > 1) hand_over();
    return 0;
  }
  atomic_add();
  context_switch();
  if (cores.size() > 1) {
    hand_over();
    flags_to_and_fro();
  }
  futex_wake("limit-futex-onecore", cores[0]);
  if (cores.size() > 1) futex_wake("limit-futex", cores[1]);
  thread_creation();
  for (std::size_t bytes : {64UL << 10, 4UL << 20, 16UL << 20}) {
    copy("limit-copy-1", bytes, 1);
    if (cores.size() > 1) copy("limit-copy-2", bytes, 2);
  }
  return 0;
}
