#include "common/python.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/status.h"
#include "common/places.h"
#include "inspect/elf_file.h"
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
void look_for_library(const std::string& interpreter, SharedPython& python) {
  const image::Verdict verdict = image::inspect(interpreter);
  if (verdict.kind == image::FileKind::kScript) {
    python.why_not = fmt::format(
        "{0} is a script that starts an interpreter, whose path {0} -c "
        "'import sys; print(sys.executable)' prints: name that",
        interpreter);
    return;
  }
  for (const std::string& library : verdict.libraries)
    if (library.find("/libpython3.") != library.npos) {
      python.library = library;
      return;
    }
  std::error_code none;
  const fs::path real = fs::canonical(interpreter, none);
  const std::string wanted = fmt::format("lib{}.so.1.0", real.filename().string());
  const fs::path folder = real.parent_path().parent_path() / "lib";
  for (const char* const part : {"", "x86_64-linux-gnu", "aarch64-linux-gnu", "../lib64"})
    if (const fs::path path = folder / part / wanted; python.library.empty() && is_file(path))
      python.library = path.lexically_normal();
  python.why_not =
      fmt::format("to share one, each opens a library of its own of {}, and there is no {} in {}",
                  interpreter, wanted, folder.string());
}

void find_library_of(const std::string& interpreter, SharedPython& python) {
  look_for_library(interpreter, python);
  if (python.library.empty() || image::ElfFile(python.library).defines("Py_BytesMain")) return;
  python.why_not = fmt::format("{} has no Py_BytesMain: Python 3.8 and newer have it", python.library);
  python.library.clear();
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
