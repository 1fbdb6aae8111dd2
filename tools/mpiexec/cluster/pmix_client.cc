#include "cluster/pmix_client.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <utility>

#include "base/why_refused.h"
#include "pmi/pmix.h"

namespace clump::mpiexec {

namespace {

/// The longest wait for processes that have not published an address: they may be no MPI programs.
constexpr std::chrono::seconds kNewsPatience{1};

std::string key_of(int process) { return fmt::format("clump.address.{}", process); }

void complain(const base::Status& status) {
  if (!status.ok()) fmt::print(stderr, "mpiexec: {}\n", base::message_of(status.code()));
}

}  // namespace

base::Status PmixClient::open(const pmi::Job& job, const pmi::NodeMemory& memory) {
  job_ = &job;
  memory_ = &memory;
  told_.assign(static_cast<std::size_t>(job.this_node().processes), false);
  ended_ = told_;
  if (::pipe2(absent_, O_CLOEXEC | O_NONBLOCK) != 0)
    return base::fail(MPI_ERR_SPAWN, "cannot make a pipe: {}", base::why_refused("pipe2", errno));
  pmi::pmix::listen([into = absent_[1]](std::uint32_t process) {
    static_cast<void>(!::write(into, &process, sizeof process));  // full: there is one to be read
  });
  return {};
}

void PmixClient::note_address(int process) {
  if (job_->is_on_this_node(process)) return tell(process);
  if (wanted_.empty()) wanted_since_ = Clock::now();
  wanted_.push_back(process);
  look_again();
}

/// Publishes. A commit of PMIx covers all that was put before: it waits for the last process of the node.
void PmixClient::tell(int process) {
  complain(pmi::pmix::put(key_of(process).c_str(), memory_->address(process).content()));
  {
    const std::lock_guard lock(mutex_);
    told_[static_cast<std::size_t>(process - job_->this_node().first)] = true;
  }
  begin_fence();
}

void PmixClient::look_again() {
  if (!all_told_.load(std::memory_order_acquire) && Clock::now() - wanted_since_ < kNewsPatience) return;
  for (const int process : std::exchange(wanted_, {})) look_up(process);
}

void PmixClient::look_up(int process) {
  pmi::Address& wanted = memory_->address(process);
  const auto& nodes = job_->nodes;
  const int node = job_->node_of(job_->first_rank(job_->processes[static_cast<std::size_t>(process)]));
  const auto done = [&wanted, &nodes, node](const base::Status& found, std::span<const std::byte> address) {
    if (found.ok() && wanted.fill(pmi::Address::kKnown, address).ok()) return;
    const std::string why =
        fmt::format("{}: {}", nodes[static_cast<std::size_t>(node)].name, base::message_of(found.code()));
    const auto shown = std::as_bytes(std::span(why)).first(std::min(why.size(), pmi::Address::kMost));
    static_cast<void>(wanted.fill(pmi::Address::kUnreachable, shown));
  };
  const base::Status asked = pmi::pmix::get(node, key_of(process), done);
  if (!asked.ok()) done(asked, {});
}

void PmixClient::note_end(int process) {
  const auto index = static_cast<std::size_t>(process - job_->this_node().first);
  {
    const std::lock_guard lock(mutex_);
    told_[index] = ended_[index] = true;  // it will not tell any more
  }
  begin_fence();
}

void PmixClient::note_absent(int process) {
  complain(pmi::pmix::announce(static_cast<std::uint32_t>(process)));
}

int PmixClient::take_absent() {
  std::uint32_t process = 0;
  if (::read(absent_[0], &process, sizeof process) != sizeof process) return -1;
  return process < job_->processes.size() ? static_cast<int>(process) : -1;
}

void PmixClient::begin_fence() {
  void (PmixClient::*over)() = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (stage_ == Stage::kTelling && std::ranges::all_of(told_, std::identity{})) {
      stage_ = Stage::kFirstFence;
      complain(pmi::pmix::commit());
      over = &PmixClient::all_are_told;
    } else if (stage_ == Stage::kWorking && std::ranges::all_of(ended_, std::identity{})) {
      stage_ = Stage::kLastFence;
      over = &PmixClient::all_are_done;
    }
  }
  if (over == nullptr) return;
  if (const base::Status asked = pmi::pmix::fence([this, over] { (this->*over)(); }); !asked.ok()) {
    complain(asked);
    (this->*over)();
  }
}

void PmixClient::all_are_told() {
  {
    const std::lock_guard lock(mutex_);
    stage_ = Stage::kWorking;
  }
  all_told_.store(true, std::memory_order_release);
  begin_fence();
}

void PmixClient::all_are_done() {
  const pmi::Node& node = job_->this_node();
  for (int own = node.first; own < node.first + node.processes; ++own)
    if (memory_->address(own).state == pmi::Address::kKnown) memory_->address(own).end();
  over_.release();
}

}  // namespace clump::mpiexec
