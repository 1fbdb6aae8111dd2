#include "common/machine.h"

#include <fmt/core.h>
#include <hwloc.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>

namespace clump::tools {

namespace {

constexpr std::int32_t kMostProcessors = 1 << 16;

/// hwloc's view of the machine: processors, cores, caches, packages and nodes, and nothing that takes a scan
/// of devices.
class Topology {
 public:
  explicit Topology(const char* synthetic) {
    hwloc_topology_init(&topology_);
    if (synthetic != nullptr) hwloc_topology_set_synthetic(topology_, synthetic);
    hwloc_topology_set_all_types_filter(topology_, HWLOC_TYPE_FILTER_KEEP_NONE);
    for (const hwloc_obj_type_t type :
         {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_CORE, HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
          HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE})
      hwloc_topology_set_type_filter(topology_, type, HWLOC_TYPE_FILTER_KEEP_ALL);
    // hwloc would complain on stderr of machines that hide /sys; we go on without.
    const bool silenced = std::getenv("HWLOC_HIDE_ERRORS") == nullptr;
    if (silenced) ::setenv("HWLOC_HIDE_ERRORS", "2", 0);
    loaded_ = hwloc_topology_load(topology_) == 0;
    if (silenced) ::unsetenv("HWLOC_HIDE_ERRORS");  // programs shall not inherit it
  }
  ~Topology() { hwloc_topology_destroy(topology_); }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  /// The processor at a place of hwloc's order, which keeps together what belongs together; null past the
  /// last.
  hwloc_obj_t processor(unsigned place) const {
    return loaded_ ? hwloc_get_obj_by_type(topology_, HWLOC_OBJ_PU, place) : nullptr;
  }
  /// The lowest processor of the object of that type around `processor`; `otherwise` if there is none.
  std::int32_t around(hwloc_obj_t processor, hwloc_obj_type_t type, std::int32_t otherwise) const {
    const hwloc_obj_t object = hwloc_get_ancestor_obj_by_type(topology_, type, processor);
    return object == nullptr ? otherwise : hwloc_bitmap_first(object->cpuset);
  }

 private:
  hwloc_topology_t topology_ = nullptr;
  bool loaded_ = false;
};

Processor describe_one(const Topology& topology, hwloc_obj_t processor) {
  Processor one;
  one.number = static_cast<std::int32_t>(processor->os_index);
  one.core = topology.around(processor, HWLOC_OBJ_CORE, one.number);
  one.package = topology.around(processor, HWLOC_OBJ_PACKAGE, 0);
  one.node = std::max(hwloc_bitmap_first(processor->nodeset), 0);
  one.cache = one.number;
  for (hwloc_obj_t around = processor->parent; around != nullptr; around = around->parent) {
    if (!hwloc_obj_type_is_dcache(around->type)) continue;
    one.cache = hwloc_bitmap_first(around->cpuset);  // the outermost remains
    one.cache_level = static_cast<std::int32_t>(around->attr->cache.depth);
  }
  return one;
}

}  // namespace

bool read_list(const std::string& text, std::vector<std::int32_t>& numbers) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](std::int32_t& value) {
    const auto [next, error] = std::from_chars(at, end, value);
    at = next;
    return error == std::errc{} && value >= 0 && value < kMostProcessors;
  };
  for (;;) {
    std::int32_t first = 0;
    if (!number(first)) return false;
    std::int32_t last = first;
    if (at < end && *at == '-') {
      ++at;
      if (!number(last) || last < first) return false;
    }
    for (std::int32_t each = first; each <= last; ++each) numbers.push_back(each);
    if (at == end) return true;
    if (*at++ != ',') return false;
  }
}

std::string as_list(const std::vector<std::int32_t>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[first]);
    if (last > first) text += fmt::format("-{}", numbers[last]);
    first = last + 1;
  }
  return text;
}

std::vector<Processor> describe(const std::vector<std::int32_t>& numbers, const char* synthetic) {
  if (numbers.empty()) return {};  // hwloc asks the system again and again where this is forbidden
  const Topology topology(synthetic);
  std::set<std::int32_t> wanted(numbers.begin(), numbers.end());
  std::vector<Processor> all;
  for (unsigned place = 0; const hwloc_obj_t processor = topology.processor(place); ++place) {
    if (wanted.erase(static_cast<std::int32_t>(processor->os_index)) == 1)
      all.push_back(describe_one(topology, processor));
  }
  for (const std::int32_t number : wanted) all.push_back({.number = number, .core = number, .cache = number});
  return all;
}

}  // namespace clump::tools
