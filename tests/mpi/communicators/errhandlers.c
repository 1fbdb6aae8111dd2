/* Error handlers of communicators (MPI-5.0 section 9.3): made, set, asked for, inherited, called. */
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

#include "check.h"

static int calls, last_class;
static MPI_Comm last_comm;

static void note(MPI_Comm* comm, int* code, ...) {
  ++calls;
  last_comm = *comm;
  MPI_Error_class(*code, &last_class);
}

static void change_code(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  *code = MPI_ERR_INTERN;
}

static void wrong_call(MPI_Comm comm) {
  int value = 0;
  MPI_Send(&value, 1, MPI_INT, 1000, 0, comm);
}

static void of_window(MPI_Win* win, int* code, ...) {
  (void)win;
  (void)code;
  ++calls;
}
static void of_file(MPI_File* file, int* code, ...) {
  (void)file;
  (void)code;
  ++calls;
}

/* Those of windows and files can be made, and are none for a communicator. */
static void of_other_kinds(MPI_Comm comm) {
  MPI_Errhandler windows, files;
  CHECK_OK(MPI_Win_create_errhandler(of_window, &windows));
  CHECK_OK(MPI_File_create_errhandler(of_file, &files));
  CHECK(windows != files && windows != MPI_ERRHANDLER_NULL && files != MPI_ERRHANDLER_NULL);
  CHECK_CLASS(MPI_Comm_set_errhandler(comm, windows), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_set_errhandler(comm, files), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_create_errhandler(NULL, &windows), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_create_errhandler(of_file, NULL), MPI_ERR_ARG);
  CHECK_OK(MPI_Errhandler_free(&windows));
  CHECK_OK(MPI_Errhandler_free(&files));
  CHECK_EQ(windows, MPI_ERRHANDLER_NULL);
}

/* Errors of requests and messages: those of an operation go to its communicator's handler, those of a handle
 * that is none to MPI_COMM_SELF's. */
static void of_operations(MPI_Comm comm) {
  MPI_Errhandler handler;
  MPI_Request none = MPI_REQUEST_NULL, self_send;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Comm_create_errhandler(note, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  int before = calls;
  MPI_Cancel(&none);
  MPI_Start(&none);
  MPI_Startall(1, &none);
  MPI_Request_free(&none);
  MPI_Mrecv(NULL, 0, MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Imrecv(NULL, 0, MPI_INT, &message, &none);
  CHECK_EQ(calls - before, 6);
  CHECK_EQ(last_class, MPI_ERR_REQUEST);
  CHECK(last_comm == MPI_COMM_SELF);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

  int rank, out[2] = {1, 2}, in[2];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Isend(out, 2, MPI_INT, rank, 5, comm, &self_send);
  MPI_Mprobe(rank, 5, comm, &message, MPI_STATUS_IGNORE);
  before = calls;
  MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  CHECK_EQ(calls - before, 1);
  CHECK_EQ(last_class, MPI_ERR_TRUNCATE);
  CHECK(last_comm == comm);
  CHECK_OK(MPI_Wait(&self_send, MPI_STATUS_IGNORE));
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
}

/* A call that a handler leaves keeps nothing of its communicator. It keeps its use of the handler, 40 bytes, which
   LeakSanitizer tells. */
#ifndef __SANITIZE_ADDRESS__
static jmp_buf before;
static int deleted;
static void leave(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  longjmp(before, 1);
}
static int note_deletion(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}
static void left_by_jumps(void) {
  int key;
  MPI_Errhandler handler;
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_deletion, &key, NULL));
  CHECK_OK(MPI_Comm_create_errhandler(leave, &handler));
  for (volatile int i = 0; i < 4; ++i) {
    MPI_Comm copy;
    MPI_Request request;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    CHECK_OK(MPI_Comm_set_errhandler(copy, handler));
    CHECK_OK(MPI_Comm_set_attr(copy, key, NULL));
    if (setjmp(before) == 0) {
      if (i == 0) MPI_Send(NULL, 0, MPI_INT, 0, -5, copy);
      if (i == 1) MPI_Isend(NULL, 0, MPI_INT, 1000, 0, copy, &request);
      if (i == 2) MPI_Bcast(NULL, -1, MPI_INT, 0, copy);
      if (i == 3) MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER);
      CHECK(!"the call has returned");
    }
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_EQ(deleted, i + 1);
  }
  CHECK_OK(MPI_Errhandler_free(&handler));
  CHECK_OK(MPI_Comm_free_keyval(&key));
}
#endif

/* A thread raises errors while another one changes the handler: each error meets one of them, whole. */
static atomic_int raised;
static void count(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  atomic_fetch_add(&raised, 1);
}

static void* raise_errors(void* comm) {
  for (int k = 0; k < 2000; ++k) wrong_call(*(MPI_Comm*)comm);
  return NULL;
}

static void from_two_threads(MPI_Comm comm) {
  pthread_t thread;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  pthread_create(&thread, NULL, raise_errors, &comm);
  for (int k = 0; k < 1000; ++k) {
    MPI_Errhandler mine;
    MPI_Comm_create_errhandler(count, &mine);
    MPI_Comm_set_errhandler(comm, mine);
    MPI_Errhandler_free(&mine);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  pthread_join(thread, NULL);
  CHECK(atomic_load(&raised) <= 2000);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL, other, got;
  MPI_Comm comm, child;

  /* The default is that errors are fatal. */
  CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
  CHECK(got == MPI_ERRORS_ARE_FATAL);
  CHECK_OK(MPI_Errhandler_free(&got));
  CHECK(got == MPI_ERRHANDLER_NULL);
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ABORT));
  CHECK_OK(MPI_Comm_get_errhandler(comm, &got));
  CHECK(got == MPI_ERRORS_ABORT);
  CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_get_errhandler(comm, &got));
  CHECK(got == MPI_ERRORS_RETURN);

  /* The user's function: it gets the communicator and the error. */
  CHECK_OK(MPI_Comm_create_errhandler(note, &handler));
  CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
  wrong_call(comm);
  CHECK_EQ(calls, 1);
  CHECK(last_comm == comm);
  CHECK_EQ(last_class, MPI_ERR_RANK);
  CHECK_OK(MPI_Comm_get_errhandler(comm, &got));
  CHECK(got == handler);
  CHECK_OK(MPI_Errhandler_free(&got));

  /* It stays in force when its handle is gone, and is inherited. */
  CHECK_OK(MPI_Errhandler_free(&handler));
  CHECK(handler == MPI_ERRHANDLER_NULL);
  CHECK_OK(MPI_Comm_dup(comm, &child));
  wrong_call(child);
  CHECK_EQ(calls, 2);
  CHECK(last_comm == child);
  CHECK_OK(MPI_Comm_free(&child));
  CHECK_OK(MPI_Comm_split(comm, 0, 0, &child));
  wrong_call(child);
  CHECK_EQ(calls, 3);
  CHECK_OK(MPI_Comm_free(&child));

  /* Called by hand; the call itself succeeds. */
  CHECK_OK(MPI_Comm_call_errhandler(comm, MPI_ERR_TOPOLOGY));
  CHECK_EQ(calls, 4);
  CHECK_EQ(last_class, MPI_ERR_TOPOLOGY);

  /* Errors that belong to no communicator go to MPI_COMM_SELF. */
  int size;
  CHECK_OK(MPI_Comm_get_errhandler(comm, &handler));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
  CHECK_OK(MPI_Errhandler_free(&handler));
  MPI_Comm_size(MPI_COMM_NULL, &size);
  CHECK_EQ(calls, 5);
  CHECK_EQ(last_class, MPI_ERR_COMM);
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));

  /* What the function leaves in its second argument does not matter, but an error is returned. */
  CHECK_OK(MPI_Comm_create_errhandler(change_code, &other));
  CHECK_OK(MPI_Comm_set_errhandler(comm, other));
  int value = 0;
  CHECK(MPI_Send(&value, 1, MPI_INT, 1000, 0, comm) != MPI_SUCCESS);
  CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));

  /* Wrong arguments. */
  MPI_Errhandler null = MPI_ERRHANDLER_NULL, stale = other;
  CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_NULL, MPI_ERRORS_RETURN), MPI_ERR_COMM);
  CHECK(MPI_Comm_set_errhandler(comm, MPI_ERRHANDLER_NULL) != MPI_SUCCESS);
  CHECK(MPI_Errhandler_free(&null) != MPI_SUCCESS);
  CHECK_OK(MPI_Errhandler_free(&other));
  CHECK(MPI_Comm_set_errhandler(comm, stale) != MPI_SUCCESS);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  of_other_kinds(comm);
  of_operations(comm);
  from_two_threads(comm);
#ifndef __SANITIZE_ADDRESS__
  left_by_jumps();
#endif
  CHECK_OK(MPI_Comm_free(&comm));
  MPI_Finalize();
  return check_result();
}
