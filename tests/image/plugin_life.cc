// A plugin's life in a rank: constructed at the first dlopen(), destructed at the last dlclose(), and new
// again after that.
#include <cstdio>
#include <iostream>

namespace {

struct Announced {
  Announced() { std::cout << "plugin constructed\n"; }
  ~Announced() { std::cout << "plugin destructed\n"; }
} announced;

int number = 10;
thread_local int per_thread = 20;
thread_local int* pointer = &number;

}  // namespace

extern int number_of_program;

extern "C" int plugin_add(int add) {
  per_thread += add;
  *pointer += add;
  number_of_program += add;
  return number * 1000 + per_thread;
}
