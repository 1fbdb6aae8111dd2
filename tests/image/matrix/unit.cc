#include <string>
#include <vector>

#include "probe.h"

namespace {

class Number {
 public:
  explicit Number(int value) : values_{value} {}
  virtual ~Number() = default;
  virtual int add(int more) { return values_.back() += more; }

 private:
  std::vector<int> values_;
};

class Twice : public Number {
 public:
  using Number::Number;
  int add(int more) override {
    Number::add(2 * more);
    return Number::add(-more);
  }
};

int global = 7;
std::string text = "7";
thread_local Twice per_thread(7);
Twice object(7);

}  // namespace

template <typename T>
struct Inline {
  static inline T number = 7;  // one for all objects of a rank: STB_GNU_UNIQUE
};

extern "C" {

int probe_global(int add) {
  text = std::to_string(std::stoi(text) + add);
  global += add;
  Inline<int>::number += add;
  return std::stoi(text) == global && global == Inline<int>::number ? global : -1;
}

int probe_function_static(int add) {
  static Number number(7);
  return number.add(add);
}

int probe_thread_local(int add) {
  per_thread.Number::add(add);
  return per_thread.Number::add(0);
}

int probe_static_object(int add) {
  Number& base = object;
  const int before = object.Number::add(0);
  base.add(add);
  const int after = object.Number::add(0);
  return after - before == add ? after : -1;
}

int probe_imported(int add) {
  imported += add;
  return imported == imported_in_its_library() ? imported : -1;
}

}  // extern "C"
