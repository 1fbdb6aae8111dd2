// What libclump_host.so offers to libmpi_abi.so: the job, and the ways in which a rank tells that it has
// begun, ended or failed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bell.h"
#include "base/fact.h"
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
/// The address that another process has announced; empty while it has not. Does not wait.
CLUMP_HOST_API std::string find_address(int process, std::vector<std::byte>& address);
/// Binds the calls of libfabric, which has an address `inside`, to the C library's and Clump's functions
/// (image/own_calls.h).
CLUMP_HOST_API void keep_calls_of_network(const void* inside);
/// Has connections that libfabric accepts at its port `listener` begin with a greeting, which has the token,
/// or be closed (process/files/greetings.h).
CLUMP_HOST_API void expect_greetings(int listener, std::uint64_t token);
/// Has libfabric greet the process that has published this address, a sockaddr, and this token.
CLUMP_HOST_API void give_greetings(std::span<const std::byte> address, std::uint64_t token);
/// All processes of the job are done with MPI.
CLUMP_HOST_API bool is_over();

/// The address to which the program's call of MPI returns, for the call that the thread is in and that
/// returns to `address`. Another one if bindings or a facade have made that one for the program; one that
/// stands for a line, if the program is Python.
CLUMP_HOST_API const void* find_programs_call(const void* address);
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
  /// Whether nothing is under way between this process and those of other hosts, while all its threads sleep,
  /// and no other job may wake it;
  /// and how many messages it has sent to them, and taken, so far.
  bool (*network_rests)(std::uint64_t& sent, std::uint64_t& taken);
  /// The function of MPI that a rank of this process has entered last; null if that is unknown.
  /// Async-signal-safe.
  const char* (*last_call)(const fiber::Identity& rank);
};
/// From now on mpiexec may ask what all wait for. Once, before any rank waits.
CLUMP_HOST_API void observe(const Observed& how);
/// Of this process.
CLUMP_HOST_API bool has_ended(int rank);
/// How long a rank's threads have run, or could have run and had no core.
struct ThreadTimes {
  std::chrono::nanoseconds all{};  ///< 0: it has no thread but its fiber. Other ranks' time may be in it
  std::chrono::nanoseconds but_fiber{};  ///< of its threads but its fiber: nothing of other ranks is in it
  const void* fiber = nullptr;           ///< its fiber, as fiber::BlockedThread::who; null: it has none
};
/// By the observer.
CLUMP_HOST_API ThreadTimes times_of_threads(int rank);
/// The function of MPI that a suspended thread of control is in, if any, and those that have called it, or
/// the place in the program that an interpreter runs.
CLUMP_HOST_API std::vector<pmi::Frame> frames_of(const fiber::BlockedThread& thread);
/// Where the interpreter of a rank of this process, which may run, is in the program: none or one.
CLUMP_HOST_API std::vector<pmi::Frame> place_of_interpreter(int rank);
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

/// Adds to what debuggers read (base/fact.h). The names must live as long as the process. One thread at a
/// time.
CLUMP_HOST_API void describe_to_debuggers(std::span<const base::Fact> more);

/// A text that is the same in all processes of the job, and in no other job of this machine at this time.
CLUMP_HOST_API std::string job_name();

/// Programs whose ranks join this process together (MPI_Comm_spawn): as their `working_directory` and their
/// `environment` say, which has all but the variables with their numbers.
struct Joining {
  std::vector<pmi::App> apps;
  int launch = 0,
      first = 0;  ///< set by prepare_joining(): of the launch, from 1 on; of its rank 0 in the job
};
/// Why no rank can join this process; empty: ranks can.
CLUMP_HOST_API std::string why_none_joins();
/// Starts Clump's mpiexec with these words behind its name, here, or where the mpiexec of this job is, if
/// that may be another host; a thread calls `ended` with its wait status when it has ended. This process does
/// not end in order before that. What is wrong is returned as a text; empty if all is well.
CLUMP_HOST_API std::string start_mpiexec(std::vector<std::string> words,
                                         const std::vector<std::string>& environment,
                                         void (*ended)(void* argument, int status), void* argument);
/// Tells mpiexec that such a job, to which ranks of this one were connected, has ended with this code, not 0.
CLUMP_HOST_API void note_failed_job(int rank, int code);
/// Waits until one of the jobs that this process has started has ended, and has said why, but no longer than
/// `limit`.
CLUMP_HOST_API void let_a_job_end(std::chrono::milliseconds limit);
/// How many more can join.
CLUMP_HOST_API int room_to_join();
/// The environment of the calling rank.
CLUMP_HOST_API std::vector<std::string> environment_of_caller();
/// Why the program at `path` can have no image in this process; empty: it can. `library_path` is the
/// LD_LIBRARY_PATH that its ranks will see.
CLUMP_HOST_API std::string why_no_image(const std::string& path, const std::string& library_path);
/// Loads the programs, and gives numbers to their ranks, which are ranks of this process from then on. One
/// thread at a time, of a rank that has not ended. What is wrong is returned as a text, and nothing has
/// happened then; empty if all is well.
CLUMP_HOST_API std::string prepare_joining(Joining& joining);
/// Starts these ranks. After prepare_joining(), by the same thread.
CLUMP_HOST_API void start_joining(const Joining& joining);

/// What a facade learns of the error codes of a call of MPI_Comm_spawn or MPI_Comm_spawn_multiple. As in
/// bindings/common/abi_library.h.
struct SpawnCodes {
  const int* codes;  ///< the array that the facade has passed on
  int count;         ///< so many codes were written; 0: none
  bool are_there;    ///< in that array; false: in one of a tool, which copies them after the call
};
/// For the function of MPI that the calling thread is in. A tool between the facade and the MPI library may
/// pass on another array, or spawn ranks of its own: the count is that of the facade's array or, if no call
/// gets it, that of the first call.
CLUMP_HOST_API void note_codes_of_spawn(const int* array_of_errcodes, int count);

/// What Fortran's library wants to be done for an operation (core::CopiedBuffer). As in
/// bindings/fortran/section.cc.
struct CopiedBuffer {
  void* copy;
  void (*take)(void* copy);
  void (*give_back)(void* copy);
  void (*free)(void* copy);
};
/// mpi::keep_copied() (mpi/process.h).
using KeepCopied = bool(std::intptr_t request, const CopiedBuffer& buffer);
/// What clump_keep_copied() calls. Once, before any rank calls MPI.
CLUMP_HOST_API void keep_copied_buffers_by(KeepCopied* keep);

/// Reports `failure` with the calling thread's stack and ends the job with exit code `failure.code`. The
/// first caller wins; later ones never return either.
[[noreturn]] CLUMP_HOST_API void fail_job(pmi::Failure failure);
/// For base::tell_uncaught(): what nothing in our own code catches ends the job of the calling rank.
CLUMP_HOST_API void fail_by_exception(std::string words);

}  // namespace clump::host
