#include "common/python.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/status.h"
#include "common/places.h"
#include "inspect/inspect.h"
#include "inspect/mpi4py.h"

namespace clump::tools {

namespace {

namespace fs = std::filesystem;

/// Puts what runs a script in front of its arguments, as the kernel does, and env after it.
void add_interpreter(const std::string& script, std::vector<std::string>& arguments) {
  std::string line;
  std::ifstream file(script);
  if (file.get() != '#' || file.get() != '!' || !std::getline(file, line)) return;
  std::istringstream words(line);
  std::vector<std::string> before;
  for (std::string word; words >> word;) before.push_back(word);
  if (before.size() > 1 && before.front().ends_with("/env")) before.erase(before.begin());
  arguments.front() = script;
  arguments.insert(arguments.begin(), before.begin(), before.end());
}

/// The library beside an interpreter: one that is linked to it, or is installed under the same prefix.
void find_library_of(const std::string& interpreter, SharedPython& python) {
  for (const std::string& library : image::inspect(interpreter).libraries)
    if (library.find("/libpython3.") != library.npos) {
      python.library = library;
      return;
    }
  std::error_code none;
  const fs::path real = fs::canonical(interpreter, none);
  python.wanted = fmt::format("lib{}.so.1.0", real.filename().string());
  const fs::path folder = real.parent_path().parent_path() / "lib";
  for (const char* const part : {"", "x86_64-linux-gnu", "aarch64-linux-gnu", "../lib64"})
    if (const fs::path path = folder / part / python.wanted; python.library.empty() && is_file(path))
      python.library = path.lexically_normal();
  python.wanted += fmt::format(" in {}", folder.string());
}

}  // namespace

SharedPython shared_python(const std::string& program, const std::vector<std::string>& arguments) {
  SharedPython python{{}, arguments, {}, {}};
  if (image::python_of(program) != program) add_interpreter(program, python.arguments);
  const bool is_script = python.arguments.size() > arguments.size();
  std::string interpreter = program;
  if (is_script && !find_program(python.arguments.front(), current_directory(), interpreter).ok()) return {};
  if (image::python_of(interpreter) != interpreter) return {};
  python.interpreter = python.arguments.front() = interpreter;
  find_library_of(interpreter, python);
  return python;
}

std::string python_program() { return own_program("clump-python"); }

}  // namespace clump::tools
