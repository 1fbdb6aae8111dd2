#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "commands.h"
#include "common/output.h"
#include "functions.h"

namespace clump::tools {

namespace {

constexpr std::size_t kWidth = 100;

/// MPI_X and its form with large counts are one name: MPI_X(_c).
std::vector<std::string> missing_in(std::string_view chapter) {
  std::vector<std::string> names;
  for (const Function& function : kFunctions) {
    if (function.chapter != chapter || function.has_body) continue;
    const std::string name(function.name);
    if (!names.empty() && name == names.back() + "_c")
      names.back() += "(_c)";
    else
      names.push_back(name);
  }
  return names;
}

void print_wrapped(const std::vector<std::string>& names) {
  std::string line = "   ";
  for (const std::string& name : names) {
    if (line.size() + 1 + name.size() > kWidth) {
      print_out("{}\n", line);
      line = "   ";
    }
    line += " " + name;
  }
  print_out("{}\n", line);
}

struct Tally {
  int have = 0, all = 0;
};

Tally count(std::string_view chapter) {
  Tally tally;
  for (const Function& function : kFunctions) {
    if (function.chapter != chapter) continue;
    ++tally.all;
    if (function.has_body) ++tally.have;
  }
  return tally;
}

}  // namespace

int show_coverage() {
  Tally sum;
  print_out("Functions of the standard's C interface, large counts included, that have a body:\n");
  for (const Chapter& chapter : kChapters) {
    const auto [have, all] = count(chapter.name);
    sum.have += have;
    sum.all += all;
    print_out("  {:>3} of {:>3}  {}\n", have, all, chapter.title);
  }
  print_out("  {:>3} of {:>3}  in all\n", sum.have, sum.all);
  if (sum.have == sum.all) return 0;
  print_out("\nWhat remains:\n");
  for (const Chapter& chapter : kChapters) {
    const auto [have, all] = count(chapter.name);
    if (have == all) continue;
    print_out("  {}: {} of {}\n", chapter.title, have == 0 ? "all" : std::to_string(all - have), all);
    print_wrapped(missing_in(chapter.name));
  }
  return 0;
}

}  // namespace clump::tools
