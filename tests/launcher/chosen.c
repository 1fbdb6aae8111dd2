/* Which algorithm a blocking allreduce uses, and a non-blocking one, as the performance variables tell:
   chosen BYTES... Each rank prints a line "BYTES blocking ALGORITHM" or "BYTES nonblocking ALGORITHM". With a
   second word, "BYTES:ALGORITHM", by a communicator whose info key asks for that one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 64 };
static const char kStart[] = "algorithm_";
static struct {
  char name[64];
  MPI_T_pvar_handle handle;
} meters[kMost];
static int meter_count;
static MPI_T_pvar_session session;

static void find_meters(void) {
  int count, provided;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_get_num(&count);
  for (int i = 0; i < count && meter_count < kMost; ++i) {
    char name[sizeof meters[0].name];
    int length = sizeof name, elements;
    MPI_T_pvar_get_info(i, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    if (strncmp(name, kStart, strlen(kStart)) != 0) continue;
    strcpy(meters[meter_count].name, name + strlen(kStart));
    MPI_T_pvar_handle_alloc(session, i, NULL, &meters[meter_count].handle, &elements);
    ++meter_count;
  }
}

static void reset(void) {
  for (int i = 0; i < meter_count; ++i) {
    MPI_T_pvar_start(session, meters[i].handle);
    MPI_T_pvar_reset(session, meters[i].handle);
  }
}

static void print_used(int bytes, const char* form) {
  for (int i = 0; i < meter_count; ++i) {
    unsigned long long used = 0;
    MPI_T_pvar_read(session, meters[i].handle, &used);
    if (used > 0) printf("%d %s %s\n", bytes, form, meters[i].name);
  }
}

static MPI_Comm with_wish(const char* algorithm) {
  MPI_Comm comm;
  MPI_Info info;
  MPI_Info_create(&info);
  if (algorithm != NULL) MPI_Info_set(info, "clump_allreduce_algorithm", algorithm);
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  MPI_Info_free(&info);
  return comm;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  find_meters();
  for (int i = 1; i < argc; ++i) {
    const char* const colon = strchr(argv[i], ':');
    const int bytes = atoi(argv[i]), count = bytes / (int)sizeof(double);
    double* const in = calloc((size_t)count + 1, sizeof(double));
    double* const out = calloc((size_t)count + 1, sizeof(double));
    MPI_Comm comm = with_wish(colon != NULL ? colon + 1 : NULL);
    MPI_Request request;
    reset();
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
    print_used(bytes, "blocking");
    reset();
    MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    print_used(bytes, "nonblocking");
    MPI_Comm_free(&comm);
    free(out);
    free(in);
  }
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
