// One call of a rank whose calls are written down (mpiexec --profile and --trace): what the generated entry
// points tell of it (gen/clump_gen/recordings.py), in the order of the functions here.
//
//   Recording recording(number of the call);
//   recording.receives(source, comm);          // whom it may wait for
//   const int code = ...;                      // the call as it is without
//   if (recording.ended(code)) recording.sent(...);
//
// Arguments are the user's, and unchecked until the call has succeeded.
#pragma once

#include <span>
#include <vector>

#include "base/types.h"
#include "core/rank.h"
#include "mpi/entry/counts.h"
#include "record/recorder.h"

namespace clump::mpi {

class Recording {
 public:
  explicit Recording(unsigned call) : self_(*core::current_rank()), recorder_(record::Recorder::mine()) {
    recorder_.begin(self_.number, call);
  }
  ~Recording() { recorder_.keep(out_, in_, context_); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // The rank's calls are written down from the beginning of MPI to its end.

  /// The rank has begun to use MPI, or ends it.
  static void begin_use(core::Rank& rank);
  static void end_use(core::Rank& rank);
  /// MPI_Pcontrol
  static void control(core::Rank& rank, bool on);

  // Before the call.

  void receives(int source, MPI_Comm comm);
  void only_waits() { recorder_.only_waits(); }
  /// Where its status goes, whether the user wants to have it or not.
  MPI_Status* status(MPI_Status* users) { return users == MPI_STATUS_IGNORE ? &own_status_ : users; }
  /// Persistent operations that it starts.
  void starts(std::span<const MPI_Request> requests);
  void starts(const MPI_Request* request) { starts(std::span(request, 1)); }
  void starts(int count, const MPI_Request* requests) {
    starts(std::span(requests, static_cast<std::size_t>(count < 0 ? 0 : count)));
  }
  /// All ranks of the communicator have to come.
  void begins_collective(MPI_Comm comm);

  /// After it: whether it has succeeded.
  bool ended(int code) {
    recorder_.end();
    return code == MPI_SUCCESS;
  }

  void sent(Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
  void received(const MPI_Status* status, MPI_Comm comm);
  /// By a probe.
  void found(const MPI_Status* status, MPI_Comm comm);
  void started();
  /// What it has given to a collective operation.
  void gave(Count bytes) { recorder_.gave(bytes); }
  void ends_collective() { recorder_.waited_for_last(collective_); }
  /// Of one in which ranks wait for all others only if they are a team.
  void met_in_team(MPI_Comm comm);
  /// In a collective that has one root the others wait for it; in a team perhaps for whoever comes last.
  void met_root(int root, MPI_Comm comm);

  // For what is given.

  Count bytes(Count count, MPI_Datatype type) const;
  Count bytes(Counts counts, int blocks, MPI_Datatype type) const;
  Count bytes(Counts counts, int blocks, const MPI_Datatype* types) const;
  /// Of the block that is the rank's own.
  Count own_block(Counts counts, MPI_Datatype type, MPI_Comm comm) const;
  bool at_root(int root, MPI_Comm comm) const;
  /// To how many ranks a collective of the communicator gives a block each.
  int takers(MPI_Comm comm) const;
  int members(MPI_Comm comm) const;
  // Of one between neighbours.
  int neighbours(MPI_Comm comm) const;
  Count for_neighbours(Counts counts, MPI_Datatype type, MPI_Comm comm) const;
  Count for_neighbours(Counts counts, const MPI_Datatype* types, MPI_Comm comm) const;

 private:
  core::Rank& self_;
  record::Recorder& recorder_;
  record::Message out_, in_;
  std::uint32_t context_ = 0;
  std::uint64_t collective_ = 0;
  MPI_Status own_status_;
  std::vector<core::Request::Sending> starting_;
  std::uint32_t starting_in_ = 0;  // the context of the last of these
};

}  // namespace clump::mpi
