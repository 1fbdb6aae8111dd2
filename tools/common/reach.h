// How hosts reach each other: what their names mean, and connections that are made in time or not at all.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace clump::tools {

/// The numeric addresses of "NAME" or "USER@NAME", each once, as the resolver orders them; empty: it knows
/// none.
std::vector<std::string> addresses_of(const std::string& name);

/// The numeric addresses of this host that mean it on other hosts, too; only those of an interface, if one is
/// named.
std::vector<std::string> own_addresses(const std::string& interface = {});

/// Whether a numeric address leads to the host that uses it, whichever that is.
bool is_loopback(const std::string& address);

/// The address of this host from which `other`, a name or a numeric address, is reached; empty: no way is
/// known. Sends nothing.
std::string address_towards(const std::string& other);

/// A non-blocking socket that begins to connect to a numeric address; -1: it cannot, errno says why.
int begin_to_connect(const std::string& address, int port);

/// The first of the numeric addresses that answers: the socket, or -1 and `why`.
int connect_to_any(const std::vector<std::string>& addresses, int port, std::chrono::milliseconds patience,
                   std::string& why);

/// Listens on each of these numeric addresses of this host, all at one port, which it sets. An address that
/// this host does not have any more is taken out of `addresses`: another process may listen there. Empty:
/// none is left, errno says why.
std::vector<int> listen_on(std::vector<std::string>& addresses, int& port);

}  // namespace clump::tools
