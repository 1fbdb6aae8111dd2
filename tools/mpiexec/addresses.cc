#include "addresses.h"

#include <cstdio>

#include "pmi/pmix.h"

namespace clump::mpiexec {

namespace {

std::string key_of(int process) { return fmt::format("clump.address.{}", process); }

void complain(const base::Status& status) {
  if (!status.ok()) fmt::print(stderr, "mpiexec: {}\n", base::message_of(status.code()));
}

}  // namespace

void Addresses::note(int process) {
  if (job_->is_on_this_node(process))
    tell(process);
  else
    look_up(process);
}

/// PMIx takes it that all is told when something is: this waits for the last of the node.
void Addresses::tell(int process) {
  complain(pmi::pmix::put(key_of(process).c_str(), memory_->address(process).content()));
  if (++told_ == job_->this_node().processes) complain(pmi::pmix::commit());
}

void Addresses::look_up(int process) {
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
  const base::Status asked = pmi::pmix::get(node, key_of(process).c_str(), done);
  if (!asked.ok()) done(asked, {});
}

}  // namespace clump::mpiexec
