/* Every function is called with a bad value for each argument that its entry point checks, and right values
   elsewhere: handles that are null or were freed, ranks and tags that there are not, negative counts, types
   that are not committed, buffers that are none, results that overlap the data. Right, with
   MPI_ERRORS_RETURN: the standard's error class, and a text that begins with the call, the argument and its
   value. Afterwards the communicator is as good as before.

   usage: a.out [first function [last]]   calls these alone, and names each

   With two ranks the communicator is MPI_COMM_WORLD, and both make the same mistake. What means something at
   the root only is for one rank; two are needed for an intercommunicator. */
#include "right_calls.h"

enum { ONE_RANK = 1, TWO_RANKS = 2 };

struct bad {
  const char* what;
  int flags, class;
  const char* begins; /* the text of the error */
  const char* has;
};
struct function {
  const char* name;
  int (*call)(int wrong); /* the number of the row in `bad`, from 1 */
  int count;
  const struct bad* bad;
};

static MPI_Comm freed_comm;
static MPI_Datatype freed_datatype, uncommitted;
static MPI_Group freed_group;
static MPI_Op freed_op;
static MPI_Errhandler freed_errhandler, comm_errhandler, session_errhandler;
static MPI_Info freed_info;
static MPI_Session freed_session;
static MPI_Win freed_win;
static MPI_File freed_file;

static void prepare_bad(void) {
  MPI_Comm own_comm = freed_comm = new_comm();
  NEED(MPI_Comm_free(&own_comm));
  MPI_Datatype own_type = freed_datatype = new_type();
  NEED(MPI_Type_free(&own_type));
  MPI_Group own_group = freed_group = new_group();
  NEED(MPI_Group_free(&own_group));
  MPI_Op own_op = freed_op = new_op();
  NEED(MPI_Op_free(&own_op));
  MPI_Errhandler own_errhandler = freed_errhandler = new_errhandler();
  NEED(MPI_Errhandler_free(&own_errhandler));
  MPI_Info own_info = freed_info = new_info();
  NEED(MPI_Info_free(&own_info));
  MPI_Win own_win = freed_win = new_window();
  NEED(MPI_Win_free(&own_win));
  MPI_File own_file = freed_file = new_file();
  NEED(MPI_File_close(&own_file));
  MPI_Session own_session = freed_session = new_session();
  NEED(MPI_Session_finalize(&own_session));
  uncommitted = new_type();
  comm_errhandler = new_errhandler();
  NEED(MPI_Session_create_errhandler(ignore_session_error, &session_errhandler));
}

static int is_right(const struct function* f, const struct bad* b, int code) {
  char words[MPI_MAX_ERROR_STRING] = "";
  int length = 0, class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) {
    MPI_Error_class(code, &class);
    MPI_Error_string(code, words, &length);
  }
  if (class == b->class && strncmp(words, b->begins, strlen(b->begins)) == 0 && strstr(words, b->has))
    return 1;
  printf(
      "%s: %s gives class %d, \"%s\"; expected class %d, and a text that begins with \"%s\" and has \"%s\"\n",
      f->name, b->what, class, words, b->class, b->begins, b->has);
  return 0;
}

/* All ranks still understand each other. */
static int is_good(void) {
  int sum = 0;
  NEED(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
  return sum == size;
}

static int try_all(const struct function* functions, size_t count, int argc, char** argv) {
  MPI_Init(NULL, NULL);
  prepare();
  prepare_bad();
  const char* const first = argc > 1 ? argv[1] : "";
  const char* const last = argc > 2 ? argv[2] : "~";
  int wrong = 0, calls = 0;
  for (size_t i = 0; i < count; ++i) {
    const struct function* const f = &functions[i];
    if (strcmp(f->name, first) < 0 || strcmp(f->name, last) > 0) continue;
    for (int k = 0; k < f->count; ++k) {
      if (f->bad[k].flags & (size == 1 ? TWO_RANKS : ONE_RANK)) continue;
      if (argc > 1) fprintf(stderr, "%s: %s\n", f->name, f->bad[k].what);
      wrong += !is_right(f, &f->bad[k], f->call(k + 1));
      end_requests();
      ++calls;
    }
    /* Also keeps the ranks in step: a process keeps the texts of its last 1,024 errors. */
    if (!is_good()) printf("after %s a sum is wrong\n", f->name), ++wrong;
  }
  printf("%d calls, %d wrong\n", calls, wrong);
  NEED(MPI_T_finalize());
  in_split(NONE);
  NEED(MPI_File_close(&file));
  NEED(MPI_Session_finalize(&session));
  NEED(MPI_Finalize());
  return wrong != 0;
}
