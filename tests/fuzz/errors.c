/* Part errors: wrong programs that MPI lets go on (MPI_ERRORS_RETURN, or a handler of the program). A step
   makes one mistake, and looks at three things: the error class, the memory outside of what the call may
   write, and what comes after it, on the same communicator (messages) or on others (collectives). With
   check=1 it makes only mistakes that --check=error leaves to the program. */
#include <signal.h>
#include <sys/resource.h>

#include "comms.h"
#include "data.h"

enum { kTruncated, kCounts, kArguments, kObjects, kHandler, kNoRoom, kKinds };
static MPI_Comm comm, others[3];

static int class_of(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class;
}
static void expect(int code, int wanted, const char* what) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  CHECK(class_of(code) == wanted, "%s: error class %d, not %d: %s", what, class_of(code), wanted, text);
}

/* A longer message than the receive has room for. */
enum { kRecv, kIrecv, kWaitall, kMrecv, kInit, kSendrecv, kReceives };
static int receive(int way, void* buffer, int room, int from, int tag) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2];
  MPI_Message message;
  int code = MPI_SUCCESS, one = 1, back = 0;
  switch (way) {
    case kIrecv:
      MPI_Irecv(buffer, room, MPI_BYTE, from, tag, comm, &requests[0]);
      return MPI_Wait(&requests[0], &statuses[0]);
    case kWaitall:
      MPI_Irecv(&back, 1, MPI_INT, fuzz.rank, tag + 1, comm, &requests[0]);
      MPI_Irecv(buffer, room, MPI_BYTE, from, tag, comm, &requests[1]);
      MPI_Send(&one, 1, MPI_INT, fuzz.rank, tag + 1, comm);
      expect(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS,
             "MPI_Waitall of two receives, one too short");
      CHECK(back == 1 && statuses[0].MPI_ERROR == MPI_SUCCESS, "the other receive of MPI_Waitall has failed");
      return statuses[1].MPI_ERROR;
    case kMrecv:
      MPI_Mprobe(from, tag, comm, &message, &statuses[0]);
      return MPI_Mrecv(buffer, room, MPI_BYTE, &message, &statuses[0]);
    case kInit:
      MPI_Recv_init(buffer, room, MPI_BYTE, from, tag, comm, &requests[0]);
      MPI_Start(&requests[0]);
      code = MPI_Wait(&requests[0], &statuses[0]);
      MPI_Request_free(&requests[0]);
      return code;
    case kSendrecv:
      return MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, tag, buffer, room, MPI_BYTE, from, tag, comm,
                          &statuses[0]);
    default:
      return MPI_Recv(buffer, room, MPI_BYTE, from, tag, comm, &statuses[0]);
  }
}
static void truncated(Random* random) {
  const int source = below(random, fuzz.size), target = below(random, fuzz.size),
            way = below(random, kReceives), sends = below(random, 3), count = 1 + bytes_of(random, 400000),
            room = below(random, count), tag = 10 + 2 * fuzz_step;
  MPI_Request request = MPI_REQUEST_NULL;
  int next = 0;
  note("%d sends %d bytes to %d, which has room for %d (way %d, sent in way %d)", source, count, target, room,
       way, sends);
  char *out = malloc((size_t)count), *in = malloc((size_t)room + 128);
  fill(out, (size_t)count, (uint64_t)fuzz_step);
  if (source == fuzz.rank) {
    if (sends == 0 && source != target)
      expect(MPI_Send(out, count, MPI_BYTE, target, tag, comm), MPI_SUCCESS, "a send of too much");
    else if (sends == 1)
      MPI_Issend(out, count, MPI_BYTE, target, tag, comm, &request);
    else
      MPI_Isend(out, count, MPI_BYTE, target, tag, comm, &request);
  }
  if (target == fuzz.rank) {
    memset(in, 5, (size_t)room + 128);
    expect(receive(way, in + 64, room, source, tag), MPI_ERR_TRUNCATE, "a receive with too little room");
    for (int i = 0; i < 64; i++)
      CHECK(in[i] == 5 && in[64 + room + i] == 5, "a receive of %d bytes has written outside of its buffer",
            room);
  }
  if (source == fuzz.rank)
    expect(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS, "the wait for a send of too much");
  if (source == fuzz.rank) MPI_Isend(&count, 1, MPI_INT, target, tag, comm, &request);
  if (target == fuzz.rank) MPI_Recv(&next, 1, MPI_INT, source, tag, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(target != fuzz.rank || next == count, "the message after the one that was too long is wrong: %d",
        next);
  free(out);
  free(in);
}

/* A collective whose counts differ between the ranks, which all choose one algorithm. Blocks of the send
   buffer and of the receive buffer are `sent` and `room` ints; both buffers are as large as these say. */
enum { kGather, kScatter, kAllgather, kAlltoall, kOperations };
static const char* const kNames[] = {"MPI_Gather", "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall"};
static int call(int operation, int root, int* out, int sent, int* in, int room, MPI_Comm on) {
  switch (operation) {
    case kGather:
      return MPI_Gather(out, sent, MPI_INT, in, room, MPI_INT, root, on);
    case kScatter:
      return MPI_Scatter(out, sent, MPI_INT, in, room, MPI_INT, root, on);
    case kAllgather:
      return MPI_Allgather(out, sent, MPI_INT, in, room, MPI_INT, on);
    default:
      return MPI_Alltoall(out, sent, MPI_INT, in, room, MPI_INT, on);
  }
}
/* In the blocks of a receive buffer: what was sent, or -1 where nothing was. */
static void check_blocks(int operation, int root, const int* in, int blocks, int sent, int room) {
  for (int i = 0; i < blocks * room + 16; i++) {
    const int block = room > 0 ? i / room : 0, at = room > 0 ? i % room : 0,
              from = operation == kScatter ? root : block;
    const int may_be = i < blocks * room && at < sent ? from * 1000 + at % 1000 : -1;
    CHECK(in[i] == -1 || in[i] == may_be, "%s of %d ints into %d: int %d of block %d is %d, where %d may be",
          kNames[operation], sent, room, at, block, in[i], may_be);
  }
}
static void counts(Random* random) {
  static const int limits[] = {2, 20, 300, 5000, 60000};
  const int operation = below(random, kOperations), root = below(random, fuzz.size),
            most = limits[below(random, 5)], sent = between(random, 1, most), room = between(random, 1, most),
            receives = operation != kGather || root == fuzz.rank,
            blocks = !receives               ? 0
                     : operation == kScatter ? 1
                                             : fuzz.size;
  MPI_Comm fresh;
  note("%s, root %d, %d ints sent, %d received", kNames[operation], root, sent, room);
  MPI_Comm_dup(comm, &fresh);
  const int larger = sent > room ? sent : room;
  int *out = malloc(sizeof(int) * (size_t)(fuzz.size * sent)),
      *in = malloc(sizeof(int) * (size_t)((fuzz.size + 1) * larger + 16));
  for (int i = 0; i < fuzz.size * sent; i++) out[i] = fuzz.rank * 1000 + i % sent % 1000;
  for (int i = 0; i < (fuzz.size + 1) * larger + 16; i++) in[i] = -1;

  const int class = class_of(call(operation, root, out, sent, in, room, fresh));
  CHECK(class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE || class == MPI_ERR_COUNT || class == MPI_ERR_OTHER,
        "%s of %d ints into %d gives error class %d", kNames[operation], sent, room, class);
  check_blocks(operation, root, in, blocks, sent, room);
  for (int i = 0; i < 3; i++) {
    int sum = 0;
    MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, others[i]);
    CHECK(sum == sent * fuzz.size,
          "after %s of %d ints into %d: the sum over another communicator is %d, not %d", kNames[operation],
          sent, room, sum, sent * fuzz.size);
  }
  MPI_Comm_free(&fresh);
  free(out);
  free(in);
}

/* Wrong arguments: which class each gives. */
static void arguments(Random* random) {
  int x = 0, key = 12345678, flag = 0;
  void* got = NULL;
  MPI_Request request;
  MPI_Datatype type;

  switch (below(random, 13)) {
    case 0:
      return expect(MPI_Send(&x, 1, MPI_INT, fuzz.size, 0, comm), MPI_ERR_RANK,
                    "a send to a rank that is none");
    case 1:
      return expect(MPI_Send(&x, 1, MPI_INT, 0, -5, comm), MPI_ERR_TAG, "a send with a negative tag");
    case 2:
      return expect(MPI_Recv(&x, -1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_COUNT,
                    "a negative count");
    case 3:
      return expect(MPI_Bcast(&x, 1, MPI_INT, fuzz.size + 3, comm), MPI_ERR_ROOT, "a root that is none");
    case 4:
      return expect(MPI_Irecv(&x, 1, MPI_DATATYPE_NULL, 0, 0, comm, &request), MPI_ERR_TYPE, "no datatype");
    case 5:
      return expect(MPI_Allreduce(&x, &key, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP, "no operation");
    case 6:
      return expect(MPI_Send(NULL, 1, MPI_INT, 0, 0, comm), MPI_ERR_BUFFER, "no buffer");
    case 7:
      return expect(MPI_Comm_get_attr(comm, key, &got, &flag), MPI_ERR_KEYVAL, "a key that is none");
    case 8:
      MPI_Type_contiguous(3, MPI_INT, &type);
      expect(MPI_Send(&x, 0, type, 0, 0, comm), MPI_ERR_TYPE, "a type that is not committed");
      MPI_Type_free(&type);
      return;
    case 9:
      return expect(MPI_Type_contiguous(-2, MPI_INT, &type), MPI_ERR_COUNT, "a type of a negative count");
    case 10:
      return expect(MPI_Comm_free_keyval(&key), MPI_ERR_KEYVAL, "a key that is none, to be freed");
    case 11:
      return expect(MPI_Reduce(&x, &x, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_NULL), MPI_ERR_COMM,
                    "no communicator");
    default:
      return expect(MPI_Comm_split(comm, -7, 0, &others[0]), MPI_ERR_ARG, "a negative colour");
  }
}

/* Windows, files, infos. */
static void objects(Random* random) {
  MPI_File file;
  MPI_Info info;
  MPI_Win win;
  int x = 0;
  long* memory = NULL;
  char long_key[MPI_MAX_INFO_KEY + 20];
  switch (below(random, 3)) {
    case 0:
      MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
      expect(MPI_File_open(comm, "no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE,
             "a file that is not there");
      return;
    case 1:
      memset(long_key, 'k', sizeof long_key);
      long_key[MPI_MAX_INFO_KEY + 10] = '\0';
      MPI_Info_create(&info);
      expect(MPI_Info_set(info, long_key, "v"), MPI_ERR_INFO_KEY, "a key that is too long");
      expect(MPI_Info_delete(info, "k"), MPI_ERR_INFO_NOKEY, "a key that is not there");
      MPI_Info_free(&info);
      return;
    default:
      MPI_Win_allocate(80, 8, MPI_INFO_NULL, comm, &memory, &win);
      MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
      MPI_Win_lock_all(0, win);
      expect(MPI_Put(&x, 1, MPI_INT, 0, 10, 1, MPI_INT, win), MPI_ERR_RMA_RANGE, "a put behind the window");
      expect(MPI_Put(&x, 1, MPI_INT, fuzz.size, 0, 1, MPI_INT, win), MPI_ERR_RANK,
             "a put to a rank that is none");
      MPI_Win_unlock_all(win);
      expect(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC, "an unlock without a lock");
      MPI_Win_free(&win);
  }
}

static int handled;
static void count_errors(MPI_Comm* on, int* code, ...) {
  (void)on;
  handled += class_of(*code) == MPI_ERR_TAG;
}
static void calls_handler(Random* random) {
  MPI_Errhandler handler;
  MPI_Comm own;
  const int errors = between(random, 1, 9);
  handled = 0;
  MPI_Comm_create_errhandler(count_errors, &handler);
  MPI_Comm_dup(MPI_COMM_SELF, &own);
  MPI_Comm_set_errhandler(own, handler);
  MPI_Errhandler_free(&handler);
  for (int i = 0; i < errors; i++)
    expect(MPI_Send(NULL, 0, MPI_INT, 0, -1 - i, own), MPI_ERR_TAG, "a wrong tag");
  CHECK(handled == errors, "the error handler was called %d times, not %d", handled, errors);
  MPI_Comm_free(&own);
}

/* Windows for which there is no room: what was begun for them goes again. What stayed was 4 KB of each. Few
   tries: on a loaded machine one takes as long as the scheduler needs to run all ranks some six times. */
static long shared_kilobytes(void) {
  char line[200];
  long kilobytes = 0;
  FILE* status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) sscanf(line, "RssShmem: %ld", &kilobytes);
  if (status) fclose(status);
  return kilobytes;
}
static void no_room(void) {
  enum { kTries = 150, kFirst = 50, kMostKilobytes = 450 };
  struct rlimit was, limited;
  long before = 0;
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &was);
  MPI_Barrier(comm);
  limited = (struct rlimit){1 << 20, was.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limited);
  MPI_Barrier(comm);
  for (int i = -kFirst; i < kTries; i++) {
    MPI_Win win;
    void* memory = NULL;
    if (i == 0) before = shared_kilobytes();
    if (MPI_Win_allocate(10 << 20, 1, MPI_INFO_NULL, comm, &memory, &win) == MPI_SUCCESS) MPI_Win_free(&win);
  }
  const long grown = shared_kilobytes() - before;
  MPI_Barrier(comm);
  setrlimit(RLIMIT_FSIZE, &was);
  MPI_Barrier(comm);
  CHECK(grown < kMostKilobytes, "%d windows for which there is no room keep %ld KB", kTries, grown);
}

static void plan(int steps) {
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* for calls without a communicator */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 3; i++) MPI_Comm_dup(MPI_COMM_WORLD, &others[i]);
  for (int i = 0; i < steps; i++) {
    Random random = plan_of(i, 0);
    int kind = below(&random, 20) == 0 ? kNoRoom : below(&random, kNoRoom);
    if (!step_begins(i)) continue;
    if (number_option("check", 0) && kind <= kCounts) kind = kArguments;
    if (left_out(kind)) continue;
    if (kind >= kArguments) note("kind %d", kind);
    if (kind == kTruncated) truncated(&random);
    if (kind == kCounts) counts(&random);
    if (kind == kArguments) arguments(&random);
    if (kind == kObjects) objects(&random);
    if (kind == kHandler) calls_handler(&random);
    if (kind == kNoRoom) no_room();
  }
  for (int i = 0; i < 3; i++) MPI_Comm_free(&others[i]);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  fuzz_init(argc, argv, "errors");
  run_seeds(40, plan);
  MPI_Finalize();
  return 0;
}
