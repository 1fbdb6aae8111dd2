// Functions whose state belongs to the process, and that Clump does not give to each rank of a shared
// process. A program that imports one of them gets a process for each rank: decided before it starts, from
// its import tables.
#pragma once

#include <string_view>

namespace clump::image {

class ElfFile;

/// Why a program that calls `function` needs a process for each rank, as the end of a sentence; empty if it
/// does not.
std::string_view reason_for_processes(std::string_view function);

/// A function with such a reason that the file takes from another file: a symbol that one of its relocations
/// names and that it does not define. Empty if there is none, and for damaged files. Valid as long as the
/// file.
std::string_view process_function_of(const ElfFile& file);

/// Whether the file takes `function` from another file.
bool imports(const ElfFile& file, std::string_view function);

}  // namespace clump::image
