// Random numbers of each rank: rand(), random() and drand48() with the sequences that they have in a process
// of its own.
#include <cstdlib>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/rank_state.h"

namespace clump::image {
namespace {

/// The rank's generator. At first use it is seeded with 1, as the standard requires.
RandomState& begun(RandomState& state) {
  if (state.data.state == nullptr) initstate_r(1, state.words, sizeof state.words, &state.data);
  return state;
}

RandomState& mine() { return current_image().state().random; }

std::int32_t next() {
  RandomState& state = mine();
  const std::scoped_lock lock(state.lock);
  std::int32_t number = 0;
  random_r(&begun(state).data, &number);
  return number;
}

void seed(unsigned value) {
  RandomState& state = mine();
  const std::scoped_lock lock(state.lock);
  srandom_r(value, &begun(state).data);
}

/// Runs one of the *48_r functions: `call` takes the rank's state and a place for the result. No lock: these
/// are not for several threads at once, as the C library's own ones are not, and programs draw millions.
template <typename Result, typename Call>
Result draw48(Call call) {
  Result result{};
  call(&mine().drand, &result);
  return result;
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int rand() {
  static constinit Hidden<int()> real{"rand"};
  return captured() ? next() : real();
}
CLUMP_HOST_API long random() {
  static constinit Hidden<long()> real{"random"};
  return captured() ? next() : real();
}
CLUMP_HOST_API void srand(unsigned value) {
  static constinit Hidden<void(unsigned)> real{"srand"};
  captured() ? seed(value) : real(value);
}
CLUMP_HOST_API void srandom(unsigned value) {
  static constinit Hidden<void(unsigned)> real{"srandom"};
  captured() ? seed(value) : real(value);
}

CLUMP_HOST_API char* initstate(unsigned value, char* words, size_t size) {
  static constinit Hidden<char*(unsigned, char*, size_t)> real{"initstate"};
  if (!captured()) return real(value, words, size);
  RandomState& state = mine();
  const std::scoped_lock lock(state.lock);
  char* before = reinterpret_cast<char*>(begun(state).data.state);
  return initstate_r(value, words, size, &state.data) == 0 ? before - sizeof(std::int32_t) : nullptr;
}

CLUMP_HOST_API char* setstate(char* words) {
  static constinit Hidden<char*(char*)> real{"setstate"};
  if (!captured()) return real(words);
  RandomState& state = mine();
  const std::scoped_lock lock(state.lock);
  char* before = reinterpret_cast<char*>(begun(state).data.state);
  return setstate_r(words, &state.data) == 0 ? before - sizeof(std::int32_t) : nullptr;
}

CLUMP_HOST_API double drand48() {
  static constinit Hidden<double()> real{"drand48"};
  return captured() ? draw48<double>(&drand48_r) : real();
}
CLUMP_HOST_API long lrand48() {
  static constinit Hidden<long()> real{"lrand48"};
  return captured() ? draw48<long>(&lrand48_r) : real();
}
CLUMP_HOST_API long mrand48() {
  static constinit Hidden<long()> real{"mrand48"};
  return captured() ? draw48<long>(&mrand48_r) : real();
}
CLUMP_HOST_API double erand48(unsigned short numbers[3]) {
  static constinit Hidden<double(unsigned short*)> real{"erand48"};
  if (!captured()) return real(numbers);
  return draw48<double>(
      [numbers](drand48_data* state, double* result) { erand48_r(numbers, state, result); });
}
CLUMP_HOST_API long nrand48(unsigned short numbers[3]) {
  static constinit Hidden<long(unsigned short*)> real{"nrand48"};
  if (!captured()) return real(numbers);
  return draw48<long>([numbers](drand48_data* state, long* result) { nrand48_r(numbers, state, result); });
}
CLUMP_HOST_API long jrand48(unsigned short numbers[3]) {
  static constinit Hidden<long(unsigned short*)> real{"jrand48"};
  if (!captured()) return real(numbers);
  return draw48<long>([numbers](drand48_data* state, long* result) { jrand48_r(numbers, state, result); });
}

CLUMP_HOST_API void srand48(long value) {
  static constinit Hidden<void(long)> real{"srand48"};
  if (!captured()) return real(value);
  srand48_r(value, &mine().drand);
}

CLUMP_HOST_API unsigned short* seed48(unsigned short value[3]) {
  static constinit Hidden<unsigned short*(unsigned short*)> real{"seed48"};
  if (!captured()) return real(value);
  drand48_data& state = mine().drand;
  seed48_r(value, &state);
  return state.__old_x;
}

CLUMP_HOST_API void lcong48(unsigned short values[7]) {
  static constinit Hidden<void(unsigned short*)> real{"lcong48"};
  if (!captured()) return real(values);
  lcong48_r(values, &mine().drand);
}

}  // extern "C"
