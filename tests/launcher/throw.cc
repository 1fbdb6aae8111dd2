// throw RANK WHAT: rank RANK lets an exception escape.
#include <mpi.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

struct Mine {};

void escape(const std::string& what) {
  if (what == "standard") throw std::runtime_error("the reactor is too hot");
  if (what == "own") throw Mine{};
  if (what == "number") throw 42;
  if (what == "thread") {
    std::thread forgotten([] {});
    return;  // its destructor calls std::terminate
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc == 3 && rank == std::atoi(argv[1])) escape(argv[2]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
