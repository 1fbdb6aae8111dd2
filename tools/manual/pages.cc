#include "manual/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "clump/command_line.h"
#include "mpiexec/command/exit_codes.h"
#include "mpiexec/command/options.h"

namespace clump::manual {

namespace {

Option of_mpiexec(const mpiexec::Option& row) {
  Option option;
  for (const std::string_view name : row.names)
    option.spellings.push_back(fmt::format("{}{}", name.size() > 2 ? "--" : "-", name));
  option.values = row.values;
  option.may_have_value = row.may_have_value;
  if (!mpiexec::is_accepted(row)) option.metavar = row.metavar;
  option.text = row.text;
  return option;
}

std::vector<Option> options_of(const CLI::App& app) {
  std::vector<Option> options;
  for (const CLI::Option* const row : app.get_options()) {
    if (row->get_positional()) continue;
    Option option;
    for (const std::string& name : row->get_snames()) option.spellings.push_back("-" + name);
    for (const std::string& name : row->get_lnames()) option.spellings.push_back("--" + name);
    option.values = row->get_items_expected_max() > 0 ? 1 : 0;
    if (option.values > 0) option.metavar = row->get_type_name();
    option.text = row->get_description();
    options.push_back(std::move(option));
  }
  return options;
}

bool is_of_all(const Option& option) {
  return option.spellings.back() == "--help" || option.spellings.back() == "--version";
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

}  // namespace

Page mpiexec_page() {
  Page page{"mpiexec", {"mpirun"}, "start an MPI program with Clump", {}, {}, {}, {}};
  page.synopsis = {"mpiexec [options] program [arguments] [: [options] program [arguments]]..."};
  page.description = {
      "mpiexec starts an MPI program. Every option may be written with one dash or two, and its value after "
      "a space or "
      "'='; options end where the program begins. Several programs, with ':' between them, are one job."};
  Section own{"OPTIONS", "", {}};
  Section accepted{"OPTIONS OF OTHER LAUNCHERS", "They are accepted and change nothing:", {}};
  for (const mpiexec::Option& row : mpiexec::option_table()) {
    if (mpiexec::is_hidden(row)) continue;
    Option option = of_mpiexec(row);
    if (mpiexec::is_accepted(row)) {
      option.text.clear();
      accepted.options.push_back(std::move(option));
    } else {
      own.options.push_back(std::move(option));
    }
  }
  page.sections = {own, accepted};
  page.exit_codes = {mpiexec::kExitCodes};
  return page;
}

Page clump_page() {
  tools::CommandLine line;
  Page page{"clump", {}, "what an installation of Clump is and can", {}, {}, {}, {}};
  page.has_subcommands = true;
  page.description = {line.app.get_description()};
  Section general{"OPTIONS", "", options_of(line.app)};
  page.sections.push_back(general);
  for (const CLI::App* const command : line.app.get_subcommands({})) {
    std::string usage = "clump " + command->get_name();
    Section section{command->get_name(), command->get_description(), {}};
    for (Option& option : options_of(*command))
      if (!is_of_all(option)) section.options.push_back(std::move(option));
    if (!section.options.empty()) usage += " [options]";
    for (const CLI::Option* const row : command->get_options())
      if (row->get_positional()) usage += " " + row->get_name(true);
    page.synopsis.push_back(usage);
    page.sections.push_back(std::move(section));
  }
  page.exit_codes = {line.app.get_footer()};
  return page;
}

Page mpicc_page(const std::string& options) {
  Page page{"mpicc",
            {"mpicxx", "mpic++", "mpiCC", "mpifort", "mpif90", "mpif77"},
            "compile an MPI program with Clump",
            {},
            {},
            {},
            {}};
  page.synopsis = {"mpicc [option or option of the compiler]... file...", "mpicxx ...", "mpifort ..."};
  page.description = {
      "mpicc, mpicxx (also mpic++, mpiCC) and mpifort (also mpif90, mpif77) call the C, C++ or Fortran "
      "compiler with what "
      "an MPI program needs. What is not listed here goes to the compiler."};
  Section section{"OPTIONS", "", {}};
  std::ifstream file(options);
  for (std::string line; std::getline(file, line);) {
    const std::size_t bar = line.find(" | ");
    if (line.empty() || line[0] != '-' || bar == std::string::npos) continue;
    Option option;
    std::string spellings = line.substr(0, bar);
    for (std::size_t from = 0; from < spellings.size();) {
      const std::size_t to = std::min(spellings.find(',', from), spellings.size());
      option.spellings.push_back(trimmed(spellings.substr(from, to - from)));
      from = to + 1;
    }
    option.text = line.substr(bar + 3);
    section.options.push_back(std::move(option));
  }
  if (section.options.empty()) throw std::runtime_error(fmt::format("{}: no options there", options));
  page.sections = {section};
  page.exit_codes = {"The exit code is the compiler's."};
  return page;
}

}  // namespace clump::manual
