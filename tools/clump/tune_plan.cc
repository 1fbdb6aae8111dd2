#include <algorithm>

#include "coll/select/rules.h"
#include "tune.h"

namespace clump::tools {

namespace {

using coll::Collective;
using coll::Where;

// Those whose rules go by what one rank can know. Blocks of the v-forms may be of any sizes.
constexpr Collective kMeasured[] = {
    Collective::kBarrier,       Collective::kBroadcast, Collective::kReduce,    Collective::kAllreduce,
    Collective::kGather,        Collective::kScatter,   Collective::kAllgather, Collective::kAlltoall,
    Collective::kReduceScatter, Collective::kScan};
constexpr Count kSmallest = 8;
constexpr Count kLargest = 4 << 20;
constexpr Count kBuffers = Count{256} << 20;  // of all ranks together, one for each
constexpr double kShortest = 4e-3;            // seconds, for one algorithm: less says nothing

/// Sizes of a rank's part, each so many times as large as the one before.
std::vector<Count> sizes_of(const Setting& setting, Collective collective, Count step) {
  if (collective == Collective::kBarrier) return {0};
  const Count room = std::clamp<Count>(kBuffers / setting.ranks, kSmallest, kLargest);
  const Count blocks = coll::has_equal_blocks(collective) ? setting.ranks : 1;
  const Count least = collective == Collective::kReduceScatter ? kSmallest * setting.ranks : kSmallest;
  std::vector<Count> sizes;
  for (Count bytes = kSmallest; bytes * blocks <= room; bytes *= step)
    if (bytes >= least) sizes.push_back(bytes);
  return sizes;
}

Cell cell_of(const Setting& setting, Collective collective, Count bytes) {
  Cell cell{collective, bytes, {}};
  const coll::Situation situation = situation_of(setting, collective, bytes);
  for (int i = 0; i < coll::kAlgorithms; ++i) {
    const auto algorithm = static_cast<coll::Algorithm>(i);
    if (!coll::limits_of(collective, algorithm) || !coll::is_for(setting.where, algorithm)) continue;
    // With fewer elements than ranks a ring is none.
    const bool is_none = algorithm == coll::Algorithm::kRing && !coll::has_equal_blocks(collective) &&
                         bytes < kSmallest * setting.ranks;
    const bool is_shipped = coll::select(collective, situation) == algorithm;
    if (is_shipped || (!is_none && coll::select(collective, situation, algorithm) == algorithm))
      cell.algorithms.push_back(algorithm);
  }
  return cell;
}

std::vector<Cell> cells_with(const Setting& setting, Count step) {
  std::vector<Cell> cells;
  for (const Collective collective : kMeasured)
    for (const Count bytes : sizes_of(setting, collective, step))
      if (Cell cell = cell_of(setting, collective, bytes); cell.algorithms.size() > 1)
        cells.push_back(std::move(cell));
  std::ranges::stable_sort(cells, {}, &Cell::bytes);
  return cells;
}

}  // namespace

std::string text_of(const Setting& setting) {
  return fmt::format("{} {}", coll::ranks_text(setting.ranks),
                     setting.where == Where::kProcess ? "in one process" : "on one node");
}

coll::Situation situation_of(const Setting& setting, Collective collective, Count bytes) {
  const auto has_room = [&](coll::Algorithm algorithm, Count needed) {
    const auto limits = coll::limits_of(collective, algorithm);
    return limits && (limits->below_bytes == 0 || needed < limits->below_bytes);
  };
  // A rank's slot in the place where processes meet has to hold all blocks of an alltoall.
  const Count slot = collective == Collective::kAlltoall ? bytes * setting.ranks : bytes;
  const bool is_process = setting.where == Where::kProcess;
  return {.ranks = setting.ranks,
          .bytes = bytes,
          .team = is_process,
          .node = setting.where == Where::kNode && has_room(coll::Algorithm::kNodeShm, slot),
          .where = setting.where};
}

std::vector<Cell> plan_cells(const Setting& setting, double seconds) {
  std::vector<Cell> cells;
  for (const Count step : {4, 16, 64}) {
    cells = cells_with(setting, step);
    std::size_t algorithms = 0;
    for (const Cell& cell : cells) algorithms += cell.algorithms.size();
    if (static_cast<double>(algorithms) * kShortest <= seconds) break;
  }
  return cells;
}

}  // namespace clump::tools
