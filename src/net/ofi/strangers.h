// Connections to a provider's port that no process of the job has made. A provider over sockets accepts every
// connection and waits for its first message without a limit, so such connections would take all descriptors
// of a process.
#pragma once

#include <chrono>

#include "net/ofi/internet.h"

namespace clump::net::ofi {

/// Raises the soft limit of descriptors (ulimit -n) to the hard one, but to no more than 65536: programs that
/// close all descriptors up to the limit before they start another program would take long. Any thread.
void allow_more_descriptors();

/// The socket that listens at an address of this process; -1: none does.
int listener_at(const InternetAddress& own);

/// Has the kernel keep a connection to this listening socket to itself until data have come over it, for
/// about a minute.
void keep_silent_connections_out(int listener);

/// A process of the job says what it wants as soon as it is connected.
inline constexpr std::chrono::milliseconds kSilence{2000};

/// Cuts an accepted connection if it is one to `own` over which no whole request of a provider has come for
/// so long. The provider closes the descriptor when it finds that out. The caller makes sure that the
/// provider does nothing meanwhile.
void cut_if_silent(int descriptor, const InternetAddress& own, std::chrono::milliseconds patience = kSilence);

}  // namespace clump::net::ofi
