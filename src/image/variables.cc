#include "image/variables.h"

#include <errno.h>
#include <error.h>
#include <getopt.h>
#include <unistd.h>

#include <cmath>
#include <ctime>

#pragma weak signgam  // which the mathematical library has, and not every program

namespace clump::image {
namespace {

struct Entry {
  const char* name;
  void* original;  // the one to which every reference in the process leads
  void* (*of)(Variables&);
};

Entry entry(int number) {
  switch (number) {
    case 0:
      return {"optarg", &::optarg, [](Variables& v) -> void* { return &v.optarg; }};
    case 1:
      return {"optind", &::optind, [](Variables& v) -> void* { return &v.optind; }};
    case 2:
      return {"opterr", &::opterr, [](Variables& v) -> void* { return &v.opterr; }};
    case 3:
      return {"optopt", &::optopt, [](Variables& v) -> void* { return &v.optopt; }};
    case kSignOfGamma:
      return {"signgam", &::signgam, [](Variables& v) -> void* { return &v.sign_of_gamma; }};
    case kZoneNames:
      return {"tzname", &::tzname, [](Variables& v) -> void* { return &v.zone_names; }};
    case kZoneOffset:
      return {"timezone", &::timezone, [](Variables& v) -> void* { return &v.zone_offset; }};
    case kSummerTime:
      return {"daylight", &::daylight, [](Variables& v) -> void* { return &v.has_summer_time; }};
    case kStandardOutput:
      return {"stdout", &::stdout, [](Variables& v) -> void* { return &v.standard_output; }};
    case kStandardError:
      return {"stderr", &::stderr, [](Variables& v) -> void* { return &v.standard_error; }};
    case kErrorCount:
      return {"error_message_count", &::error_message_count,
              [](Variables& v) -> void* { return &v.error_count; }};
    case kOneErrorPerLine:
      return {"error_one_per_line", &::error_one_per_line,
              [](Variables& v) -> void* { return &v.one_error_per_line; }};
    case kPrintProgramName:
      return {"error_print_progname", reinterpret_cast<void*>(&::error_print_progname),
              [](Variables& v) -> void* { return reinterpret_cast<void*>(&v.print_program_name); }};
    case 4:
      return {"stdin", &::stdin, [](Variables& v) -> void* { return &v.standard_input; }};
    case 5:
      return {"program_invocation_name", &::program_invocation_name,
              [](Variables& v) -> void* { return &v.program_name; }};
    case 6:
      return {"program_invocation_short_name", &::program_invocation_short_name,
              [](Variables& v) -> void* { return &v.short_program_name; }};
    default:  // kEnvironment
      return {"environ", &::environ, [](Variables& v) -> void* { return &v.environment; }};
  }
}

}  // namespace

int variable_at(std::uintptr_t address) {
  if (address == 0) return -1;
  for (int number = 0; number < kVariables; ++number) {
    if (reinterpret_cast<std::uintptr_t>(entry(number).original) == address) return number;
  }
  return -1;
}

const char* name_of_variable(int number) { return entry(number).name; }

void* original_variable(int number) { return entry(number).original; }

bool has_begun() { return *static_cast<char***>(original_variable(kEnvironment)) != nullptr; }

void* variable_of(Variables& variables, int number) { return entry(number).of(variables); }

}  // namespace clump::image
