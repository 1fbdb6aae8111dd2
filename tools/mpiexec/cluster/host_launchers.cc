#include "cluster/host_launchers.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace clump::mpiexec {

namespace {

constexpr std::chrono::milliseconds kEndOfLaunchers{1000};  ///< until they have ended when their streams have

}  // namespace

HostLaunchers::HostLaunchers(const Launch& launch) : launch_(launch) {
  HostList others{launch_.choice, launch_.width, {}};
  for (std::uint32_t host = 0; host < launch_.job.nodes.size(); ++host) {
    HostList one{launch_.choice, launch_.width, {{host, launch_.job.nodes[host].name}}};
    if (launch_.are_here[host])
      branches.emplace_back(std::move(one), true);
    else
      others.all.push_back(std::move(one.all.front()));
  }
  for (HostList& branch : branches_of(others)) branches.emplace_back(std::move(branch));
}

base::Status HostLaunchers::open() {
  if (launch_.launcher.gives_stream()) return {};
  Arrivals::Hosts hosts;
  for (const Branch& one : branches)
    if (!launch_.are_here[one.line.number()]) hosts.emplace_back(one.line.number(), one.line.name());
  const auto by = launch_.launcher.has_program() ? Arrivals::KeyBy::kFile : Arrivals::KeyBy::kUser;
  CLUMP_TRY(arrivals_.emplace().open(by, hosts, launch_.places.interface));
  return by == Arrivals::KeyBy::kUser ? arrivals_->tell_user(hosts, launch_.launcher.program_there())
                                      : base::Status();
}

/// The proxy of the branch will be started by a process, or by the user.
base::Status HostLaunchers::prepare(Branch& branch) {
  const HostName& host = branch.hosts.all.front();
  if (launch_.are_here[host.number]) return branch.line.prepare(add(branch, proxy_process(host.number)));
  if (arrivals_ && !launch_.launcher.has_program())
    return branch.line.prepare_without_process(), base::Status();
  const std::vector<std::string> words = arrivals_ ? arrivals_->words() : std::vector<std::string>();
  Process& process = add(branch, launcher_process(launch_.launcher, host, words));
  return arrivals_ ? branch.line.prepare_for_connection(process) : branch.line.prepare(process);
}

base::Status HostLaunchers::start() {
  for (Branch& branch : branches) CLUMP_TRY(prepare(branch));
  if (!arrivals_) return Launchers::start({});
  CLUMP_TRY(Launchers::start(arrivals_->descriptors(), arrivals_->folder()));
  return arrivals_->hand_out();
}

Branch& HostLaunchers::branch_of(std::size_t host) {
  const auto has_it = [&](const Branch& one) { return one.has(static_cast<std::uint32_t>(host)); };
  return *std::ranges::find_if(branches, has_it);
}

void HostLaunchers::add_to(tools::PollSet& all) const {
  Launchers::add_to(all);
  if (arrivals_) arrivals_->add_to(all);
}

void HostLaunchers::take_guests() {
  if (!arrivals_) return;
  while (std::optional<Guest> guest = arrivals_->next()) {
    if (Branch& branch = branch_of(guest->host); branch.is_over)
      ::close(guest->socket);
    else
      branch.line.join(guest->socket, std::move(guest->seal));
  }
  if (!arrivals_->is_open()) arrivals_.reset();  // the key is of no more use
}

void HostLaunchers::close_arrivals() {
  if (arrivals_) arrivals_->close();
}

bool HostLaunchers::wait_for_end() {
  const auto end = LauncherLine::Clock::now() + kEndOfLaunchers;
  while (!have_ended()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - LauncherLine::Clock::now());
    tools::PollSet mine;
    Launchers::add_to(mine);
    if (left.count() <= 0 || !mine.wait(static_cast<int>(left.count()))) return true;
    if (!read_events()) return false;
  }
  return true;
}

}  // namespace clump::mpiexec
