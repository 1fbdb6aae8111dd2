// A call of a rank whose calls are watched (mpiexec --check): where it is in the program, and what it makes.
// Functions that send, receive, complete or make something have a second entry for that
// (gen/clump_gen/entries.py), to which the usual one leads by the same unusual way that recordings take
// (entry/entry.h); so it costs nothing where nobody checks.
#pragma once

#include "core/rank.h"

namespace clump::mpi {

class Checking {
 public:
  Checking(const char* call, const void* address);
  ~Checking();
  Checking(const Checking&) = delete;
  Checking& operator=(const Checking&) = delete;

  /// The rank begins to use MPI.
  static void begin_use(core::Rank& rank);

  /// While one lives, the calling thread runs an error handler, and is in no call of MPI: the handler may not
  /// come back (longjmp), and nobody ends the Checkings of the calls that it has left.
  class Interrupted {
   public:
    explicit Interrupted(core::Rank* rank);
    ~Interrupted();
    Interrupted(const Interrupted&) = delete;
    Interrupted& operator=(const Interrupted&) = delete;

   private:
    const core::Site* const site_;
    core::Rank* inside_ = nullptr;  ///< in whose call it was
  };

  // What the call has made; predefined handles are nothing new.

  void made(core::Rank& rank, const MPI_Comm* handle) const;
  void made(core::Rank& rank, const MPI_Group* handle) const;
  void made(core::Rank& rank, const MPI_Datatype* handle) const;
  void made(core::Rank& rank, const MPI_Op* handle) const;
  void made(core::Rank& rank, const MPI_Errhandler* handle) const;
  void made(core::Rank& rank, const MPI_Info* handle) const;
  void made(core::Rank& rank, const MPI_Request* handle) const;
  void made(core::Rank& rank, const MPI_Message* handle) const;
  void made(core::Rank& rank, const MPI_Win* handle) const;
  void made(core::Rank& rank, const int* keyval) const;

 private:
  const core::Site site_;
  const core::Site* const outer_;
  core::Rank* inside_ = nullptr;  ///< whose only thread in a call this one is
};

}  // namespace clump::mpi
