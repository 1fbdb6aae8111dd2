#include "common/places.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/program_path.h"

namespace clump::tools {

namespace {

/// Absolute. Empty if it is not known: then what would lie beside it must not be looked for from the working
/// folder.
std::filesystem::path own_folder() { return std::filesystem::path(base::program_path()).parent_path(); }

}  // namespace

std::string own_prefix() { return own_folder().parent_path(); }

std::string own_program(const std::string& name) {
  const std::filesystem::path bin = own_folder();
  return bin.empty() ? std::string() : (bin / name).string();
}

std::string own_library(const std::string& name) {
  std::error_code error;
  const std::filesystem::path bin = own_folder();
  if (bin.empty()) return {};
  for (const char* folder : {"../lib", "../" CLUMP_LIBRARY_FOLDER}) {
    const std::filesystem::path path = (bin / folder / name).lexically_normal();
    if (std::filesystem::exists(path, error)) return path;
  }
  return {};
}

bool is_file(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::string absolute(const std::string& path, const std::string& base) {
  if (!path.empty() && path[0] == '/') return path;
  return base + "/" + (path.starts_with("./") ? path.substr(2) : path);
}

std::string current_directory() {
  char* name = ::getcwd(nullptr, 0);
  std::string path = name != nullptr ? name : ".";
  std::free(name);
  return path;
}

base::Status find_program(const std::string& typed, const std::string& directory, std::string& path) {
  if (typed.find('/') != std::string::npos) {
    path = absolute(typed, directory);
    if (path[0] != '/')
      return base::fail(
          MPI_ERR_NO_SUCH_FILE,
          "program '{}' was not found: the current directory is gone; change to one that exists", typed);
    if (::access(path.c_str(), F_OK) != 0)
      return base::fail(MPI_ERR_NO_SUCH_FILE, "program '{}' was not found", typed);
    return {};
  }
  const char* value = std::getenv("PATH");
  const std::string list = value != nullptr ? value : "/usr/bin:/bin";
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t to = std::min(list.find(':', from), list.size());
    path = absolute(to > from ? list.substr(from, to - from) : ".", directory) + "/" + typed;
    if (is_file(path) && ::access(path.c_str(), X_OK) == 0) return {};
    from = to + 1;
  }
  if (is_file(directory + "/" + typed)) {
    return base::fail(MPI_ERR_NO_SUCH_FILE, "program '{0}' was not found in PATH; did you mean ./{0}?",
                      typed);
  }
  return base::fail(MPI_ERR_NO_SUCH_FILE, "program '{}' was not found in PATH", typed);
}

std::string shell_word(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("_-./:=,+@%", c) != nullptr;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace clump::tools
