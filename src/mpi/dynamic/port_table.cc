#include "mpi/dynamic/port_table.h"

#include <sys/random.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

namespace clump::mpi {

using base::Status;

Status connection_refused(PortAnswer answer, const char* port_name) {
  const char* const why = answer == PortAnswer::kNotOpen ? "the port is not open, or not any more"
                          : answer == PortAnswer::kEnded ? "its process has ended"
                          : answer == PortAnswer::kWrongToken
                              ? "the token in the name is not the port's"
                              : "the port was closed before the connection was accepted";
  return base::fail(MPI_ERR_PORT, "(port_name = \"{}\"): refused: {}", text_of(port_name), why);
}

PortName PortTable::open(PortName name) {
  while (::getrandom(&name.token, sizeof name.token, 0) != sizeof name.token) {
  }
  const std::lock_guard lock(mutex_);
  name.port = ++last_;
  open_[name.port].token = name.token;
  return name;
}

std::optional<std::vector<Visitor>> PortTable::close(const PortName& name) {
  Port closed;
  {
    const std::lock_guard lock(mutex_);
    Port* const port = find(name);
    if (port == nullptr) return std::nullopt;
    closed = std::move(*port);
    open_.erase(name.port);
  }
  for (Waiting* const thread : closed.waiting) {
    thread->is_closed = true;
    thread->over.signal();
  }
  return std::vector(closed.visitors.begin(), closed.visitors.end());
}

Status PortTable::next(const PortName& name, Visitor& visitor) {
  Waiting self;
  {
    const std::lock_guard lock(mutex_);
    Port* const port = find(name);
    if (port == nullptr)
      return base::fail(MPI_ERR_PORT, "(port_name = \"{}\"): the root has no such open port", name.text());
    if (!port->visitors.empty()) {
      visitor = port->visitors.front();
      taken_.push_back(visitor);
      port->visitors.pop_front();
      return {};
    }
    port->waiting.push_back(&self);
  }
  self.over.wait();
  visitor = self.visitor;
  return self.is_closed ? base::fail(MPI_ERR_PORT, "(port_name = \"{}\"): another thread has closed the port",
                                     name.text())
                        : Status();
}

void PortTable::confirmed(const Visitor& visitor) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(taken_, visitor);
  if (found != taken_.end()) taken_.erase(found);
}

std::vector<Visitor> PortTable::forget(int rank) {
  const auto is_its = [rank](const Visitor& visitor) { return visitor.rank == rank; };
  std::vector<Visitor> taken;
  const std::lock_guard lock(mutex_);
  for (auto& [number, port] : open_) std::erase_if(port.visitors, is_its);
  std::ranges::copy_if(taken_, std::back_inserter(taken), is_its);
  return taken;
}

std::optional<PortAnswer> PortTable::ask(int rank, const PortQuestion& question) {
  const Visitor visitor{rank, question.number};
  Waiting* thread = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(question.port);
    if (found == open_.end()) return PortAnswer::kNotOpen;
    Port& port = found->second;
    if (port.token != question.token) return PortAnswer::kWrongToken;
    if (port.waiting.empty()) {
      port.visitors.push_back(visitor);
      return std::nullopt;
    }
    thread = port.waiting.front();
    taken_.push_back(visitor);
    port.waiting.pop_front();
  }
  thread->visitor = visitor;
  thread->over.signal();
  return std::nullopt;
}

}  // namespace clump::mpi
