// Where the program of this process lies.
#pragma once

#include <string>

namespace clump::base {

/// The file that the kernel runs, absolute, with no links in it. Without /proc it is what the kernel was
/// asked for, as it can be found from the current folder. Empty if that is gone.
std::string program_path();

}  // namespace clump::base
