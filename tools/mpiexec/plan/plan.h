// From what the user typed to what will be started: finds the programs and decides how their ranks run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "command/exit_codes.h"
#include "command/options.h"
#include "common/cores.h"
#include "common/limits.h"
#include "inspect/interposers.h"
#include "plan/allocator.h"
#include "pmi/job.h"

namespace clump::mpiexec {

struct Plan {
  pmi::Job job;
  std::vector<tools::Processor> workers;  ///< that run the fibers, and where
  std::optional<tools::Quota> quota;      ///< why there are no more; then workers have no fixed cores
  std::string explanation;                ///< the line of --explain
  AllocatorNeeds allocator_needs;         ///< of the programs
  Allocator allocator;
  std::string rules_note;             ///< another one, about the rules for collectives; empty: none
  std::vector<std::string> warnings;  ///< what the user has to know before the job starts, a line each
  std::string why_plain;              ///< why there are plain processes
  std::string why_threads;  ///< why ranks are threads where no option asks for them; empty: they are not
  std::vector<std::string> preload;       ///< sanitizer runtimes that must come before ours
  std::vector<image::Preloads> preloads;  ///< by app: libraries of the user's; own ones come before ours
  std::vector<std::int32_t> only_cores;   ///< the job's threads are kept to these; empty: to mpiexec's own
  bool late_calls = false;  ///< ld.so must not bind all calls of a program at the start (inspect.h)
  int private_objects = 0;  ///< the program and its private libraries, of the part that has most
};

/// Reads files, starts nothing. On failure `exit_code` is what mpiexec shall return.
/// Where the user names hosts, what is of each host is left to complete_plan().
base::Status make_plan(const Command& command, Plan& plan, int& exit_code);
/// On the host that plan.job.node names.
base::Status complete_plan(const Command& command, Plan& plan);
/// Of a variable; empty if there is none.
std::string value_of(const std::vector<std::string>& environment, const std::string& name);
/// Of the system, on this host.
tools::Needs needs_of(const Plan& plan);

}  // namespace clump::mpiexec
