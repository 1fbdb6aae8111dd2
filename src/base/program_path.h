// Where the program of this process lies, and Clump's own code.
#pragma once

#include <string>

namespace clump::base {

/// The file that the kernel runs, absolute, with no links in it. Without /proc it is what the kernel was
/// asked for, as it can be found from the current folder. Empty if that is gone.
std::string program_path();

/// The file that this code was loaded from (a library of Clump's, or a tool that is linked with it), as ld.so
/// names it, but always absolute. ld.so's name is relative if a folder of LD_LIBRARY_PATH is: to the working
/// folder of the first call, so libclump_host.so calls it before the program can enter another one. Empty if
/// the file is not there.
const std::string& own_file();

}  // namespace clump::base
