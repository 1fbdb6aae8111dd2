// What all ranks wait for, as told by their host processes, ready to be put into words: in mpiexec.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pmi/waits.h"

namespace clump::diag {

/// A thread of control that does not run: where it is, in words.
struct Wait {
  int rank = 0;
  std::string call;   ///< "MPI_Recv"; empty: it is outside MPI
  std::string place;  ///< "at solve.c:41", or what is known instead; may be empty
  std::vector<pmi::Awaited> items;
};

/// All that is known, with answers to what a report asks about it.
class Scene {
 public:
  /// `waits` are those of `account`, whose own are not looked at. `ranks`: of the job.
  Scene(std::vector<Wait> waits, pmi::Account account, int ranks);

  Scene(const Scene&) = delete;
  Scene(Scene&&) = default;

  int ranks() const { return ranks_; }
  const std::vector<Wait>& waits() const { return waits_; }
  int threads_of(int rank) const;

  /// "MPI_COMM_WORLD", or what it consists of.
  const std::string& name_of(pmi::CommKey comm) const;
  /// How a rank stands, about "it": "it waits in MPI_Recv", "it has ended".
  std::string standing_of(int rank) const;
  pmi::Standing::State state_of(int rank) const;
  /// The function of MPI that it has entered last; may be empty.
  const std::string& last_call_of(int rank) const;
  /// The ranks that a collective waits for.
  std::vector<int> missing(const pmi::Awaited& collective) const;
  /// What other ranks call in the communicator instead: "rank 0 calls MPI_Bcast there"; may be empty.
  std::string other_calls(const Wait& wait, const pmi::Awaited& collective) const;
  /// What is known about why one item of `wait` does not come, about its peer as "it": each a clause. Other
  /// ranks are told as so many away from the one that waits, if that is wanted.
  std::vector<std::string> hints(const Wait& wait, const pmi::Awaited& item, bool relative) const;
  /// The communicator in which `rank`, which waits for `target`, does so.
  pmi::CommKey comm_between(int rank, int target) const;
  /// A circle of ranks of which each waits for the next; empty: there is none. Null: of any.
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
  /// Who waits in a collective of a communicator that is not numbered, with what.
  std::map<pmi::CommKey, std::map<int, std::string>> meeting_;
};

/// "rank 3", "ranks 0-2,5".
std::string ranks_text(const std::vector<int>& ranks);
/// How far `other` is from `rank` where ranks go round: from -ranks/2 on.
int distance(int rank, int other, int ranks);

}  // namespace clump::diag
