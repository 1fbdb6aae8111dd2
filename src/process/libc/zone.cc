// The time zone of each rank. The C library has one zone: that of the variable TZ in the first rank's
// environment, which it reads again when the variable has changed. For a rank with another TZ, the C library
// is made to change to the rank's zone, and back, around the call. That reads the zone's file twice. Ranks
// with the same TZ as the first one, which are all ranks in nearly every program, only pay for a lock.
// The variables tzname, timezone and daylight of the first rank are the C library's own: where ranks differ
// in TZ, it can read another rank's there while that rank is in such a call. What the functions return is
// right.
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "base/types.h"
#include "image/fork_locks.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "image/variables.h"
#include "process/libc/zone.h"
#include "process/rank_state.h"

namespace clump::image {
namespace {

constinit ForkMutex zone_lock;  // held while the C library's zone may differ from the first rank's

std::optional<std::string> zone_in(char** environment) {
  for (char** entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, "TZ=", 3) == 0) return *entry + 3;
  }
  return {};
}

void real_tzset() {
  static constinit Hidden<void()> real{"tzset"};
  real();
}

/// The first rank's environment with another TZ. Environments that were made are kept: the first rank may be
/// reading one, for another variable.
char** environment_with(const std::optional<std::string>& zone) {
  static auto& made = *new std::map<std::optional<std::string>, std::vector<char*>*>;
  std::vector<char*>*& last = made[zone];
  std::vector<char*> wanted;
  if (zone) wanted.push_back(last != nullptr ? last->front() : strdup(("TZ=" + *zone).c_str()));
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    if (std::strncmp(*one, "TZ=", 3) != 0) wanted.push_back(*one);
  }
  wanted.push_back(nullptr);
  if (last == nullptr || *last != wanted) last = new std::vector<char*>(std::move(wanted));
  return last->data();
}

/// Whether a format of strftime() or strptime() has a conversion with this letter. Between '%' and the letter
/// there may be flags, a width, and E or O.
template <typename Letter>
bool has_conversion(const Letter* format, char wanted) {
  constexpr std::string_view kBetween = "_-0^#+123456789EO";
  while (*format != 0) {
    if (*format++ != '%') continue;
    while (*format > 0 && *format < 128 &&
           kBetween.find(static_cast<char>(*format)) != std::string_view::npos)
      ++format;
    if (*format == wanted) return true;
    if (*format != 0) ++format;
  }
  return false;
}

/// Whether strftime() needs the zone: for "%s", and for "%Z" of a time that names none.
template <typename Letter>
bool needs_zone(const Letter* format, const std::tm* time) {
  if (has_conversion(format, 's')) return true;
  // Looked at only for %Z, as the C library does: other programs leave it unset.
  return has_conversion(format, 'Z') && (time->tm_zone == nullptr || *time->tm_zone == '\0');
}

}  // namespace

WithZoneOfRank::WithZoneOfRank() {
  if (!captured()) return;
  zone_lock.lock();
  locked_ = true;
  Image& image = current_image();
  if (image.native()) return;
  std::optional<std::string> mine;
  {
    const std::scoped_lock lock(image.state().environment.lock);
    mine = zone_in(*image.variable(&environ));
  }
  if (mine == zone_in(environ)) return;
  before_ = environ;  // mktime(), for example, reads it itself
  environ = environment_with(mine);
  real_tzset();
}

WithZoneOfRank::~WithZoneOfRank() {
  if (!locked_) return;
  if (before_ != nullptr) {
    environ = before_;
    real_tzset();
  }
  zone_lock.unlock();
}

void WithZoneOfRank::read_zone() {
  if (before_ == nullptr) real_tzset();
  Image& image = current_image();
  if (!locked_ || image.native()) return;
  std::memcpy(image.variable(kZoneNames), original_variable(kZoneNames), sizeof ::tzname);
  std::memcpy(image.variable(kZoneOffset), original_variable(kZoneOffset), sizeof ::timezone);
  std::memcpy(image.variable(kSummerTime), original_variable(kSummerTime), sizeof ::daylight);
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API void tzset() noexcept { WithZoneOfRank().read_zone(); }

CLUMP_HOST_API std::tm* localtime_r(const std::time_t* time, std::tm* result) noexcept {
  static constinit Hidden<std::tm*(const std::time_t*, std::tm*)> real{"localtime_r"};
  const WithZoneOfRank zone;
  return real(time, result);
}

/// It needs no zone, but takes the C library's lock of the zone.
CLUMP_HOST_API std::tm* gmtime_r(const std::time_t* time, std::tm* result) noexcept {
  static constinit Hidden<std::tm*(const std::time_t*, std::tm*)> real{"gmtime_r"};
  const NoFork no_fork;
  return real(time, result);
}

CLUMP_HOST_API char* ctime_r(const std::time_t* time, char* text) noexcept {
  std::tm broken_down;
  return localtime_r(time, &broken_down) != nullptr ? asctime_r(&broken_down, text) : nullptr;
}

CLUMP_HOST_API std::time_t mktime(std::tm* time) noexcept {
  static constinit Hidden<std::time_t(std::tm*)> real{"mktime"};
  WithZoneOfRank zone;
  zone.read_zone();
  return real(time);
}

// Of most formats everything is in `time`. But "%Z" takes the C library's lock.

CLUMP_HOST_API size_t strftime(char* text, size_t size, const char* format, const std::tm* time) noexcept {
  static constinit Hidden<size_t(char*, size_t, const char*, const std::tm*)> real{"strftime"};
  const NoFork no_fork;
  if (!needs_zone(format, time)) return real(text, size, format, time);
  const WithZoneOfRank zone;
  return real(text, size, format, time);
}

CLUMP_HOST_API size_t strftime_l(char* text, size_t size, const char* format, const std::tm* time,
                                 locale_t locale) noexcept {
  static constinit Hidden<size_t(char*, size_t, const char*, const std::tm*, locale_t)> real{"strftime_l"};
  const NoFork no_fork;
  if (!needs_zone(format, time)) return real(text, size, format, time, locale);
  const WithZoneOfRank zone;
  return real(text, size, format, time, locale);
}

CLUMP_HOST_API size_t wcsftime(wchar_t* text, size_t size, const wchar_t* format,
                               const std::tm* time) noexcept {
  static constinit Hidden<size_t(wchar_t*, size_t, const wchar_t*, const std::tm*)> real{"wcsftime"};
  const NoFork no_fork;
  if (!needs_zone(format, time)) return real(text, size, format, time);
  const WithZoneOfRank zone;
  return real(text, size, format, time);
}

CLUMP_HOST_API size_t wcsftime_l(wchar_t* text, size_t size, const wchar_t* format, const std::tm* time,
                                 locale_t locale) noexcept {
  static constinit Hidden<size_t(wchar_t*, size_t, const wchar_t*, const std::tm*, locale_t)> real{
      "wcsftime_l"};
  const NoFork no_fork;
  if (!needs_zone(format, time)) return real(text, size, format, time, locale);
  const WithZoneOfRank zone;
  return real(text, size, format, time, locale);
}

CLUMP_HOST_API char* strptime(const char* text, const char* format, std::tm* time) noexcept {
  static constinit Hidden<char*(const char*, const char*, std::tm*)> real{"strptime"};
  const NoFork no_fork;
  if (!has_conversion(format, 's')) return real(text, format, time);
  const WithZoneOfRank zone;
  return real(text, format, time);
}

CLUMP_HOST_API char* strptime_l(const char* text, const char* format, std::tm* time,
                                locale_t locale) noexcept {
  static constinit Hidden<char*(const char*, const char*, std::tm*, locale_t)> real{"strptime_l"};
  const NoFork no_fork;
  if (!has_conversion(format, 's')) return real(text, format, time, locale);
  const WithZoneOfRank zone;
  return real(text, format, time, locale);
}

}  // extern "C"
