#include "cluster/other_hosts.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace clump::mpiexec {

void OtherHosts::begin(const pmi::Job& job, const pmi::NodeMemory& memory, ControlLink& mpiexec) {
  if (job.nodes.size() == 1) return;
  job_ = &job;
  memory_ = &memory;
  mpiexec_ = &mpiexec;
  done_.assign(static_cast<std::size_t>(job.this_node().processes), false);
}

void OtherHosts::send(ControlReply::Kind kind, int process, std::string bytes) {
  mpiexec_->send({.kind = kind, .number = static_cast<std::uint32_t>(process), .bytes = std::move(bytes)});
}

void OtherHosts::note_address(int process) {
  if (job_ == nullptr) return;
  if (!job_->is_on_this_node(process)) return send(ControlReply::Kind::kWanted, process);
  const auto content = memory_->address(process).content();
  send(ControlReply::Kind::kAddress, process,
       {reinterpret_cast<const char*>(content.data()), content.size()});
}

void OtherHosts::note_done(int process) {
  if (job_ == nullptr) return;
  done_[static_cast<std::size_t>(process - job_->this_node().first)] = true;
  if (!all_done_ && (all_done_ = std::ranges::all_of(done_, std::identity{})))
    send(ControlReply::Kind::kDone, 0);
}

void OtherHosts::note_absent(int process) {
  if (job_ != nullptr) send(ControlReply::Kind::kAbsent, process);
}

void OtherHosts::take_address(const ControlMessage& message) {
  if (message.number >= job_->processes.size() || job_->is_on_this_node(static_cast<int>(message.number)))
    return;
  pmi::Address& wanted = memory_->address(static_cast<int>(message.number));
  if (wanted.state == pmi::Address::kWanted)
    static_cast<void>(wanted.fill(pmi::Address::kKnown, std::as_bytes(std::span(message.bytes))));
}

void OtherHosts::end_addresses() {
  const pmi::Node& node = job_->this_node();
  for (int own = node.first; own < node.first + node.processes; ++own)
    if (memory_->address(own).state == pmi::Address::kKnown) memory_->address(own).end();
}

}  // namespace clump::mpiexec
