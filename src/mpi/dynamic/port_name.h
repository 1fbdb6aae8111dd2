// The name of a port (MPI-5.0 section 11.8.1): all that a client needs to find the port.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "net/link/peer_name.h"

namespace clump::mpi {

/// What a port's name says: "clump:JOB:RANK:PROCESS:ID:JOBTOKEN:HOST:ADDRESS:TCPPORT:PORT:TOKEN".
/// PROCESS to TCPPORT are for other jobs.
struct PortName {
  std::string job;  ///< job_name()
  std::int32_t rank = 0, port = 0;
  std::uint64_t token = 0;
  std::int32_t process = 0;
  net::link::JobName link;    ///< not known: no other job can connect
  net::link::Location where;  ///< of the process

  std::string text() const;
  friend bool operator==(const PortName&, const PortName&) = default;
};

/// False if no port of Clump's has such a name.
[[nodiscard]] bool read_port_name(std::string_view text, PortName& name);

/// What a program passes as a name, as far as one may reach.
std::string_view text_of(const char* port_name);

/// MPI_ERR_PORT: no port has the name `text`.
base::Status no_port(std::string_view text);

}  // namespace clump::mpi
