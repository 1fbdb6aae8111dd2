#include "mpi/hints.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "instruments/catalogue.h"

namespace clump::mpi {

namespace {

constexpr std::string_view kPrefix = "clump_";

/// What a program asserts about its messages: it is told again as it was given, whatever use is made of it.
bool is_assertion(std::string_view key) {
  constexpr std::string_view kKnown[] = {"mpi_assert_no_any_tag", "mpi_assert_no_any_source",
                                         "mpi_assert_exact_length", "mpi_assert_allow_overtaking",
                                         "mpi_assert_strict_persistent_collective_ordering"};
  return std::ranges::find(kKnown, key) != std::end(kKnown);
}

/// The control variable that a key stands for; null if it stands for none.
const instruments::Control* control_of(std::string_view key) {
  if (!key.starts_with(kPrefix)) return nullptr;
  key.remove_prefix(kPrefix.size());
  for (const instruments::Control& control : instruments::controls())
    if (control.category == instruments::Category::kCollectives && control.enumeration != nullptr &&
        control.name == key)
      return &control;
  return nullptr;
}

}  // namespace

base::Status check_hints(const core::Info* info) {
  if (info == nullptr) return {};
  for (const auto& [key, value] : info->entries()) {
    const instruments::Control* const control = control_of(key);
    if (control == nullptr || control->enumeration->find(value) != nullptr) continue;
    std::string known;
    for (const auto& item : control->enumeration->items) known += (known.empty() ? "" : ", ") + item.name;
    return base::fail(MPI_ERR_INFO_VALUE, "info key {} has the value '{}': there is {}", key, value, known);
  }
  return {};
}

void give_hints(core::Comm& comm, const core::Info* info) {
  if (info == nullptr) return;
  for (const auto& [key, value] : info->entries()) {
    const instruments::Control* const control = control_of(key);
    const bool is_asserted = is_assertion(key) && (value == "true" || value == "false");
    if (is_asserted) comm.info.set(key, value);
    if (control == nullptr) continue;
    const instruments::Enumeration::Item* const item = control->enumeration->find(value);
    if (item == nullptr) continue;  // another thread has changed the object since check_hints()
    comm.info.set(key, value);
    if (!comm.wishes) comm.wishes = std::make_unique<core::CollectiveWishes>();
    const int wanted = item->value;
    if (control->setting == instruments::Setting::kReductions)
      comm.wishes->reproducible = wanted != 0;
    else
      comm.wishes->wanted[static_cast<std::size_t>(control->which)] = static_cast<std::uint8_t>(wanted);
  }
}

}  // namespace clump::mpi
