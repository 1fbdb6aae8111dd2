#include "runtime/hardware.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace clump {

namespace {

/// More than the cores of any node. The numbers of workers and resources are unique in the job: node *
/// kInstances + number.
constexpr int kInstances = 1 << 14;

/// Whether no rank of the job has the number, nor will have it.
bool is_elsewhere(const pmi::Job& job, int rank) {
  return rank >= (job.has_room_to_join() ? job.first_of_others() : job.ranks());
}

}  // namespace

int home_of(const pmi::Job& job, int rank) {
  if (is_elsewhere(job, rank)) return kElsewhere;
  if (const int node = job.node_of(rank); node != job.node) return -1 - node;
  if (!job.cores.empty()) return job.node * kInstances + job.worker_of(rank);
  return job.spin ? rank : job.node * kInstances;
}

std::vector<core::World::Resource> resources_of(const pmi::Job& job) {
  std::vector<core::World::Resource> all{{"hwloc://Machine", {}}};
  const int places = job.places_for_ranks();
  const auto node_of = [&](int rank) { return is_elsewhere(job, rank) ? kElsewhere : job.node_of(rank); };
  for (int rank = 0; rank < places; ++rank) all.front().instances.push_back(node_of(rank));
  if (job.places.empty()) return all;
  const auto add = [&](std::string name, std::int32_t pmi::Place::*number) {
    core::World::Resource& added = all.emplace_back(core::World::Resource{std::move(name), {}});
    for (int rank = 0; rank < places; ++rank) {
      const bool is_here = node_of(rank) == job.node;
      // Known for this node only. The numbers differ from those of all other nodes.
      added.instances.push_back(
          is_here ? job.node * kInstances + job.places[static_cast<std::size_t>(job.worker_of(rank))].*number
                  : -1);
    }
  };
  add("hwloc://Package", &pmi::Place::package);
  add("hwloc://NUMANode", &pmi::Place::node);
  if (const int level = job.places.front().cache_level; level != 0)
    add(fmt::format("hwloc://L{}Cache", level), &pmi::Place::cache);
  add("hwloc://Core", &pmi::Place::core);
  return all;
}

}  // namespace clump
