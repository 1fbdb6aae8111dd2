#include "pmix_desk.h"

#include <algorithm>
#include <cstdio>
#include <functional>

#include "pmi/pmix.h"

namespace clump::mpiexec {

namespace {

std::string key_of(int process) { return fmt::format("clump.address.{}", process); }

void complain(const base::Status& status) {
  if (!status.ok()) fmt::print(stderr, "mpiexec: {}\n", base::message_of(status.code()));
}

}  // namespace

void PmixDesk::open(const pmi::Job& job, const pmi::NodeMemory& memory) {
  job_ = &job;
  memory_ = &memory;
  ended_.assign(static_cast<std::size_t>(job.this_node().processes), false);
}

void PmixDesk::note_address(int process) {
  if (job_->is_on_this_node(process))
    tell(process);
  else
    look_up(process);
}

/// PMIx takes it that all is told when something is: this waits for the last of the node.
void PmixDesk::tell(int process) {
  complain(pmi::pmix::put(key_of(process).c_str(), memory_->address(process).content()));
  if (++told_ == job_->this_node().processes) complain(pmi::pmix::commit());
}

void PmixDesk::look_up(int process) {
  pmi::Address& wanted = memory_->address(process);
  const auto& nodes = job_->nodes;
  const int node = job_->node_of(job_->processes[static_cast<std::size_t>(process)].first);
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

void PmixDesk::note_end(int process) {
  const pmi::Node& node = job_->this_node();
  ended_[static_cast<std::size_t>(process - node.first)] = true;
  if (fenced_ || !std::ranges::all_of(ended_, std::identity{})) return;
  fenced_ = true;
  const auto done = [this, &node] {
    for (int own = node.first; own < node.first + node.processes; ++own)
      if (memory_->address(own).state == pmi::Address::kKnown) memory_->address(own).end();
    over_.release();
  };
  if (const base::Status asked = pmi::pmix::fence(done); !asked.ok()) {
    complain(asked);
    done();
  }
}

}  // namespace clump::mpiexec
