/* Every function is called with NULL for each of its pointers: codes that pass an array before it is
   allocated, an address of a result that they do not want, or forget `displs`. Right, with MPI_ERRORS_RETURN:
   an error of a class that fits, whose text names the argument, or success where null_is_allowed.txt says so;
   and never a crash. With nothing NULL every call succeeds, but for those in `kRefused`, so that it is NULL
   alone that the others complain of.

   usage: a.out [first function [last]]   calls these alone, and names each

   With two ranks the communicator is MPI_COMM_WORLD, and both make the same mistake. What means something at
   the root only is for one rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NULL_IS_ALLOWED = 1, ONE_RANK = 2 };

struct pointer {
  const char* name;
  int flags;
};
struct function {
  const char* name;
  int (*call)(int null); /* the number of the pointer that is NULL, from 1; 0: none */
  int count;
  struct pointer pointers[20];
};

/* What the calls use. */
static int rank, other, size, one = 1, zero, data[256], other_data[256], results[256], comm_keyval,
                              type_keyval, pvar_class;
static char text[MPI_MAX_LIBRARY_VERSION_STRING > 8192 ? MPI_MAX_LIBRARY_VERSION_STRING : 8192];
static char cvar_name[256], pvar_name[256], category_name[256], event_name[256];
static MPI_Comm comm, cart, graph, dist_graph, inter;
static MPI_Group group, own_group, other_group;
static MPI_Datatype vector;
static MPI_Info info;
static MPI_Session session;
static MPI_Request requests[64];
static int request_count;
static MPI_T_enum enumeration;
static MPI_T_cvar_handle cvar;
static MPI_T_pvar_handle pvar;
static MPI_T_pvar_session pvar_session;
static MPI_T_event_registration registration;

/* Calls that are refused even with nothing NULL, and why. */
static const char* const kRefused[] = {
    "MPI_Abi_set_fortran_booleans", /* once in a program */
    "MPI_Abi_set_fortran_info",
    "MPI_Buffer_attach", /* there is one */
    "MPI_Comm_attach_buffer",
    "MPI_Session_attach_buffer",
    "MPI_Comm_remote_group", /* with one rank there is no intercommunicator */
    "MPI_Comm_remote_size",
    "MPI_Intercomm_merge",
    "MPI_Intercomm_create",
    "MPI_Intercomm_create_from_groups",
    "MPI_T_cvar_write", /* the first variable of each kind is constant */
    "MPI_T_pvar_readreset",
    "MPI_T_pvar_write",
};

static void need(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char words[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, words, &length);
  fprintf(stderr, "%s: %s\n", what, words);
  exit(2);
}
#define NEED(call) need(call, #call)

static void ignore_comm_error(MPI_Comm* c, int* code, ...) { (void)c, (void)code; }
static void ignore_file_error(MPI_File* c, int* code, ...) { (void)c, (void)code; }
static void ignore_win_error(MPI_Win* c, int* code, ...) { (void)c, (void)code; }
static void ignore_session_error(MPI_Session* c, int* code, ...) { (void)c, (void)code; }
static void add(void* in, void* out, int* n, MPI_Datatype* type) { (void)in, (void)out, (void)n, (void)type; }
static void add_large(void* in, void* out, MPI_Count* n, MPI_Datatype* type) {
  (void)in, (void)out, (void)n, (void)type;
}
static int query(void* state, MPI_Status* status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_INT, 0);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
static int let_go(void* state) { return (void)state, MPI_SUCCESS; }
static int do_cancel(void* state, int complete) { return (void)state, (void)complete, MPI_SUCCESS; }

static MPI_Comm new_comm(void) {
  MPI_Comm made;
  NEED(MPI_Comm_dup(comm, &made));
  return made;
}
static MPI_Group new_group(void) {
  MPI_Group made;
  NEED(MPI_Comm_group(comm, &made));
  return made;
}
static MPI_Op new_op(void) {
  MPI_Op made;
  NEED(MPI_Op_create(add, 1, &made));
  return made;
}
static MPI_Errhandler new_errhandler(void) {
  MPI_Errhandler made;
  NEED(MPI_Comm_create_errhandler(ignore_comm_error, &made));
  return made;
}
static MPI_Info new_info(void) {
  MPI_Info made;
  NEED(MPI_Info_create(&made));
  NEED(MPI_Info_set(made, "a key", "a value"));
  return made;
}
static MPI_Info with_key(void) { /* which a call may have deleted */
  NEED(MPI_Info_set(info, "a key", "a value"));
  return info;
}
static MPI_Session new_session(void) {
  MPI_Session made;
  NEED(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
  return made;
}
static MPI_Datatype new_type(void) {
  MPI_Datatype made;
  NEED(MPI_Type_contiguous(2, MPI_INT, &made));
  return made;
}
static int new_comm_keyval(void) {
  int made;
  NEED(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &made, NULL));
  return made;
}
static int new_type_keyval(void) {
  int made;
  NEED(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &made, NULL));
  return made;
}
static int new_error_class(void) {
  static int made;
  if (made == 0) NEED(MPI_Add_error_class(&made));
  return made;
}
static MPI_Request kept(MPI_Request made) {
  if (request_count < 64) requests[request_count++] = made;
  return made;
}
static MPI_Request new_request(void) {
  MPI_Request made;
  NEED(MPI_Recv_init(results, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &made));
  return kept(made);
}
static MPI_Request new_pending(void) {
  MPI_Request made;
  NEED(MPI_Irecv(results, 1, MPI_INT, 0, 4711, MPI_COMM_SELF, &made));
  return kept(made);
}
static MPI_Request new_partitioned(void) {
  MPI_Request made;
  NEED(MPI_Psend_init(data, 1, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, MPI_INFO_NULL, &made));
  NEED(MPI_Start(&made));
  return kept(made);
}
static MPI_Request new_partitioned_receive(void) {
  MPI_Request made;
  NEED(MPI_Precv_init(results, 1, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, MPI_INFO_NULL, &made));
  NEED(MPI_Start(&made));
  return kept(made);
}
/* What the calls have made and not ended themselves. */
static void end_requests(void) {
  for (int i = 0; i < request_count; ++i) {
    int done = 0;
    if (requests[i] == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&requests[i]);
    MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
    if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
  }
  request_count = 0;
}
static void complete(MPI_Request* request) { MPI_Wait(request, MPI_STATUS_IGNORE); }

static void* detached(void) { return data; }
static char room[2048 + MPI_BSEND_OVERHEAD];
static void attach(void) {
  MPI_Buffer_attach(room, 512);
  MPI_Comm_attach_buffer(comm, room + 512, 512);
  MPI_Session_attach_buffer(session, room + 1024, 512);
}
static void* attached(void** place) {
  attach();
  return place;
}

static MPI_T_cvar_handle new_cvar(void) {
  MPI_T_cvar_handle made;
  int count;
  NEED(MPI_T_cvar_handle_alloc(0, &comm, &made, &count));
  return made;
}
static MPI_T_pvar_session new_pvar_session(void) {
  MPI_T_pvar_session made;
  NEED(MPI_T_pvar_session_create(&made));
  return made;
}
static MPI_T_pvar_handle new_pvar(void) {
  MPI_T_pvar_handle made;
  int count;
  NEED(MPI_T_pvar_handle_alloc(pvar_session, 0, &comm, &made, &count));
  return made;
}

static MPI_T_event_registration new_registration(void) {
  MPI_T_event_registration made;
  NEED(MPI_T_event_handle_alloc(0, &comm, MPI_INFO_NULL, &made));
  return made;
}

static void prepare_tools(void) {
  int provided, length = sizeof cvar_name, bind, scope, verbosity;
  NEED(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  NEED(MPI_T_cvar_get_info(0, cvar_name, &length, &verbosity, NULL, NULL, NULL, NULL, &bind, &scope));
  length = sizeof pvar_name;
  NEED(MPI_T_pvar_get_info(0, pvar_name, &length, NULL, &pvar_class, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                           NULL));
  length = sizeof category_name;
  NEED(MPI_T_category_get_info(0, category_name, &length, NULL, NULL, NULL, NULL, NULL));
  length = sizeof event_name;
  NEED(MPI_T_event_get_info(0, event_name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  int count = 0;
  MPI_T_cvar_get_num(&count);
  for (int i = 0; i < count && enumeration == MPI_T_ENUM_NULL; ++i)
    MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, &enumeration, NULL, NULL, NULL, NULL);
  cvar = new_cvar();
  pvar_session = new_pvar_session();
  pvar = new_pvar();
  registration = new_registration();
}

static void prepare(void) {
  NEED(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  NEED(MPI_Comm_size(MPI_COMM_WORLD, &size));
  other = size - 1 - rank;
  NEED(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  NEED(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  NEED(MPI_Comm_dup(size == 1 ? MPI_COMM_SELF : MPI_COMM_WORLD, &comm));
  const int all[] = {size}, periods[] = {1};
  int index[64], edges[64];
  for (int i = 0; i < size; ++i) index[i] = i + 1, edges[i] = size - 1 - i;
  NEED(MPI_Cart_create(comm, 1, all, periods, 0, &cart));
  NEED(MPI_Graph_create(comm, size, index, edges, 0, &graph));
  NEED(MPI_Dist_graph_create_adjacent(comm, 1, &other, MPI_UNWEIGHTED, 1, &other, MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &dist_graph));
  inter = comm;
  if (size == 2) NEED(MPI_Intercomm_create(MPI_COMM_SELF, 0, comm, other, 3, &inter));
  NEED(MPI_Comm_group(comm, &group));
  NEED(MPI_Group_incl(group, 1, &rank, &own_group));
  NEED(MPI_Group_incl(group, 1, &other, &other_group));
  NEED(MPI_Type_vector(2, 1, 2, MPI_INT, &vector));
  info = new_info();
  session = new_session();
  comm_keyval = new_comm_keyval();
  type_keyval = new_type_keyval();
  prepare_tools();
  attach();
}

static int is_tools(const char* name) { return strncmp(name, "MPI_T_", 6) == 0; }

static int is_refused(const char* name) {
  size_t length = strlen(name);
  if (length > 2 && strcmp(name + length - 2, "_c") == 0) length -= 2;
  for (size_t i = 0; i < sizeof kRefused / sizeof *kRefused; ++i)
    if (strlen(kRefused[i]) == length && strncmp(kRefused[i], name, length) == 0) return 1;
  return 0;
}

/* Whether what has come of a call with NULL is right. */
static int is_right(const struct function* f, const struct pointer* p, int code) {
  char words[MPI_MAX_ERROR_STRING] = "", named[256];
  int length = 0, class = MPI_SUCCESS;
  if (code == MPI_SUCCESS) {
    if (p->flags & NULL_IS_ALLOWED) return 1;
    printf("%s: succeeds with %s = NULL, which null_is_allowed.txt does not have\n", f->name, p->name);
    return 0;
  }
  if (p->flags & NULL_IS_ALLOWED && !is_refused(f->name)) {
    MPI_Error_string(code, words, &length);
    printf("%s: %s = NULL is allowed, but: %s\n", f->name, p->name, words);
    return 0;
  }
  if (is_tools(f->name) || is_refused(f->name)) return 1;
  MPI_Error_class(code, &class);
  MPI_Error_string(code, words, &length);
  snprintf(named, sizeof named, "%s(%s = NULL): ", f->name, p->name);
  if (class > MPI_SUCCESS && class < MPI_ERR_LASTCODE && strncmp(words, named, strlen(named)) == 0) return 1;
  printf("%s: %s = NULL gives class %d, \"%s\"; expected a text that begins with \"%s\"\n", f->name, p->name,
         class, words, named);
  return 0;
}

static int try_one(const struct function* f, int aloud) {
  int wrong = 0;
  if (aloud) fprintf(stderr, "%s\n", f->name);
  const int code = f->call(0);
  end_requests();
  if (code != MPI_SUCCESS && !is_refused(f->name)) {
    char words[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, words, &length);
    printf("%s fails with nothing NULL: %s\n", f->name, words);
    ++wrong;
  }
  for (int i = 0; i < f->count; ++i) {
    if (size > 1 && f->pointers[i].flags & ONE_RANK) continue;
    if (aloud) fprintf(stderr, "  %s\n", f->pointers[i].name);
    wrong += !is_right(f, &f->pointers[i], f->call(i + 1));
    end_requests();
  }
  return wrong;
}

static int try_all(const struct function* functions, size_t count, int argc, char** argv) {
  MPI_Init(NULL, NULL);
  prepare();
  const char* const first = argc > 1 ? argv[1] : "";
  const char* const last = argc > 2 ? argv[2] : "~";
  int wrong = 0, calls = 0;
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(functions[i].name, first) < 0 || strcmp(functions[i].name, last) > 0) continue;
    wrong += try_one(&functions[i], argc > 1);
    calls += 1 + functions[i].count;
  }
  printf("%d calls, %d wrong\n", calls, wrong);
  NEED(MPI_T_finalize());
  NEED(MPI_Session_finalize(&session));
  NEED(MPI_Finalize());
  return wrong != 0;
}
