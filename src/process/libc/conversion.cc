// Numbers as text, and hash tables: what the C library keeps between calls, or returns in its own memory, is
// kept for each rank here.
#include <search.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "image/variables.h"
#include "process/rank_state.h"

namespace clump::image {

struct ConversionState {
  char digits[5120] = {};  // of the largest long double
  char base64[8] = {};
  hsearch_data table{};
};

namespace {

constinit PerRank<ConversionState> kept;

using Digits = int(double, int, int*, int*, char*, std::size_t);
using LongDigits = int(long double, int, int*, int*, char*, std::size_t);

template <typename Function, typename Number>
char* digits(Hidden<char*(Number, int, int*, int*)>& real, Function* convert, Number number, int count,
             int* point, int* sign) {
  if (!captured()) return real(number, count, point, sign);
  char* const text = kept.of().digits;
  return convert(number, count, point, sign, text, sizeof ConversionState::digits) == 0 ? text : nullptr;
}

/// lgamma() sets a variable to the sign of the gamma function.
template <typename Number>
Number log_gamma(Hidden<Number(Number, int*)>& real, Number number) {
  int sign = 0;
  const Number result = real(number, &sign);
  if (void* const place = current_image().variable(kSignOfGamma)) *static_cast<int*>(place) = sign;
  return result;
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API char* ecvt(double number, int count, int* point, int* sign) noexcept {
  static constinit Hidden<char*(double, int, int*, int*)> real{"ecvt"};
  return digits<Digits>(real, &ecvt_r, number, count, point, sign);
}
CLUMP_HOST_API char* fcvt(double number, int count, int* point, int* sign) noexcept {
  static constinit Hidden<char*(double, int, int*, int*)> real{"fcvt"};
  return digits<Digits>(real, &fcvt_r, number, count, point, sign);
}
CLUMP_HOST_API char* qecvt(long double number, int count, int* point, int* sign) noexcept {
  static constinit Hidden<char*(long double, int, int*, int*)> real{"qecvt"};
  return digits<LongDigits>(real, &qecvt_r, number, count, point, sign);
}
CLUMP_HOST_API char* qfcvt(long double number, int count, int* point, int* sign) noexcept {
  static constinit Hidden<char*(long double, int, int*, int*)> real{"qfcvt"};
  return digits<LongDigits>(real, &qfcvt_r, number, count, point, sign);
}

/// Six bits in each character, the lowest first: POSIX, a64l().
CLUMP_HOST_API char* l64a(long number) noexcept {
  static constexpr char kDigits[] = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  static constinit Hidden<char*(long)> real{"l64a"};
  if (!captured()) return real(number);
  char* const text = kept.of().base64;
  std::size_t length = 0;
  for (auto rest = static_cast<std::uint32_t>(number); rest != 0; rest >>= 6)
    text[length++] = kDigits[rest & 63];
  text[length] = '\0';
  return text;
}

CLUMP_HOST_API int hcreate(size_t count) noexcept {
  static constinit Hidden<int(size_t)> real{"hcreate"};
  return captured() ? hcreate_r(count, &kept.of().table) : real(count);
}
CLUMP_HOST_API void hdestroy() noexcept {
  static constinit Hidden<void()> real{"hdestroy"};
  if (!captured()) return real();
  hdestroy_r(&kept.of().table);
}
CLUMP_HOST_API ENTRY* hsearch(ENTRY item, ACTION action) noexcept {
  static constinit Hidden<ENTRY*(ENTRY, ACTION)> real{"hsearch"};
  if (!captured()) return real(item, action);
  ENTRY* found = nullptr;
  hsearch_r(item, action, &found, &kept.of().table);
  return found;
}

CLUMP_HOST_API double lgamma(double number) noexcept {
  static constinit Hidden<double(double, int*)> real{"lgamma_r"};
  return log_gamma(real, number);
}
CLUMP_HOST_API float lgammaf(float number) noexcept {
  static constinit Hidden<float(float, int*)> real{"lgammaf_r"};
  return log_gamma(real, number);
}
CLUMP_HOST_API long double lgammal(long double number) noexcept {
  static constinit Hidden<long double(long double, int*)> real{"lgammal_r"};
  return log_gamma(real, number);
}
CLUMP_HOST_API double gamma(double number) noexcept { return lgamma(number); }
CLUMP_HOST_API float gammaf(float number) noexcept { return lgammaf(number); }
CLUMP_HOST_API long double gammal(long double number) noexcept { return lgammal(number); }

}  // extern "C"
