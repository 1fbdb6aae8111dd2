// The catalogue of what tools can see and set (MPI-5.0 section 15.3): meters are its performance variables,
// controls its control variables, and event kinds its event types. Tables alone, without anything that reads
// or writes them, so that `clump info` prints them too. Indexes are those that tools use. Fixed once made;
// any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpi.h"

namespace clump::instruments {

/// Names for the values of an int (section 15.3.5).
struct Enumeration {
  struct Item {
    int value;
    std::string name;
  };
  /// By its name; null: there is none.
  const Item* find(std::string_view text) const;
  std::string name;
  std::vector<Item> items;
};
const std::vector<Enumeration>& enumerations();

/// Categories (section 15.3.9) make a tree of two levels: the first one holds the others.
enum class Category : std::uint8_t { kAll, kMessages, kCollectives, kScheduler, kObjects, kAccesses };
struct CategoryInfo {
  const char* name;
  const char* description;
};
const std::vector<CategoryInfo>& categories();

/// What all entries have.
struct Entry {
  std::string name;
  std::string description;
  Category category;
  int verbosity = MPI_T_VERBOSITY_TUNER_BASIC;
  const Enumeration* enumeration = nullptr;  ///< of an int
};

/// Where a meter's value comes from; `which` of a Meter says more.
enum class Reading : std::uint8_t {
  kPosted,
  kUnexpected,
  kUnexpectedBytes,
  kMostUnexpected,
  kCrowded,
  kSent,  ///< which: a net::Way
  kSentBytes,
  kSentBy,  ///< which: a net::ChannelKind
  kSentByBytes,
  kRefused,
  kReceived,  ///< which: 0 expected, 1 unexpected
  kReceivedBytes,
  kCollective,  ///< which: a coll::Collective
  kAlgorithm,   ///< which: a coll::Algorithm
  kSwitches,    // these four for each worker
  kTaken,
  kRunnable,
  kWorkerState,
  kWorkers,
  kWorkerThreads,
  kStuck,
  kPartsOffered,
  kPartsHelped,
  kRankTaken,
  kRankStuck,
  kHandles,  ///< which: a core::Rank::Handles
  kAccess,   ///< which: a core::AccessKind
  kAccessBytes,
  kLockWaits,
  kChannel,  ///< a net::ChannelKind
};

/// A performance variable. All are unsigned long long, states are int.
struct Meter : Entry {
  int var_class;  ///< MPI_T_PVAR_CLASS_*
  Reading reading;
  int which = 0;
  bool of_comm = false;     ///< bound to a communicator
  bool per_worker = false;  ///< a value for each worker
  bool per_peer = false;    ///< a value for each rank to which the communicator leads

  bool is_state() const { return var_class == MPI_T_PVAR_CLASS_STATE; }
  bool is_mark() const { return var_class == MPI_T_PVAR_CLASS_HIGHWATERMARK; }
  /// Counts up: a handle tells how far since it was started, and can be set back.
  bool is_sum() const {
    return var_class == MPI_T_PVAR_CLASS_COUNTER || var_class == MPI_T_PVAR_CLASS_AGGREGATE;
  }
};
const std::vector<Meter>& meters();

enum class Setting : std::uint8_t {
  kVersion,
  kScheduler,
  kWorkers,
  kHome,
  kEagerLimit,
  kUnexpectedLimit,
  kLaneLimit,
  kAlgorithm,  ///< which: a coll::Collective
  kReductions,
  kCheck,
};

/// A control variable. Ints, MPI_Counts (sizes in bytes) and one text.
struct Control : Entry {
  MPI_Datatype type;
  int scope;  ///< MPI_T_SCOPE_*
  Setting setting;
  int which = 0;
  MPI_Count least = 0, most = 0;  ///< of a size that can be set

  bool can_be_set() const { return scope > MPI_T_SCOPE_READONLY; }
  /// The environment variable that sets it at start.
  std::string environment() const;
};
const std::vector<Control>& controls();

/// Where events come from (section 15.3.8).
enum class Source : std::uint8_t { kRank, kScheduler };
struct SourceInfo {
  const char* name;
  const char* description;
};
const std::vector<SourceInfo>& sources();

enum class Happening : std::uint8_t { kUnexpected, kCollective, kTaken, kStuck };

/// An event type.
struct EventKind : Entry {
  Happening happening;
  Source source;
  bool of_comm = false;
  std::vector<MPI_Datatype> types;      ///< of the elements: MPI_INT or MPI_COUNT
  std::vector<MPI_Aint> displacements;  ///< of the elements in a struct of C
};
const std::vector<EventKind>& event_kinds();

/// "scatter and ring" and "two-stage" as names: scatter_and_ring, two_stage.
std::string as_name(const std::string& words);

}  // namespace clump::instruments
