// Functions whose state belongs to the process, and that Clump does not give to each rank of a shared
// process. A program that imports one of them gets a process for each rank: decided before it starts, from
// its import tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clump::image {

class ElfFile;

/// Why a program that calls `function` needs a process for each rank, as the end of a sentence; empty if it
/// does not.
std::string_view reason_for_processes(std::string_view function);

/// The functions that the file takes from other files: the symbols that its relocations name and that it does
/// not define. Empty for damaged files.
std::vector<std::string> imports_of(const ElfFile& file);

}  // namespace clump::image
