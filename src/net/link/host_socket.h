// TCP sockets, by which processes of jobs on different hosts reach each other.
#pragma once

#include <string>

#include "net/link/peer_name.h"

namespace clump::net::link {

/// This host, or the network namespace of it that this process is in: processes with the same number reach
/// each other by abstract sockets. Random as far as others know, and never 0.
std::uint64_t own_host();

/// Listens at a numeric address of this host, and at a port that the kernel chooses; `here` becomes what
/// others connect to. -1 with errno: it cannot.
int host_listener(const std::string& address, Location& here);
/// A socket that does not block and begins to connect; -1 with errno.
int begin_to_connect(const Location& there);
/// For a connection between hosts: small messages go at once, and the end of the other host is noticed.
void prepare_for_hosts(int socket);

/// The numeric address of this host from which `other`, a name or a numeric address, is reached; empty: no
/// way is known. Sends nothing; may ask for a name.
std::string address_towards(const std::string& other);
/// The numeric address of this end of a connected socket; empty: it is none of the Internet, or leads to no
/// other host.
std::string own_address_of(int socket);
/// The numeric address of a place that has one.
std::string numeric_address(const Location& there);
/// "10.77.0.2 port 34567".
std::string text_of(const Location& there);

}  // namespace clump::net::link
