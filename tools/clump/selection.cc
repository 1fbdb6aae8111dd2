#include <string>

#include "coll/select.h"
#include "commands.h"

namespace clump::tools {

namespace {

/// What a rule asks for, in words; empty if it fits always.
std::string condition(const coll::Rule& rule) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (rule.up_to_ranks != 0) add(fmt::format("up to {} ranks", rule.up_to_ranks));
  if (rule.below_bytes >= 1 << 20)
    add(fmt::format("below {} MiB", rule.below_bytes >> 20));
  else if (rule.below_bytes >= 1 << 10)
    add(fmt::format("below {} KiB", rule.below_bytes >> 10));
  else if (rule.below_bytes != 0)
    add(fmt::format("below {} bytes", rule.below_bytes));
  if (rule.operations == coll::Operations::kCommutative) add("the operation commutes");
  if (rule.operations == coll::Operations::kPredefined) add("the operation is predefined");
  return text;
}

}  // namespace

int show_selection() {
  fmt::print(
      "Within one group, the first line that fits decides; sizes are those of one rank's part.\n"
      "Lines with \"team\" are for ranks of one address space.\n");
  const coll::Rule* previous = nullptr;
  for (const coll::Rule& rule : coll::rules()) {
    const bool same = previous != nullptr && previous->collective == rule.collective;
    fmt::print("{:<16}{:<24}{}\n", same ? "" : coll::name_of(rule.collective), coll::name_of(rule.algorithm),
               condition(rule));
    previous = &rule;
  }
  return 0;
}

}  // namespace clump::tools
