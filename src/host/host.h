// What libclump_host.so offers to libmpi_abi.so: the job, and the ways in which a rank tells that it has
// begun, ended or failed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/bell.h"
#include "base/status.h"
#include "base/types.h"
#include "fiber/identity.h"
#include "fiber/world_stop.h"
#include "pmi/control.h"
#include "pmi/job.h"
#include "pmi/waits.h"

namespace clump::host {

/// The job of this process. Without mpiexec: one rank. Valid from before the program's first constructor
/// until the process ends.
CLUMP_HOST_API const pmi::Job& job();

/// Non-null if this process must not call MPI: why, as a message for the user (for example: mpiexec started
/// it as a plain process because it cannot be imaged, or it is a child of a rank).
/// A plain process becomes its rank when it asks.
CLUMP_HOST_API const char* why_no_mpi();

/// The memory that the job's host processes on this node have in common (pmi/node_memory.h), and the bells in
/// it. Negative: there is no other process.
CLUMP_HOST_API int node_descriptor();
CLUMP_HOST_API base::Bell& bell(int port);
/// The memory in which ranks write down their calls (record/region.h); negative: nobody wants to know.
CLUMP_HOST_API int record_descriptor();
/// This process has begun, and the network reaches it at `address`; empty: it reaches nobody. Once, in a job
/// of several processes, before anything else is asked of them.
/// What is wrong is returned as a text, because the message of a Status is its library's own; empty if all is
/// well.
CLUMP_HOST_API std::string announce(std::span<const std::byte> address);
/// The address that another process has announced; waits until it has.
CLUMP_HOST_API std::string find_address(int process, std::vector<std::byte>& address);
/// All processes of the job are done with MPI.
CLUMP_HOST_API bool is_over();
/// The operating system's number of a host process of this node that has called MPI.
CLUMP_HOST_API int process_id(int process);

/// Where the call is that returns to `address`. Any thread.
CLUMP_HOST_API CodePlace find_in_code(const void* address);
/// "solver.c:12", if the program was compiled with -g. Otherwise the name of the function, or "a.out+0x1234",
/// as addr2line takes it. Any thread.
CLUMP_HOST_API std::string name_in_code(const CodePlace& place);

/// What the observer of this process, a thread of its own, calls to answer mpiexec.
struct Observed {
  pmi::Account (*take_account)();
  /// Changes whenever a message has moved, or a collective has begun.
  std::uint64_t (*progress)();
  /// Whether each rank has called MPI since this was asked last, or waits there.
  bool (*all_in_mpi)();
  /// Whether nothing is under way between this process and those of other hosts, while all its threads sleep;
  /// and how many messages it has sent to them, and taken, so far.
  bool (*network_rests)(std::uint64_t& sent, std::uint64_t& taken);
};
/// From now on mpiexec may ask what all wait for. Once, before any rank waits.
CLUMP_HOST_API void observe(const Observed& how);
/// Of this process.
CLUMP_HOST_API bool has_ended(int rank);
/// The function of MPI that a suspended thread of control is in, if any, and those that have called it.
CLUMP_HOST_API std::vector<pmi::Frame> frames_of(const fiber::Registers& registers);
/// Whether these begin with one.
CLUMP_HOST_API bool is_in_mpi(const std::vector<pmi::Frame>& frames);

/// Until this rank has called the function of MPI that `call` names, its end is a failure of the job. Null:
/// it may end. `call` must live as long as the process.
CLUMP_HOST_API void rank_owes(const fiber::Identity& rank, const char* call);

/// If this process has loaded another MPI library: a sentence about it, and what has brought it in. What is
/// made for that one gives us handles that we do not know.
CLUMP_HOST_API std::string words_about_other_mpi();
/// The program asks for the ABI of the library, maybe before it has begun to use it.
CLUMP_HOST_API void note_abi_question();

/// Reports `failure` with the calling thread's stack and ends the job with exit code `failure.code`. The
/// first caller wins; later ones never return either.
[[noreturn]] CLUMP_HOST_API void fail_job(pmi::Failure failure);
/// For base::tell_uncaught(): what nothing in our own code catches ends the job of the calling rank.
CLUMP_HOST_API void fail_by_exception(std::string words);

}  // namespace clump::host
