// What all ranks wait for, put together from the reports of their host processes, ready to be put into words.
// In mpiexec.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pmi/waits.h"

namespace clump::diag {

/// A thread of control that is blocked, with the place where it is, in words.
struct Wait {
  int rank = 0;
  std::string call;   ///< "MPI_Recv"; empty: it is outside MPI
  std::string place;  ///< "at solve.c:41", or another description; may be empty
  std::vector<pmi::Awaited> items;
};

/// All reports together, with answers to the questions that waits_text() asks.
class Scene {
 public:
  /// `waits` are the waits of `account`, in words; the waits in `account` itself are not used. `ranks`: the
  /// number of ranks of the job.
  Scene(std::vector<Wait> waits, pmi::Account account, int ranks);

  Scene(const Scene&) = delete;
  Scene(Scene&&) = default;

  int ranks() const { return ranks_; }
  const std::vector<Wait>& waits() const { return waits_; }
  int threads_of(int rank) const;

  /// The communicator's name, "MPI_COMM_WORLD", or a description by its ranks.
  const std::string& name_of(pmi::CommKey comm) const;
  /// The state of a rank, as a sentence about "it": "it waits in MPI_Recv", "it has ended".
  std::string standing_of(int rank) const;
  pmi::Standing::State state_of(int rank) const;
  /// The function of MPI that the rank has entered last; may be empty.
  const std::string& last_call_of(int rank) const;
  /// Where an interpreter runs the rank's program; null: unknown.
  const pmi::Frame* place_of_interpreter(int rank) const;
  /// The ranks that a collective waits for.
  std::vector<int> missing(const pmi::Awaited& collective) const;
  /// Whether ranks of other jobs take part in it, of which missing() knows nothing.
  bool has_others(const pmi::Awaited& collective) const;
  /// Whether a thread of `rank` waits in the call of `wait`, in the communicator of `collective`.
  bool is_in_same_call(int rank, const Wait& wait, const pmi::Awaited& collective) const;
  /// What other ranks call in the communicator instead: "rank 0 calls MPI_Bcast there"; may be empty.
  std::string other_calls(const Wait& wait, const pmi::Awaited& collective) const;
  /// What is known about why one item of `wait` does not come: clauses about its peer, as "it". `relative`:
  /// other ranks are named by their distance from the one that waits.
  std::vector<std::string> hints(const Wait& wait, const pmi::Awaited& item, bool relative) const;
  /// The communicator in which `rank` waits for `target`.
  pmi::CommKey comm_between(int rank, int target) const;
  /// The shortest cycle of ranks in which each waits for the next; empty: there is none. `among`: only of
  /// these ranks; null: of any.
  std::vector<int> cycle(const std::set<int>* among) const;

 private:
  std::vector<int> members_of(const pmi::Awaited& collective) const;
  std::string name_of(int rank, int seen_from, bool relative) const;
  std::vector<std::string> hints_about_messages(int rank, const pmi::Awaited& wanted, bool relative) const;
  std::vector<std::string> hints_about_receives(int rank, const pmi::Awaited& sent, bool relative) const;
  std::vector<int> waited_for(int rank) const;
  bool is_under_way(int rank, const pmi::Awaited& item) const;
  std::vector<int> circle_through(int rank, const std::set<int>* among) const;
  void name_comms();

  int ranks_;
  std::vector<Wait> waits_;
  pmi::Account account_;
  std::map<pmi::CommKey, const pmi::CommFacts*> comms_;
  std::map<pmi::CommKey, std::string> names_;
  std::map<std::pair<pmi::CommKey, int>, int> begun_;  // by communicator and rank
  std::map<int, std::vector<const Wait*>> by_rank_;
  std::map<int, const pmi::Standing*> standings_;
  /// The ranks that wait in a collective of a communicator whose collectives are not numbered, each with its
  /// call.
  std::map<pmi::CommKey, std::map<int, std::string>> meeting_;
};

/// A list of ranks as text: "rank 3", "ranks 0-2,5", "rank 0 and ranks 0-2 of another job".
std::string ranks_text(const std::vector<int>& ranks);
/// How far `other` is from `rank` in a ring of `ranks`: from -ranks/2 on.
int distance(int rank, int other, int ranks);

}  // namespace clump::diag
