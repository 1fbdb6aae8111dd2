// clump: what this installation is and can, and what it would do with a program.
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.h"
#include "common/output.h"
#include "common/spelling.h"
#include "common/terminal.h"

namespace clump::tools {
namespace {

bool is_command(const CommandLine& line, std::string_view word) {
  const auto commands = line.app.get_subcommands([](const CLI::App*) { return true; });
  return std::ranges::any_of(commands, [&](const CLI::App* command) { return command->get_name() == word; });
}

int refuse_command(const CommandLine& line, std::string_view word) {
  std::vector<std::string_view> known;
  for (const CLI::App* command : line.app.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(command->get_name());
  const std::string_view near = nearest(word, known);
  print_error("clump: there is no command '{}'{}; there are {} (clump --help tells more)\n", word,
              near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near), fmt::join(known, ", "));
  return 2;
}

int run(const CommandLine& line) {
  if (line.channels) return show_channels(line.info->remaining());
  if (line.coverage) return show_coverage();
  if (line.meters) return show_meters();
  if (line.controls) return show_controls();
  if (line.events) return show_events();
  if (line.info->parsed()) {
    if (!line.selection) return show_info(line.missing);
    return line.given_shape->count() == 0 ? show_selection() : show_selection(line.shape);
  }
  if (line.explain->parsed()) return show_explanation(line.program);
  if (line.which->parsed()) {
    std::vector<std::string> words{line.program};
    for (const std::string& word : line.which->remaining()) words.push_back(word);
    return show_which(words);
  }
  if (line.tuning->parsed()) return tune(line.how);
  if (line.fortran->parsed()) return make_fortran_modules(line.compiler);
  if (line.lab->parsed()) return run_lab(line.lab->remaining());
  if (!line.of_mpiexec.empty()) return show_health_of_hosts(line.of_mpiexec);
  if (line.doctor->parsed()) return show_health();
  return 0;
}

}  // namespace
}  // namespace clump::tools

int main(int argc, char** argv) {
  using namespace clump::tools;
  CommandLine line;
  if (argc > 1 && argv[1][0] != '-' && !is_command(line, argv[1])) return refuse_command(line, argv[1]);
  try {
    line.app.parse(argc, argv);
    if (!line.channels && line.info->remaining_size() > 0) throw CLI::ExtrasError(line.info->remaining());
  } catch (const CLI::ParseError& end) {
    std::ostringstream told, wrong;
    const bool is_good = line.app.exit(end, told, wrong) == 0;
    print_out("{}", fit(told.str(), columns(STDOUT_FILENO), 0));
    print_error("{}", fit(wrong.str(), columns(STDERR_FILENO)));
    return is_good ? 0 : 2;  // a wrong command line, as for mpiexec
  }
  return run_tool("clump", [&] { return run(line); });
}
