#include "fiber/process_cores.h"

#include <algorithm>
#include <utility>

#include "fiber/kernel_state.h"
#include "fiber/worker.h"

namespace clump::fiber {

namespace {

// Never destroyed, because threads that use it do not end.
std::vector<std::int32_t>& cores() {
  static auto& all = *new std::vector<std::int32_t>;
  return all;
}

}  // namespace

void note_cores_of_process(std::vector<std::int32_t> all) { cores() = std::move(all); }

int count_cores_of_process() noexcept { return static_cast<int>(cores().size()); }

void use_cores_of_process() noexcept { set_cores_of_this_thread(cores()); }

int count_cores_without_helper() noexcept {
  return std::max(count_cores_of_process() - static_cast<int>(workers.size()) - count_helpers(), 0);
}

}  // namespace clump::fiber
