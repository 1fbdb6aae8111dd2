// What Clump asks of the system, tried one by one.
#pragma once

namespace clump::tools {

/// Tries each and prints a line for it: it works, what Clump does instead, or that jobs cannot run and what
/// helps. False if there is something without which no job runs on this host.
bool show_trials();

}  // namespace clump::tools
