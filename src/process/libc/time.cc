// The results that time functions and strtok() keep in the C library's memory, kept for each rank here.
#include <cstdio>
#include <cstring>
#include <ctime>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/libc/zone.h"
#include "process/rank_state.h"

namespace clump::image {
namespace {

TimeState& mine() { return current_image().state().time; }

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API std::tm* localtime(const std::time_t* time) {
  static constinit Hidden<std::tm*(const std::time_t*)> shared{"localtime"};
  static constinit Hidden<std::tm*(const std::time_t*, std::tm*)> real{"localtime_r"};
  if (!captured()) return shared(time);
  WithZoneOfRank zone;
  zone.read_zone();
  return real(time, &mine().broken_down);
}

CLUMP_HOST_API std::tm* gmtime(const std::time_t* time) {
  static constinit Hidden<std::tm*(const std::time_t*)> real{"gmtime"};
  return captured() ? gmtime_r(time, &mine().broken_down) : real(time);
}

CLUMP_HOST_API char* asctime(const std::tm* time) {
  static constinit Hidden<char*(const std::tm*)> real{"asctime"};
  return captured() ? asctime_r(time, mine().text) : real(time);
}

CLUMP_HOST_API char* ctime(const std::time_t* time) {
  static constinit Hidden<char*(const std::time_t*)> real{"ctime"};
  if (!captured()) return real(time);
  const std::tm* broken_down = localtime(time);
  return broken_down != nullptr ? asctime(broken_down) : nullptr;
}

CLUMP_HOST_API char* strtok(char* text, const char* separators) {
  static constinit Hidden<char*(char*, const char*)> real{"strtok"};
  return captured() ? strtok_r(text, separators, &current_image().state().strtok_rest)
                    : real(text, separators);
}

}  // extern "C"
