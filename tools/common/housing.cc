#include "common/housing.h"

#include <fstream>
#include <iterator>

#include "common/python.h"

namespace clump::tools {

namespace {

bool contains_mpi(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  return bytes.find("MPI_Init") != std::string::npos;
}

base::Status cannot_run(const std::string& typed, const image::Verdict& verdict) {
  using enum image::FileKind;
  switch (verdict.kind) {
    case kMissing:
      return base::fail(MPI_ERR_ACCESS, "'{}' cannot be read", typed);
    case kNotRegular:
      return base::fail(MPI_ERR_ACCESS, "'{}' is not a program but a directory or a device", typed);
    case kNotExecutable:
      return base::fail(MPI_ERR_ACCESS, "'{0}' is not executable (chmod +x {0})", typed);
    case kForeign:
      return base::fail(MPI_ERR_ACCESS, "'{}' is a program for another kind of machine", typed);
    default:
      return base::fail(MPI_ERR_ACCESS, "'{}' is neither an ELF program nor a script that begins with '#!'",
                        typed);
  }
}

}  // namespace

base::Status judge(const std::string& typed, const std::string& path, const image::Verdict& verdict,
                   Housing& housing, std::string& why) {
  if (!verdict.runnable()) return cannot_run(typed, verdict);
  if (verdict.mpi == image::MpiKind::kOther)
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION, "{}",
                      image::words_about({typed, verdict.mpi_needed_by == path ? "" : verdict.mpi_needed_by,
                                          verdict.mpi_library, verdict.mpi_path},
                                         "mpicc"));
  if (!verdict.second_mpi.empty())
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION, "'{}' cannot run: {}", typed,
                      image::words_about_two(verdict));
  if (!verdict.mpi_inside.empty())
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION, "'{}' cannot run under Clump: {}", typed,
                      verdict.why_not);
  if (!verdict.missing.empty()) {
    return base::fail(
        MPI_ERR_ACCESS,
        "'{}' needs the library {}, which was not found (LD_LIBRARY_PATH, run path, /etc/ld.so.conf)", typed,
        verdict.missing.front());
  }
  if (!verdict.lacks.at_start.empty())
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION, "'{}' cannot run: it {}", typed,
                      image::words_about_lacks(verdict));
  const bool hidden_mpi = verdict.kind == image::FileKind::kElf && !verdict.dynamic && contains_mpi(path);
  const bool is_mpi = verdict.mpi != image::MpiKind::kNone || hidden_mpi || path == python_program();
  housing = is_mpi && verdict.imageable() ? Housing::kImages : Housing::kPlain;
  if (housing == Housing::kImages) return {};
  why = is_mpi ? verdict.why_not : fmt::format("'{}' is not linked to an MPI library", typed);
  if (verdict.kind == image::FileKind::kScript)
    why = fmt::format("'{}' is a script, run by {}", typed, verdict.interpreter);
  // Our library must come into the process.
  if (is_mpi && (!verdict.dynamic || verdict.set_id))
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION, "'{}' cannot run under Clump: {}", typed,
                      verdict.why_not);
  return {};
}

}  // namespace clump::tools
