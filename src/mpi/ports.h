// Ports as other files of this folder use them (ports.cc).
#pragma once

#include <chrono>
#include <string>

#include "base/status.h"
#include "core/rank.h"
#include "mpi/introduction.h"
#include "net/link/peer_name.h"

namespace clump::mpi {

/// The context of Rank::comm_job.
inline constexpr std::uint32_t kJobContext = 6;

/// A port of the calling rank, to which other jobs can connect.
base::Status open_port_for_jobs(core::Rank& self, std::string& name);
void close_port(core::Rank& self, const std::string& name);
/// At the root of MPI_Comm_accept: waits for a client that is still there, and takes it.
base::Status accept_at_root(core::Rank& self, const char* port_name, LeaderLink& link);
/// At the root of MPI_Comm_connect.
base::Status connect_at_root(core::Rank& self, const char* port_name, LeaderLink& link);
/// The process of a rank of another job has ended: its questions at ports are answered.
void forget_visitor(core::World& world, int rank);

/// Lets other jobs connect to this process.
base::Status listen_to_jobs(const core::World& world);
/// Lets jobs of other hosts connect to this process, if it does not yet, from where this host reaches
/// `other`: a name or a numeric address.
base::Status listen_towards(const core::World& world, const std::string& other);
/// Has the link know where the processes of these ranks are that belong to this job; they listen afterwards.
base::Status find_locations(core::Rank& self, const core::Group& group);
/// The number here of a rank of another job, to which this process is connected then, and its place. `what`
/// is where a message for the user begins: "(port_name = ...)".
base::Status reach(
    const core::World& world, const net::link::PeerName& name, const std::string& what, int& rank,
    net::HeldPlace& place,
    std::chrono::steady_clock::time_point limit = std::chrono::steady_clock::time_point::max());

}  // namespace clump::mpi
