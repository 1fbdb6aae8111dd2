// Sockets in Linux's abstract namespace: a name is taken as long as a socket has it, and leaves no file behind.
#pragma once

#include <sys/socket.h>

#include <string>

#include "net/link/peer_name.h"

namespace clump::net::link {

/// Where a process of a job listens.
std::string link_address(const JobName& job, int process);
/// A socket with this name; -1 with errno if the name is taken, or for another reason.
int bound_socket(const std::string& name, int type);
/// A stream socket that is connected to this name, and does not block; -1 with errno: EACCES if another user has
/// taken the name.
int connected_socket(const std::string& name);
/// Whether the other side of a connection runs as the same user as this process.
bool is_of_own_user(int socket);

}  // namespace clump::net::link
