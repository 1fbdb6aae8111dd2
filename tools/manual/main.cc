// Writes manual pages and the completion of shells from the tools' own tables of options. The build calls it:
//
//   clump_manual mpiexec|clump|mpicc|bash|zsh  tools/mpicc/options.txt  FILE
#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <string>

#include "manual/pages.h"

namespace {

std::string write(const std::string& what, const std::string& options_of_mpicc) {
  using namespace clump::manual;
  const std::vector<Page> pages{mpiexec_page(), clump_page(), mpicc_page(options_of_mpicc)};
  for (const Page& page : pages)
    if (page.name == what) return as_roff(page);
  return what == "bash" ? as_bash(pages) : as_zsh(pages);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: clump_manual mpiexec|clump|mpicc|bash|zsh OPTIONS-OF-MPICC FILE\n");
    return 2;
  }
  try {
    std::ofstream file(argv[3]);
    file << write(argv[1], argv[2]);
    file.close();
    if (file) return 0;
    fmt::print(stderr, "clump_manual: {} cannot be written\n", argv[3]);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "clump_manual: {}\n", problem.what());
  }
  return 1;
}
