// What `clump tune` does: plans what to measure, has it measured by jobs of clump-collectives, and makes
// rules of what comes out.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "coll/select/select.h"

namespace clump::tools {

/// A job that measures.
struct Setting {
  int ranks;
  coll::Where where;
};
/// "8 ranks in one process".
std::string text_of(const Setting& setting);

/// One collective of one size, by each algorithm that the setting has for it; the shipped choice is among
/// them.
struct Cell {
  coll::Collective collective;
  Count bytes;
  std::vector<coll::Algorithm> algorithms;
};
/// Small sizes of all collectives first: what does not fit into the time is left out at the end. With little
/// time there are fewer sizes.
std::vector<Cell> plan_cells(const Setting& setting, double seconds);
/// What a selection of the setting depends on.
coll::Situation situation_of(const Setting& setting, coll::Collective collective, Count bytes);

struct Sample {
  coll::Collective collective;
  Count bytes;
  coll::Algorithm algorithm;
  double low, median, high;  ///< seconds for one operation: the middle of several rounds, and its quarters
};
struct Measured {
  Setting setting;
  std::vector<Sample> samples;
};
/// Runs the job. `progress` is told of each cell whenever its turn comes. Fails if the job does.
base::Status measure(const Setting& setting, std::span<const Cell> cells, double seconds,
                     const std::function<void(const Cell&)>& progress, Measured& measured);

/// Where another algorithm than the shipped one is used from now on.
struct Change {
  coll::Rule rule;
  int ranks;  ///< of the job that shows it
  coll::Algorithm shipped;
  Count bytes;                   ///< where the gain is greatest
  double before = 0, after = 0;  ///< seconds there
};
/// One for each change, in the order of collectives. No two of them fit the same situation.
std::vector<Change> derive_changes(std::span<const Measured> all);
/// The rules of changes; those that go on from each other for more ranks are one.
std::vector<coll::Rule> rules_of(std::span<const Change> changes);

}  // namespace clump::tools
