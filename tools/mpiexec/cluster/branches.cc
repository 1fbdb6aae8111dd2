#include "cluster/branches.h"

#include <fmt/format.h>

#include <algorithm>

namespace clump::mpiexec {

base::Status Branches::launch(std::string_view message, const std::vector<int>& own) {
  HostList hosts;
  if (!launchers_.branches.empty() || !decode(message, hosts) || hosts.all.empty())
    return base::fail(MPI_ERR_SPAWN, "mpiexec has sent a list of hosts that is none");
  own_host_ = hosts.starter;
  CLUMP_TRY(launcher_.find(hosts.launcher));
  for (HostList& below : branches_of(hosts)) {
    Branch& branch = launchers_.branches.emplace_back(std::move(below));
    CLUMP_TRY(
        branch.line.prepare(launchers_.add(branch, launcher_process(launcher_, branch.hosts.all.front()))));
  }
  return launchers_.start(own);
}

void Branches::transfer(FrameStream& mpiexec) {
  if (!launchers_.read_events()) {
    for (Branch& branch : launchers_.branches)
      if (!branch.is_over)
        lose(branch, mpiexec, fmt::format("the process on {} that keeps its launcher was killed", own_host_));
    launchers_.stop();
  }
  for (Branch& branch : launchers_.branches)
    if (!branch.is_over) transfer(branch, mpiexec);
}

void Branches::transfer(Branch& branch, FrameStream& mpiexec) {
  LauncherLine& line = branch.line;
  line.transfer([&](const Frame& frame) {
    if (!branch.has(frame.host)) return false;
    if (frame.kind != Frame::Kind::kPing) mpiexec.send(frame);
    return true;
  });
  if (line.take_greeting()) {
    const std::string greeting = fmt::format("{} {}", line.stream().version(), line.stream().path());
    mpiexec.send({line.number(), Channel::kControl, Frame::Kind::kGreeting, greeting});
    if (line.stream().version() == CLUMP_VERSION) branch.launch_others();
  }
  if (line.is_lost()) lose(branch, mpiexec, line.why_lost(launcher_.name()));
}

void Branches::lose(Branch& branch, FrameStream& mpiexec, const std::string& why) {
  branch.is_over = true;
  for (const HostName& host : branch.hosts.all)
    mpiexec.send({host.number, Channel::kControl, Frame::Kind::kLost,
                  host.number == branch.line.number()
                      ? why
                      : fmt::format("{}, through which it is reached, is lost", branch.line.name())});
  branch.line.close();
}

bool Branches::pass_down(const Frame& frame) {
  const auto branch =
      std::ranges::find_if(launchers_.branches, [&](const Branch& one) { return one.has(frame.host); });
  if (branch == launchers_.branches.end()) return false;
  const bool ends = frame.channel == Channel::kControl && frame.kind == Frame::Kind::kClose;
  if (ends && frame.host == branch->line.number() && branch->hosts.all.size() == 1) {
    branch->line.close();
  } else {
    branch->line.stream().send(frame);
    branch->line.stream().flush();
  }
  return true;
}

bool Branches::are_over() const { return std::ranges::all_of(launchers_.branches, &Branch::is_over); }

void Branches::close() {
  for (Branch& branch : launchers_.branches) {
    branch.line.close();
    branch.is_over = true;
  }
  launchers_.stop();
}

}  // namespace clump::mpiexec
