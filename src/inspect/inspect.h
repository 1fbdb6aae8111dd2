// Whether the ranks of a program can share a process. Reads an ELF file and the libraries that it names,
// without running any of them.
//
// Used by mpiexec (before it starts anything) and by `clump explain`. Any thread; blocks on file reads only.
// Link the object library clump_inspect; it interposes nothing and needs no other part of this layer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/lacks.h"
#include "inspect/mpi_library.h"

namespace clump::image {

/// The kind of a file.
enum class FileKind : std::uint8_t {
  kMissing,        ///< no such file, or it cannot be read
  kNotRegular,     ///< a directory, a device, ...
  kNotExecutable,  ///< a file without permission to execute
  kScript,         ///< begins with "#!": `interpreter` says what runs it
  kForeign,        ///< ELF, but for another machine or another word size
  kElf,            ///< an ELF program for this machine
  kOther,          ///< anything else
};

struct Verdict {
  FileKind kind = FileKind::kMissing;
  std::string interpreter;          ///< of a script: the path after "#!"
  bool dynamic = false;             ///< it has a program interpreter (ld.so)
  bool pie = false;                 ///< it can be loaded at any address
  bool set_id = false;              ///< setuid, setgid or file capabilities: ld.so ignores LD_PRELOAD
  std::string text_relocations_in;  ///< path of a file, the program or a library, whose code ld.so changes:
                                    ///< it cannot be shared
  MpiKind mpi = MpiKind::kNone;
  std::string mpi_library;    ///< SONAME of the MPI library, e.g. "libmpi_abi.so.1" or "libmpi.so.40"
  std::string mpi_needed_by;  ///< path of the file that names it: the program or one of its libraries
  std::string mpi_path;       ///< where ld.so would find it; empty: nowhere
  std::string brought;        ///< path of Clump's library for Fortran, if ld.so would not find it
  std::string facade;         ///< path of Clump's library that takes its place (has_facade())
  Lacks lacks;                ///< what the program names of that family and nothing has
  std::string second_mpi;     ///< a library of another kind that is needed as well
  std::string second_mpi_needed_by;
  std::string_view mpi_inside;   ///< the family of an MPI library that is part of the program (family_inside)
  std::string process_function;  ///< a function that it imports and that needs a process for each rank
  std::string_view process_reason;  ///< why it does, as the end of a sentence
  std::string process_function_in;  ///< path of the file that imports it: the program or a private library
  bool late_calls = false;  ///< a library uses libm and does not name it: ld.so may end the process if it binds
                            ///< all calls at the start (LD_BIND_NOW)
  std::string
      profiled_in;  ///< path of a file that LLVM has instrumented to count: its counts are of a process
  std::uint64_t tls_bytes = 0;  ///< size of the program's own PT_TLS segment, rounded up to its alignment
  std::vector<std::string>
      libraries;                     ///< paths of all libraries found, in the order in which ld.so loads them
  std::vector<std::string> missing;  ///< names of libraries that were not found
  std::vector<std::string>
      sanitizers;          ///< paths of sanitizer runtimes among the libraries: they must be preloaded first
  std::string allocator;   ///< path of the first library that defines malloc() and that ranks share
  std::string own_malloc;  ///< path of a file, the program or a library that ranks do not share, which
                           ///< defines malloc()
  std::string malloc_function;  ///< a function of the C library's own allocator that is imported: "mallopt"
  std::string malloc_function_in;  ///< path of the program or library that imports it
  std::string why_not;             ///< one line that says why it cannot be imaged; empty if it can

  /// Whether all its ranks can share one process, each with private globals.
  bool imageable() const { return why_not.empty(); }
  /// Whether it can be started at all: an ELF program of this machine, or a script.
  bool runnable() const { return kind == FileKind::kElf || kind == FileKind::kScript; }
};

/// A sentence for a program with a second_mpi.
std::string words_about_two(const Verdict& verdict);
/// What follows from a program's `lacks`, without its name: "is made for MPICH's ABI and names ...".
std::string words_about_lacks(const Verdict& verdict);

/// Inspects the file at `path`. `library_path` is the LD_LIBRARY_PATH that the program will see; `preloaded`
/// are additional libraries of which each rank will have a copy (interposers.h).
Verdict inspect(const std::string& path, const std::string& library_path,
                const std::vector<std::string>& preloaded = {});
/// The same with this process's LD_LIBRARY_PATH.
Verdict inspect(const std::string& path);

}  // namespace clump::image
