// What makes ranks visible to a debugger: docs/decisions/023-debuggers.md. tools/gdb is the other side.
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "base/fact.h"
#include "fiber/facts.h"
#include "fiber/fiber.h"
#include "host/host.h"
#include "host/state.h"
#include "image/facts.h"

// Of classes that are not of standard layout, too, GCC knows where the members lie.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

extern "C" {
/// With room to spare; the last one has no name.
CLUMP_HOST_API clump::base::Fact clump_facts[64];
}

namespace clump::host {

namespace {

constexpr std::chrono::milliseconds kLook{10};

std::atomic<std::int32_t> ranks_that_wait{0};
/// The debugger sets it.
std::atomic<std::int32_t> may_begin{0};
std::size_t fact_count = 0;

bool is_traced() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("TracerPid:")) return std::atoi(line.c_str() + line.find_last_of(" \t")) != 0;
  return false;
}

}  // namespace

void describe_to_debuggers() {
  fact_count = 0;
  const auto add = [](const char* name, std::uint64_t value) { clump_facts[fact_count++] = {name, value}; };
  add("ranks", reinterpret_cast<std::uint64_t>(host().ranks.get()));
  add("rank_count", static_cast<std::uint64_t>(host().rank_count()));
  add("rank_size", sizeof(HostedRank));
  add("rank_identity", offsetof(HostedRank, identity));
  add("rank_number", offsetof(HostedRank, identity) + offsetof(fiber::Identity, rank));
  add("rank_image", offsetof(HostedRank, identity) + offsetof(fiber::Identity, image));
  add("rank_phase", offsetof(HostedRank, phase));
  add("rank_kernel_thread", offsetof(HostedRank, kernel_thread));
  add("may_begin", reinterpret_cast<std::uint64_t>(&may_begin));
  for (const auto& facts : {fiber::facts(), image::facts()}) describe_to_debuggers(facts);
}

void describe_to_debuggers(std::span<const base::Fact> more) {
  for (const base::Fact& fact : more) {
    if (fact_count + 1 == std::size(clump_facts)) return;
    // A debugger may stop this thread anywhere: the name, by which it knows that there is a fact, comes last.
    clump_facts[fact_count].value = fact.value;
    std::atomic_signal_fence(std::memory_order_release);
    clump_facts[fact_count++].name = fact.name;
  }
}

void wait_for_debugger() {
  Host& here = host();
  if (++ranks_that_wait == here.rank_count()) {
    ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // gdb is none of our parents
    here.node.host(here.job.process).debuggee.store(here.process, std::memory_order_release);
  }
  while (may_begin.load(std::memory_order_acquire) == 0)
    fiber::sleep_until(std::chrono::steady_clock::now() + kLook);
}

void stop_in_debugger() {
  if (!is_traced()) return;
#if defined(__x86_64__)
  asm volatile("int3");
#elif defined(__aarch64__)
  asm volatile("brk #0");
#endif
}

}  // namespace clump::host
