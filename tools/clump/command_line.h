// The command line of clump. main.cc reads it; the manual page and the completion of shells are made from it,
// too.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "commands.h"

namespace clump::tools {

/// What clump lab can do, which its own program knows.
inline constexpr const char* kLabVerbs = "list run report advise";

/// What the user asks for. It stays where it is made: `app` points into it.
struct CommandLine {
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  CLI::App app{
      "Clump, an MPI library for multi-core machines and clusters of them. Programs are started with "
      "mpiexec.",
      "clump"};

  CLI::App* info = nullptr;
  bool missing = false, selection = false, coverage = false, meters = false, controls = false, events = false,
       channels = false;
  std::string shape;
  const CLI::Option* given_shape = nullptr;

  CLI::App *explain = nullptr, *which = nullptr;
  std::string program;

  CLI::App* fortran = nullptr;
  std::string compiler;

  CLI::App* lab = nullptr;

  CLI::App* tuning = nullptr;
  TuneOptions how;

  CLI::App* doctor = nullptr;
  std::vector<std::string> of_mpiexec;  ///< its options, for the hosts of a job

 private:
  void add_info();
  void add_tuning();
  void add_doctor();
};

}  // namespace clump::tools
