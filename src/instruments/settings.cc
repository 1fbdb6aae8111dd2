#include "instruments/settings.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "fiber/fiber.h"
#include "p2p/matcher.h"

namespace clump::instruments {

namespace {

constexpr const char* kVersionText = "Clump " CLUMP_VERSION;

/// Among the workers of this process.
int home_of(const core::Rank& rank) {
  const core::World& world = rank.world;
  if (world.homes.empty()) return 0;
  std::size_t first = 0;
  while (world.ranks[first] == nullptr) ++first;
  return world.homes[static_cast<std::size_t>(rank.number)] - world.homes[first];
}

int int_of(const core::Rank& rank, const Control& control) {
  switch (control.setting) {
    case Setting::kScheduler:
      return fiber::worker_count() > 0 ? 1 : 0;
    case Setting::kWorkers:
      return fiber::worker_count();
    case Setting::kHome:
      return home_of(rank);
    case Setting::kReductions:
      return rank.collectives.reproducible.load(std::memory_order_relaxed) ? 1 : 0;
    case Setting::kCheck:
      if (!rank.collectives.checked.load(std::memory_order_relaxed)) return 0;
      return std::max(1, static_cast<int>(rank.world.checks));
    default:
      return rank.collectives.wanted[static_cast<std::size_t>(control.which)].load(std::memory_order_relaxed);
  }
}

Count size_of(const core::Rank& rank, const Control& control) {
  switch (control.setting) {
    case Setting::kEagerLimit:
      return rank.eager_limit.load(std::memory_order_relaxed);
    case Setting::kUnexpectedLimit:
      return p2p::matcher_of(rank).bound();
    default:
      return rank.world.channels.front()->lane_limit();
  }
}

base::Status set_size(core::Rank& rank, const Control& control, Count value) {
  if (value < control.least || value > control.most) return base::Status::from_code(MPI_T_ERR_INVALID);
  switch (control.setting) {
    case Setting::kEagerLimit:
      rank.eager_limit.store(value, std::memory_order_relaxed);
      break;
    case Setting::kUnexpectedLimit:
      p2p::matcher_of(rank).set_bound(value);
      break;
    default:
      for (const auto& channel : rank.world.channels) channel->set_lane_limit(value);
  }
  return {};
}

base::Status set_item(core::Rank& rank, const Control& control, int value) {
  const auto& items = control.enumeration->items;
  if (std::ranges::find(items, value, &Enumeration::Item::value) == items.end())
    return base::Status::from_code(MPI_T_ERR_INVALID);
  core::CollectiveChoices& choices = rank.collectives;
  if (control.setting == Setting::kReductions)
    choices.reproducible.store(value != 0, std::memory_order_relaxed);
  else if (control.setting == Setting::kCheck)
    choices.checked.store(value != 0, std::memory_order_relaxed);
  else
    choices.wanted[static_cast<std::size_t>(control.which)].store(static_cast<std::uint8_t>(value),
                                                                  std::memory_order_relaxed);
  return {};
}

/// "4096", "16k", "1m".
bool parse_size(std::string_view text, Count& value) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || value < 0) return false;
  if (rest == end) return true;
  const int shift = *rest == 'k' || *rest == 'K' ? 10 : *rest == 'm' || *rest == 'M' ? 20 : 0;
  if (shift == 0 || rest + 1 != end || value > (Count{1} << 40)) return false;
  value <<= shift;
  return true;
}

base::Status set_size_from(std::string_view text, core::Rank& rank, const Control& control) {
  Count value = 0;
  if (!parse_size(text, value) || !set_size(rank, control, value).ok())
    return base::fail(MPI_ERR_ARG, "environment variable {} is '{}': it is a number of bytes from {} to {}",
                      control.environment(), text, control.least, control.most);
  return {};
}

base::Status set_item_from(std::string_view text, core::Rank& rank, const Control& control) {
  if (const Enumeration::Item* const item = control.enumeration->find(text))
    return set_item(rank, control, item->value);
  std::string known;
  for (const Enumeration::Item& item : control.enumeration->items)
    known += (known.empty() ? "" : ", ") + item.name;
  return base::fail(MPI_ERR_ARG, "environment variable {} is '{}': there is {}", control.environment(), text,
                    known);
}

const Control& check_control() { return *std::ranges::find(controls(), Setting::kCheck, &Control::setting); }

}  // namespace

core::Checks checks_from(const std::vector<std::string>& environment) {
  const Control& control = check_control();
  for (const std::string& variable : environment)
    for (const Enumeration::Item& item : control.enumeration->items)
      if (variable == control.environment() + "=" + item.name) return static_cast<core::Checks>(item.value);
  return core::Checks::kNone;
}

int elements_of(const Control& control) {
  return control.setting == Setting::kVersion ? static_cast<int>(std::strlen(kVersionText)) + 1 : 1;
}

void get(const core::Rank& rank, const Control& control, void* out) {
  if (control.setting == Setting::kVersion) {
    std::strcpy(static_cast<char*>(out), kVersionText);
  } else if (control.type == MPI_COUNT) {
    const Count value = size_of(rank, control);
    std::memcpy(out, &value, sizeof value);
  } else {
    const int value = int_of(rank, control);
    std::memcpy(out, &value, sizeof value);
  }
}

base::Status set(core::Rank& rank, const Control& control, const void* value) {
  if (!control.can_be_set()) return base::Status::from_code(MPI_T_ERR_CVAR_SET_NEVER);
  if (control.type == MPI_COUNT) {
    Count size = 0;
    std::memcpy(&size, value, sizeof size);
    return set_size(rank, control, size);
  }
  int item = 0;
  std::memcpy(&item, value, sizeof item);
  return set_item(rank, control, item);
}

base::Status set_from(const std::vector<std::string>& environment, core::Rank& rank) {
  for (const std::string_view variable : environment) {
    const std::size_t equals = std::min(variable.find('='), variable.size());
    const std::string_view name = variable.substr(0, equals);
    const std::string_view value = variable.substr(std::min(equals + 1, variable.size()));
    for (const Control& control : controls()) {
      if (!control.can_be_set() || control.environment() != name || value.empty()) continue;
      CLUMP_TRY(control.type == MPI_COUNT ? set_size_from(value, rank, control)
                                          : set_item_from(value, rank, control));
    }
  }
  return {};
}

}  // namespace clump::instruments
