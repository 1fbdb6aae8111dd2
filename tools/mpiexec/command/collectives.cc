#include "command/collectives.h"

#include <algorithm>

#include "instruments/catalogue.h"

namespace clump::mpiexec {

namespace {

constexpr std::string_view kSuffix = "_algorithm";

/// Names are written with '-' or '_'.
std::string as_item(std::string_view text) {
  std::string item(text);
  std::ranges::replace(item, '-', '_');
  return item;
}

base::Status unknown(std::string_view option, std::string_view word, std::string_view what,
                     const std::string& known) {
  return base::fail(MPI_ERR_ARG, "{} {}: {}; there is {}", option, word, what, known);
}

void list(std::string& text, std::string_view name) { text.append(text.empty() ? "" : ", ").append(name); }

base::Status choose_one(std::string_view option, std::string_view word,
                        std::vector<std::pair<std::string, std::string>>& variables) {
  const std::size_t equals = std::min(word.find('='), word.size());
  const std::string collective = as_item(word.substr(0, equals));
  const std::string algorithm = as_item(word.substr(std::min(equals + 1, word.size())));
  std::string collectives, algorithms;
  for (const instruments::Control& control : instruments::controls()) {
    if (control.setting != instruments::Setting::kAlgorithm) continue;
    const std::string name = control.name.substr(0, control.name.size() - kSuffix.size());
    list(collectives, name);
    if (name != collective) continue;
    if (const auto* const item = control.enumeration->find(algorithm)) {
      variables.emplace_back(control.environment(), item->name);
      return {};
    }
    for (const auto& item : control.enumeration->items) list(algorithms, item.name);
    return unknown(option, word, "not an algorithm for " + name, algorithms);
  }
  return unknown(option, word, "not COLLECTIVE=ALGORITHM", collectives);
}

/// Sets a control of its own kind to the last of its values.
std::pair<std::string, std::string> most_of(instruments::Setting setting) {
  const auto control = std::ranges::find(instruments::controls(), setting, &instruments::Control::setting);
  return {control->environment(), control->enumeration->items.back().name};
}

}  // namespace

std::pair<std::string, std::string> reproducible_reductions() {
  return most_of(instruments::Setting::kReductions);
}

base::Status choose_checks(std::string_view option, std::string_view how,
                           std::vector<std::pair<std::string, std::string>>& variables) {
  const auto control = std::ranges::find(instruments::controls(), instruments::Setting::kCheck,
                                         &instruments::Control::setting);
  std::string known;
  for (const auto& item : control->enumeration->items) {
    list(known, item.name);
    if (item.name != how) continue;
    variables.emplace_back(control->environment(), how);
    return {};
  }
  return unknown(option, how, "not how much is checked", known);
}

base::Status choose_collectives(std::string_view option, std::string_view list,
                                std::vector<std::pair<std::string, std::string>>& variables) {
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t to = std::min(list.find(',', from), list.size());
    CLUMP_TRY(choose_one(option, list.substr(from, to - from), variables));
    from = to + 1;
  }
  return {};
}

}  // namespace clump::mpiexec
