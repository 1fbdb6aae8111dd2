// Python programs whose ranks share a process: clump-python (tools/clump/python.c) takes the interpreter's
// place, and each rank opens the interpreter's library.
#pragma once

#include <string>
#include <vector>

namespace clump::tools {

/// How a program that is Python, or a script for it, is started so that ranks can share a process.
struct SharedPython {
  std::string interpreter;             ///< what would run it; empty: it is not for Python
  std::vector<std::string> arguments;  ///< with the interpreter first
  std::string library;                 ///< of the interpreter; empty: it has none that ranks can open
  std::string why_not;                 ///< why it has none
};

/// `program` is the path of what the user has called with these arguments.
SharedPython shared_python(const std::string& program, const std::vector<std::string>& arguments);

/// The path of clump-python. It names no MPI library, as an interpreter does not: what it runs opens one.
std::string python_program();

/// What names that library to clump-python.
inline constexpr const char* kPythonLibraryVariable = "CLUMP_PYTHON_LIBRARY";

}  // namespace clump::tools
