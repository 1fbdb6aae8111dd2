// The C++ library is each rank's own: formatting flags, locale-dependent state, exceptions, threads that
// inherit identity.
#include <cstdio>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <typeinfo>
#include <vector>

#include "rank.h"

namespace {

int global = 5;
thread_local int per_thread = 1;
thread_local int* pointer = &global;

[[gnu::noinline]] void throw_from(int depth, int value) {
  if (depth == 0) throw std::out_of_range(std::to_string(value));
  struct Unwound {
    ~Unwound() { ++global; }
  } unwound;
  throw_from(depth - 1, value);
}

}  // namespace

int main() {
  const int rank = begin_rank();
  if (rank % 2 == 1) std::cout << std::hex << std::showbase;
  MPI_Barrier(MPI_COMM_WORLD);
  std::ostringstream text;
  text.copyfmt(std::cout);
  text << 255;
  std::cout << (text.str() == (rank % 2 == 1 ? "0xff" : "255") ? "own flags" : text.str()) << std::dec
            << std::endl;

  try {
    throw_from(10, rank);
  } catch (const std::exception& error) {
    std::cout << "caught " << error.what() << ' ' << (typeid(error) == typeid(std::out_of_range)) << ' '
              << global << '\n';
  }

  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([rank] {
      int seen = -1;
      MPI_Comm_rank(MPI_COMM_WORLD, &seen);
      per_thread += rank;
      if (seen != rank || per_thread != 1 + rank || pointer != &global)
        std::printf("a thread took part in another rank\n");
    });
  }
  for (std::thread& thread : threads) thread.join();

  int nested = -1;
  std::thread([&] { std::thread([&] { MPI_Comm_rank(MPI_COMM_WORLD, &nested); }).join(); }).join();
  std::cout << "nested " << nested << ", own " << per_thread << '\n';
  MPI_Finalize();
  return 0;
}
