#include "cluster/branches.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cluster/launcher.h"
#include "pmi/wire.h"

namespace clump::mpiexec {

std::string encode(const HostList& hosts) {
  pmi::Writer out;
  out.text(hosts.launcher.name.value);
  out.text(hosts.launcher.program.value);
  out.text(hosts.launcher.prefix);
  out.number(hosts.width);
  out.number(static_cast<std::uint32_t>(hosts.all.size()));
  for (const HostName& host : hosts.all) {
    out.number(host.number);
    out.text(host.name);
  }
  out.text(hosts.starter);
  return out.take();
}

bool decode(std::string_view bytes, HostList& hosts) {
  pmi::Reader in(bytes);
  hosts.launcher.name = {"--launcher", in.text()};
  hosts.launcher.program = {"--launcher-exec", in.text()};
  hosts.launcher.prefix = in.text();
  hosts.width = in.number<std::int32_t>();
  hosts.all.clear();
  for (auto left = in.number<std::uint32_t>(); left > 0 && in.ok(); --left) {
    const auto number = in.number<std::uint32_t>();
    hosts.all.push_back({number, in.text()});
  }
  hosts.starter = in.text();
  return in.finished() && hosts.width > 0;
}

std::vector<HostList> branches_of(const HostList& hosts) {
  const std::size_t count = std::min(hosts.all.size(), static_cast<std::size_t>(hosts.width));
  std::vector<HostList> branches;
  for (std::size_t i = 0; i < count; ++i) {
    const auto from = static_cast<std::ptrdiff_t>(hosts.all.size() * i / count);
    const auto to = static_cast<std::ptrdiff_t>(hosts.all.size() * (i + 1) / count);
    branches.push_back({hosts.launcher, hosts.width, {hosts.all.begin() + from, hosts.all.begin() + to}});
  }
  return branches;
}

HostList below_first(const HostList& branch) {
  HostList below = branch;
  below.starter = below.all.front().name;
  below.all.erase(below.all.begin());
  return below;
}

bool Branches::Branch::has(std::uint32_t host) const {
  return std::ranges::find(below.all, host, &HostName::number) != below.all.end();
}

base::Status Branches::launch(std::string_view message, const std::vector<int>& own) {
  HostList hosts;
  if (!branches_.empty() || !decode(message, hosts) || hosts.all.empty())
    return base::fail(MPI_ERR_SPAWN, "mpiexec has sent a list of hosts that is none");
  own_host_ = hosts.starter;
  CLUMP_TRY(launcher_.find(hosts.launcher));
  std::vector<Process> launchers;
  for (HostList& below : branches_of(hosts)) {
    Branch& branch = branches_.emplace_back(below.all.front());
    branch.below = std::move(below);
    CLUMP_TRY(branch.line.prepare(
        launchers.emplace_back(launcher_process(launcher_, branch.line.name(), branch.line.number()))));
  }
  launchers.front().of_mpiexec = own;
  for (const Branch& branch : branches_) branch.line.add_own_to(launchers.front().of_mpiexec);
  const base::Status started = supervisor_.start(launchers);
  for (const Process& process : launchers)
    for (const int given : {process.in, process.out, process.err}) ::close(given);
  return started;
}

std::vector<int> Branches::descriptors() const {
  std::vector<int> all{supervisor_.descriptor()};
  for (const Branch& branch : branches_) branch.line.add_own_to(all);
  return all;
}

void Branches::add_to(tools::PollSet& all) const {
  all.add(supervisor_.descriptor());
  for (const Branch& branch : branches_)
    if (!branch.is_over) branch.line.add_to(all);
}

bool Branches::read_events() {
  Event event;
  bool supervisor_gone = false;
  while (!branches_.empty() && supervisor_.next(event, supervisor_gone)) {
    LauncherLine& line = branches_[static_cast<std::size_t>(event.index)].line;
    if (event.kind == Event::Kind::kEnded) line.note_launcher_end(event.value);
    if (event.kind == Event::Kind::kCannotStart) line.note_launcher_end(-1, event.value);
  }
  return !supervisor_gone;
}

void Branches::transfer(FrameStream& mpiexec) {
  if (!read_events()) {
    for (Branch& branch : branches_)
      if (!branch.is_over)
        lose(branch, mpiexec, fmt::format("the process on {} that keeps its launcher was killed", own_host_));
    supervisor_.stop();
  }
  for (Branch& branch : branches_) {
    if (branch.is_over) continue;
    LauncherLine& line = branch.line;
    line.transfer([&](const Frame& frame) {
      if (!branch.has(frame.host)) return false;
      if (frame.kind != Frame::Kind::kPing) mpiexec.send(frame);
      return true;
    });
    if (line.take_greeting()) {
      const std::string greeting = fmt::format("{} {}", line.stream().version(), line.stream().path());
      mpiexec.send({line.number(), Channel::kControl, Frame::Kind::kGreeting, greeting});
      if (line.stream().version() == CLUMP_VERSION && branch.below.all.size() > 1)
        line.stream().send(
            {line.number(), Channel::kControl, Frame::Kind::kLaunch, encode(below_first(branch.below))});
      line.stream().flush();
    }
    if (line.is_lost()) lose(branch, mpiexec, line.why_lost(launcher_.name()));
  }
}

void Branches::lose(Branch& branch, FrameStream& mpiexec, const std::string& why) {
  branch.is_over = true;
  for (const HostName& host : branch.below.all)
    mpiexec.send({host.number, Channel::kControl, Frame::Kind::kLost,
                  host.number == branch.line.number()
                      ? why
                      : fmt::format("{}, through which it is reached, is lost", branch.line.name())});
  branch.line.close();
}

bool Branches::pass_down(const Frame& frame) {
  const auto branch = std::ranges::find_if(branches_, [&](const Branch& one) { return one.has(frame.host); });
  if (branch == branches_.end()) return false;
  const bool ends = frame.channel == Channel::kControl && frame.kind == Frame::Kind::kClose;
  if (ends && frame.host == branch->line.number() && branch->below.all.size() == 1) {
    branch->line.close();
  } else {
    branch->line.stream().send(frame);
    branch->line.stream().flush();
  }
  return true;
}

void Branches::pause() {
  for (Branch& branch : branches_) branch.line.pause();
}

bool Branches::are_over() const { return std::ranges::all_of(branches_, &Branch::is_over); }

void Branches::close() {
  for (Branch& branch : branches_) {
    branch.line.close();
    branch.is_over = true;
  }
  supervisor_.stop();
}

}  // namespace clump::mpiexec
