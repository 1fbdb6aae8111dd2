#include "cluster/launchers.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/program_path.h"
#include "cluster/proxy.h"
#include "pmi/wire.h"

namespace clump::mpiexec {

namespace {

constexpr std::chrono::milliseconds kEnd{1000};  ///< when its stream has ended

Process process_of(std::vector<std::string> words) {
  Process process;
  process.program = words.front();
  process.arguments = std::move(words);
  for (const char* const* entry = environ; *entry != nullptr; ++entry)
    process.environment.emplace_back(*entry);
  process.grace = kEnd;
  process.own_group = true;  // what a terminal sends is for mpiexec, which passes it on
  return process;
}

}  // namespace

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

Process launcher_process(const tools::Launcher& launcher, const HostName& host,
                         const std::vector<std::string>& words) {
  std::vector<std::string> all{kProxy, std::to_string(host.number)};
  all.insert(all.end(), words.begin(), words.end());
  Process process = process_of(launcher.command(host.name, all));
  process.own_group = !launcher.asks_user();
  process.ignores_signals = launcher.asks_user();
  return process;
}

Process proxy_process(std::uint32_t number) {
  return process_of({base::program_path(), kProxy, std::to_string(number)});
}

bool Branch::has(std::uint32_t host) const {
  return std::ranges::find(hosts.all, host, &HostName::number) != hosts.all.end();
}

void Branch::launch_others() {
  if (hosts.all.size() == 1) return;
  line.stream().send({line.number(), Channel::kControl, Frame::Kind::kLaunch, encode(below_first(hosts))});
  line.stream().flush();
}

Process& Launchers::add(Branch& branch, Process process) {
  lines_.push_back(&branch.line);
  return processes_.emplace_back(std::move(process));
}

base::Status Launchers::start(std::vector<int> own, const std::string& folder) {
  if (processes_.empty()) return {};
  std::ranges::copy(descriptors(), std::back_inserter(own));
  processes_.front().of_mpiexec = std::move(own);
  processes_.front().folder.path = folder;
  return supervisor_.start(std::exchange(processes_, {}));
}

std::vector<int> Launchers::descriptors() const {
  std::vector<int> all;
  if (supervisor_.descriptor() >= 0) all.push_back(supervisor_.descriptor());
  for (const Branch& branch : branches) branch.line.add_own_to(all);
  return all;
}

void Launchers::add_to(tools::PollSet& all) const {
  all.add(supervisor_.descriptor());
  for (const Branch& branch : branches)
    if (!branch.is_over) branch.line.add_to(all);
}

bool Launchers::read_events() {
  Event event;
  bool supervisor_gone = false;
  while (supervisor_.next(event, supervisor_gone)) {
    LauncherLine& line = *lines_[static_cast<std::size_t>(event.index)];
    if (event.kind == Event::Kind::kEnded) line.note_launcher_end(event.value);
    if (event.kind == Event::Kind::kCannotStart) line.note_launcher_end(-1, event.value);
  }
  return !supervisor_gone;
}

bool Launchers::have_ended() const {
  return std::ranges::all_of(branches, [](const Branch& one) { return one.line.has_launcher_ended(); });
}

void Launchers::pause() {
  for (Branch& branch : branches) branch.line.pause();
}

}  // namespace clump::mpiexec
