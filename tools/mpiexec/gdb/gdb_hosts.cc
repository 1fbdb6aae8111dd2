#include "gdb/gdb_hosts.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace clump::mpiexec {

void GdbHosts::add_to(tools::PollSet& all) const {
  all.add(gdb_.descriptor());
  if (gdb_.has_started()) return;
  for (const Waiting& host : hosts_) host.line.add_to(all);
}

base::Status GdbHosts::poll() {
  if (gdb_.has_started()) {
    code_ = gdb_.take_end().value_or(code_);
    return {};
  }
  for (Waiting& host : hosts_) read(host);
  if (std::ranges::any_of(hosts_, [](const Waiting& host) { return host.processes.empty(); })) return {};
  std::vector<Debuggees> all;
  for (Waiting& host : hosts_) all.push_back({std::move(host.processes), host.line.release()});
  const base::Status started = gdb_.debug(all, commands_);
  for (const Debuggees& host : all) ::close(host.server);
  return started;
}

void GdbHosts::read(Waiting& host) {
  std::string message;
  host.line.transfer();
  if (!host.line.receive(message)) return;
  host.processes.resize(message.size() / sizeof(pid_t));
  std::memcpy(host.processes.data(), message.data(), host.processes.size() * sizeof(pid_t));
}

base::Status serve_gdb(Gdb& server, Connection line, const std::vector<pid_t>& processes) {
  line.send({reinterpret_cast<const char*>(processes.data()), processes.size() * sizeof(pid_t)});
  return server.serve(line.descriptor());
}

}  // namespace clump::mpiexec
