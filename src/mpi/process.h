// What the MPI bodies need from the process around them. Declared here, above core and below the runtime, and
// defined by runtime/boot.cc, the only file that knows every layer.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "core/rank.h"
#include "mpi/new_comm.h"

namespace clump::mpi {

/// The calling thread's rank, made if need be: usable before MPI_Init, by functions that the standard allows
/// there (MPI-5.0 section 11.4.1). Null if the thread belongs to no rank or this process cannot take part in
/// a job; `why` then says so to the user.
core::Rank* find_rank(std::string& why);

/// Until the calling rank has called the function of MPI that `call` names, its end is a failure of the job.
/// Null: it may end. `call` must live as long as the process.
void announce_owed(const char* call);

/// What to tell the user of a handle that is none, if code for another MPI library is in this process; empty:
/// there is none.
std::string words_about_other_mpi();

/// The program asks for the ABI of the library, maybe before it has begun to use it.
void note_abi_question();

/// A text that is the same for all ranks of the job, and that no other job has at this time.
/// Without ':'.
std::string job_name();
/// `rank`, the first one of this process, tells other processes of the job where that is, from now on.
void answer_locations(core::Rank& rank);
/// The first rank of a process of the job.
int first_rank_of(int process);
/// Of each host, by the names of hosts: all jobs have the same order. Of the host of rank 0 it is rank 0.
std::vector<int> first_ranks_of_hosts();
/// `rank`, one of these, answers questions of other processes about
/// published names from now on.
void keep_names(core::Rank& rank);

// Ranks that join the job (MPI_Comm_spawn).

/// A program, as its ranks shall run it.
struct Command {
  std::string path;
  std::vector<std::string> arguments;    ///< argv, argv[0] first
  std::vector<std::string> environment;  ///< all of it, but for the variables that tell a rank its number
  std::string working_directory;         ///< absolute
  int ranks = 1;
  std::string hosts = {}, host_file = {};  ///< as mpiexec takes them; none: not said
  bool is_elsewhere = false;               ///< they are not this host alone
};

/// The ranks that spawn others, and the contexts of the intercommunicator.
struct Parents {
  const core::Group& group;
  Contexts contexts;
  Count eager_limit;  ///< of the rank that spawns
};

/// Why no rank can join this job; empty: ranks can.
std::string why_none_can_join();
/// How many more can.
int room_to_join();
/// The environment of the calling rank.
std::vector<std::string> environment_of_caller();
/// Starts ranks as a launch of their own: all, or none. They have their side of the intercommunicator.
/// MPI_ERR_SPAWN or MPI_ERR_UNSUPPORTED_OPERATION.
base::Status start_ranks(core::World& world, const std::vector<Command>& commands, const Parents& parents,
                         const core::Launch*& started);

/// MPI_Comm_spawn has written so many codes to its array_of_errcodes. A facade converts them afterwards, and
/// learns here how many they are: at ranks other than the root only this library knows.
void note_codes_of_spawn(const int* array_of_errcodes, int count);

/// Lets the operation that the calling thread's rank has just begun keep a copied buffer. False: there is
/// nothing left of it to wait for, and the caller ends the copy itself.
bool keep_copied(MPI_Request request, const core::CopiedBuffer& buffer);

// Other jobs.

/// Why none can be connected to this one; empty: they can.
std::string why_no_other_jobs();
/// How many ranks of other jobs this process can be connected to at a time.
int room_for_jobs();
/// Whether names that are published here are for all jobs of this user on the hosts of this one.
bool shares_names();
/// The port of the ranks that have started this job (MPI_Comm_spawn); empty: none have.
std::string parent_port();
/// Starts a job of these programs by mpiexec, whose ranks connect to `parent_port`. `ended(argument, status)`
/// is called once by another thread when that mpiexec has ended, with its wait status. MPI_ERR_SPAWN or
/// MPI_ERR_UNSUPPORTED_OPERATION, and `ended` is not called.
base::Status start_job(const std::vector<Command>& commands, const std::string& parent_port,
                       void (*ended)(void* argument, int status), void* argument);
/// A job that rank `rank` has started, and was connected to, has ended with this code, which is not 0: this
/// job's is the same, if it does not fail by itself.
void note_failed_job(int rank, int code);
/// Why the program of a command can have no image in this process; empty: it can.
std::string why_no_image(const Command& command);

/// Whether it is one of MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE, which are no neighbouring numbers.
inline bool is_thread_level(int level) {
  return level == MPI_THREAD_SINGLE || level == MPI_THREAD_FUNNELED || level == MPI_THREAD_SERIALIZED ||
         level == MPI_THREAD_MULTIPLE;
}

}  // namespace clump::mpi
