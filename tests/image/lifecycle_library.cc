#include <cstdio>
#include <iostream>

namespace {

// An object here needs the C++ library's streams, which are constructed before, and destructed after.
struct Announced {
  Announced() { std::cout << "library object constructed\n"; }
  ~Announced() { std::cout << "library object destructed\n"; }
} announced;

[[gnu::constructor]] void constructor() { std::printf("library constructor\n"); }
[[gnu::destructor]] void destructor() { std::printf("library destructor\n"); }

}  // namespace

int library_number() { return 3; }
