// leave HOW: an error handler of rank 0, or another function that MPI calls, does not come back to the call, but
// leaves it. Then there are ten messages from rank 0 to rank 1, and a call of another thread.
#include <mpi.h>

#include <csetjmp>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

std::string how;
std::jmp_buf before;

void handle(MPI_Comm*, int*, ...) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);  // a call of the handler's own
  if (how == "throw" || how == "throw_wait") throw std::runtime_error("an error of MPI");
  if (how != "return") std::longjmp(before, 1);
}

int end_attribute(MPI_Comm, int, void*, void*) { throw std::runtime_error("not from an error handler"); }

void fail() {
  if (how == "call") {
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
  } else if (how == "wait" || how == "throw_wait") {
    MPI_Request request;
    char byte = 0;
    MPI_Irecv(&byte, 1, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &request);
    MPI_Send("ab", 2, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (how == "throw_delete") {
    int key = 0;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_attribute, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
  } else {
    MPI_Send(nullptr, -1, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
}

/// The same with an exception: a frame that longjmp() leaves has no destructors.
void fail_and_catch() {
  try {
    fail();
  } catch (const std::exception&) {
    std::printf("caught\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  how = argc > 1 ? argv[1] : "";
  int given = 0, rank = 0, number = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
  if (rank == 0 && how.starts_with("throw"))
    fail_and_catch();
  else if (rank == 0 && setjmp(before) == 0)
    fail();
  for (int i = 0; i < 10; ++i) {
    if (rank == 0) MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  std::thread([&] {
    MPI_Sendrecv_replace(&number, 1, MPI_INT, 0, 1, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  }).join();
  MPI_Finalize();
}
