// What the MPI bodies need from the process around them. Declared here, above core and below the runtime, and
// defined by runtime/boot.cc, the only file that knows every layer.
#pragma once

#include <string>

#include "base/status.h"
#include "core/rank.h"

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

/// Whether it is one of MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE, which are no neighbouring numbers.
inline bool is_thread_level(int level) {
  return level == MPI_THREAD_SINGLE || level == MPI_THREAD_FUNNELED || level == MPI_THREAD_SERIALIZED ||
         level == MPI_THREAD_MULTIPLE;
}

}  // namespace clump::mpi
