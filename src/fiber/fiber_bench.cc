// What the scheduler costs: two fibers hand a turn to and fro, on one worker and between two.
#include <benchmark/benchmark.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "fiber/completion.h"
#include "fiber/fiber.h"

namespace clump::fiber {
namespace {

void need_workers() {
  static const bool started = [] { return make_workers({0, 1}, 64, nullptr) && start_workers(); }();
  if (!started) std::abort();
}

struct Start {
  std::function<void()> body;
  int home;
};

void* begin(void* argument) {
  const auto* const start = static_cast<Start*>(argument);
  become_fiber(start->home, nullptr);
  start->body();
  end_here();
}

void run_fiber(Start& start) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_begins();
  pthread_t thread;
  if (pthread_create(&thread, nullptr, &begin, &start) != 0) std::abort();
  pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// One iteration is kTurns hand-overs.
void hand_over(benchmark::State& state) {
  need_workers();
  constexpr int kTurns = 100'000;
  for (auto _ : state) {
    std::vector<Completion> turns(kTurns + 1);
    std::atomic<int> left{2};
    Completion all_ended;
    const auto play = [&](int player) {
      for (int turn = player; turn < kTurns; turn += 2) {
        turns[turn].wait();
        turns[turn + 1].signal();
      }
      if (left.fetch_sub(1) == 1) all_ended.signal();
    };
    Start first{[&] { play(0); }, 0};
    Start second{[&] { play(1); }, static_cast<int>(state.range(0))};
    run_fiber(first);
    run_fiber(second);
    turns[0].signal();
    all_ended.wait();
  }
  state.counters["per_turn"] = benchmark::Counter(static_cast<double>(state.iterations()) * kTurns,
                                                  benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(hand_over)->Arg(0)->ArgName("second_worker")->UseRealTime();
BENCHMARK(hand_over)->Arg(1)->ArgName("second_worker")->UseRealTime();

}  // namespace
}  // namespace clump::fiber

BENCHMARK_MAIN();
