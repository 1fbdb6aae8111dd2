// Sockets in Linux's abstract namespace: a name is taken as long as a socket has it, and leaves no file
// behind. Any user may take any name, and /proc/net/unix shows all of them to all users. So a name has the
// number of its user in it, users do not get in each other's way by accident, and both sides of a connection
// look whose the other one is.
#pragma once

#include <sys/socket.h>

#include <string>

#include "net/link/peer_name.h"

namespace clump::net::link {

/// Where a process of a job listens. A user who does not know the job's token cannot foresee it, and the
/// names of the job's other processes do not tell it.
std::string link_address(const JobName& job, int process);
/// A socket with this name; -1 with errno if the name is taken, or for another reason.
int bound_socket(const std::string& name, int type);
/// A stream socket that is connected to this name, and does not block; -1 with errno: EACCES if another user
/// has taken the name.
int connected_socket(const std::string& name);
/// Who has a name that bound_socket() has not got (EADDRINUSE), or at which connected_socket() has met
/// another user (EACCES), in words: "another user (uid 1000)". Empty: a process of this user, which listens
/// there.
std::string holder_of(const std::string& name);
/// Closes a socket, if it is one, and keeps errno. -1.
int close_and_fail(int socket);
/// Whether the other side of a connection runs as the same user as this process.
bool is_of_own_user(int socket);

}  // namespace clump::net::link
