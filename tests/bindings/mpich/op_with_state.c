/* MPIX_Op_create_x: the function gets its state; the destructor is called once for each operation, when no
 * call may use it any more. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(holds) ((holds) ? (void)0 : (printf("line %d: not %s\n", __LINE__, #holds), abort()))

typedef struct {
  int factor, destroyed;
} State;

/* (a, b) stands for x -> a x + b, modulo the state's number: does not commute. */
static void compose(void* in, void* inout, MPI_Count count, MPI_Datatype type, void* state) {
  const int modulus = ((State*)state)->factor;
  CHECK(type == MPI_2INT && !((State*)state)->destroyed);
  for (MPI_Count i = 0; i < count; ++i) {
    const int* first = (int*)in + 2 * i;
    int* second = (int*)inout + 2 * i;
    second[1] = (second[0] * first[1] + second[1]) % modulus;
    second[0] = second[0] * first[0] % modulus;
  }
}

static void destroy(void* state) { ++((State*)state)->destroyed; }

static int rank, size;

static void make_own(int own[2]) { own[0] = rank + 2, own[1] = rank + 1; }

static void check_result(const int result[2], int modulus) {
  int a = 1, b = 0;
  for (int i = 0; i < size; ++i) b = ((i + 2) * b + i + 1) % modulus, a = (i + 2) * a % modulus;
  CHECK(result[0] == a && result[1] == b);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(dlsym(RTLD_DEFAULT, "MPIX_Op_create_x") == (void*)MPIX_Op_create_x);
  static State states[300], pending, last;
  int own[2], result[2];
  make_own(own);
  MPI_Op ops[100], op;
  for (int i = 0; i < 100; ++i) {
    states[i].factor = 1000 + i;
    CHECK(MPIX_Op_create_x(compose, destroy, 0, &states[i], &ops[i]) == MPI_SUCCESS);
  }
  for (int i = 0; i < 100; ++i) {
    MPI_Allreduce(own, result, 1, MPI_2INT, ops[i], MPI_COMM_WORLD);
    check_result(result, 1000 + i);
    CHECK(states[i].destroyed == 0 && MPI_Op_free(&ops[i]) == MPI_SUCCESS && ops[i] == MPI_OP_NULL &&
          states[i].destroyed == 1);
  }
  /* As many as a program likes, one behind the other. */
  for (int i = 0; i < 1000; ++i) {
    State state = {7 + i, 0};
    CHECK(MPIX_Op_create_x(compose, i % 2 ? destroy : NULL, 0, &state, &op) == MPI_SUCCESS);
    int local[2] = {3, 1};
    make_own(own);
    MPI_Reduce_local(own, local, 1, MPI_2INT, op);
    CHECK(local[0] == 3 * (rank + 2) % (7 + i) && MPI_Op_free(&op) == MPI_SUCCESS &&
          state.destroyed == i % 2);
  }
  /* Freed while a call goes on. */
  pending.factor = 101;
  MPI_Request request;
  make_own(own);
  MPIX_Op_create_x(compose, destroy, 0, &pending, &op);
  MPI_Iallreduce(own, result, 1, MPI_2INT, op, MPI_COMM_WORLD, &request);
  MPI_Op_free(&op);
  CHECK(pending.destroyed == 0);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_result(result, 101);
  last.factor = 11;
  MPIX_Op_create_x(compose, destroy, 0, &last, &op); /* never freed */
  MPI_Finalize();
  CHECK(pending.destroyed == 1 && last.destroyed == 0);
  if (rank == 0) puts("all of it holds");
  return 0;
}
