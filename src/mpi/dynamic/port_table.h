// The open ports of one rank (MPI-5.0 section 11.8): which clients wait there, and which threads of the rank
// wait for one.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "fiber/completion.h"
#include "mpi/dynamic/port_name.h"

namespace clump::mpi {

/// A client at a port.
struct Visitor {
  int rank = 0;  ///< its number in the job
  std::uint32_t question = 0;
  friend bool operator==(const Visitor&, const Visitor&) = default;
};

/// What a client sends to the rank of a port.
struct PortQuestion {
  std::int32_t port = 0;
  std::uint32_t number = 0;
  std::uint64_t token = 0;
};

/// What it is told.
enum class PortAnswer : std::uint8_t { kAccepted, kNotOpen, kWrongToken, kClosed, kEnded };

/// MPI_ERR_PORT, with what an answer other than PortAnswer::kAccepted means.
base::Status connection_refused(PortAnswer answer, const char* port_name);

/// Sends no messages: what the rank has to tell clients is returned. Only next() waits. Any thread.
class PortTable {
 public:
  /// Opens a port, and returns its whole name; `name` has what is not the port's own.
  PortName open(PortName name);
  /// Closes a port. Returns the clients that wait there, and are to be told so; nothing if the port is not
  /// open.
  std::optional<std::vector<Visitor>> close(const PortName& name);
  /// Waits for a client, and takes it. MPI_ERR_PORT: the port is not open, or another thread has closed it.
  base::Status next(const PortName& name, Visitor& visitor);
  /// The client that next() has told has confirmed.
  void confirmed(const Visitor& visitor);
  /// The process of this rank has ended. Returns its questions that next() has taken, and that are not
  /// confirmed.
  std::vector<Visitor> forget(int rank);
  /// A client asks. Returns what it is told at once; nothing if it waits, or if a thread has just got it.
  std::optional<PortAnswer> ask(int rank, const PortQuestion& question);

 private:
  struct Waiting {
    fiber::Completion over;
    Visitor visitor;
    bool is_closed = false;
  };
  struct Port {
    std::uint64_t token = 0;
    std::deque<Visitor> visitors;  // that no thread has taken
    std::deque<Waiting*> waiting;  // threads in MPI_Comm_accept; not both
  };

  Port* find(const PortName& name) {
    const auto found = open_.find(name.port);
    return found != open_.end() && found->second.token == name.token ? &found->second : nullptr;
  }

  base::ShortMutex mutex_;  // guards what follows
  std::map<int, Port> open_;
  std::vector<Visitor> taken_;  // by next(), and not confirmed() yet
  int last_ = 0;
};

}  // namespace clump::mpi
