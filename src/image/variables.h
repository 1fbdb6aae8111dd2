// The C library's variables that programs use by name and that each rank has for itself.
//
// If a program holds such a variable (by a copy relocation), its images hold it, too. If it refers to the one
// in the C library, an image refers to one in its Image instead.
#pragma once

#include <cstdint>
#include <cstdio>

namespace clump::image {

struct Variables {
  char* optarg = nullptr;
  int optind = 1;
  int opterr = 1;
  int optopt = '?';
  char** environment = nullptr;
  std::FILE* standard_input = nullptr;
  std::FILE* standard_output = nullptr;
  std::FILE* standard_error = nullptr;
  unsigned error_count = 0;  ///< of error()
  int one_error_per_line = 0;
  void (*print_program_name)() = nullptr;
  char* program_name = nullptr;        ///< argv[0]
  char* short_program_name = nullptr;  ///< its last part
  int sign_of_gamma = 0;
  char* zone_names[2] = {};
  long zone_offset = 0;
  int has_summer_time = 0;
};

inline constexpr int kVariables = 17;
// The numbers of the variables that functions of Clump set.
inline constexpr int kSignOfGamma = 7;
inline constexpr int kZoneNames = 8;
inline constexpr int kZoneOffset = 9;
inline constexpr int kSummerTime = 10;
inline constexpr int kStandardOutput = 11;
inline constexpr int kStandardError = 12;
inline constexpr int kErrorCount = 13;
inline constexpr int kOneErrorPerLine = 14;
inline constexpr int kPrintProgramName = 15;
inline constexpr int kEnvironment = 16;

/// The number of the variable at `address`; -1: none. Usable before constructors.
int variable_at(std::uintptr_t address);
const char* name_of_variable(int number);
/// The variable to which all references in the process lead, except those in images. Null if no library that
/// has it is loaded.
void* original_variable(int number);
/// Whether the C library has begun, as in a program that runs already: it sets `environ` then, after the
/// program's preinit functions.
bool has_begun();
/// The corresponding variable of a rank.
void* variable_of(Variables& variables, int number);

}  // namespace clump::image
