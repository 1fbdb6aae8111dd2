/* What the arguments of right_calls.py name: objects of all kinds, and what makes new ones. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, other, size, one = 1, zero, data[256], other_data[256], results[256], comm_keyval,
                              type_keyval, win_keyval, pvar_class;
static char text[MPI_MAX_LIBRARY_VERSION_STRING > 8192 ? MPI_MAX_LIBRARY_VERSION_STRING : 8192];
static char cvar_name[256], pvar_name[256], category_name[256], event_name[256];
static MPI_Comm comm, cart, graph, dist_graph, inter;
static MPI_Group group, own_group, other_group;
static MPI_Datatype vector;
static MPI_Info info;
static MPI_Win window, dynamic_window;
static MPI_File file;
static char own_path[64], other_path[72]; /* of the rank */
static MPI_Session session;
static MPI_Request requests[64];
static int request_count;
static MPI_T_enum enumeration;
static MPI_T_cvar_handle cvar;
static MPI_T_pvar_handle pvar;
static MPI_T_pvar_session pvar_session;
static MPI_T_event_registration registration;

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
static const char a_port[] = "a port";
static const char* open_port(void) {
  static char port[MPI_MAX_PORT_NAME];
  NEED(MPI_Open_port(MPI_INFO_NULL, port));
  return port;
}
static const char* new_name(void) {
  static char name[64];
  static int number;
  snprintf(name, sizeof name, "name %d of %d", ++number, rank);
  return name;
}
static const char* published_name(void) {
  const char* const name = new_name();
  NEED(MPI_Publish_name(name, MPI_INFO_NULL, a_port));
  return name;
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
static int new_win_keyval(void) {
  int made;
  NEED(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &made, NULL));
  return made;
}
/* Of the caller alone. */
static MPI_Win new_window(void) {
  static int memory[64];
  MPI_Win made;
  NEED(MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_SELF, &made));
  NEED(MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN));
  return made;
}
enum epoch { IDLE, LOCKED, LOCKED_ALL, STARTED, POSTED };
/* The window, in an epoch that a call needs; the call before may have ended the last one, or not. */
static MPI_Win in_epoch(enum epoch wanted) {
  MPI_Win_unlock(0, window);
  MPI_Win_unlock_all(window);
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  if (wanted == LOCKED) NEED(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
  if (wanted == LOCKED_ALL) NEED(MPI_Win_lock_all(0, window));
  if (wanted == STARTED) NEED(MPI_Win_start(MPI_GROUP_EMPTY, 0, window));
  if (wanted == POSTED) NEED(MPI_Win_post(MPI_GROUP_EMPTY, 0, window));
  return window;
}
static MPI_Win with_memory(int attached) {
  MPI_Win_detach(dynamic_window, data);
  if (attached) NEED(MPI_Win_attach(dynamic_window, data, 64));
  return dynamic_window;
}
/* Of the caller alone. It vanishes with the last handle. */
static MPI_File new_file(void) {
  MPI_File made;
  NEED(MPI_File_open(MPI_COMM_SELF, own_path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &made));
  return made;
}
static const char* existing_path(void) {
  MPI_File made;
  NEED(MPI_File_open(MPI_COMM_SELF, other_path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &made));
  NEED(MPI_File_close(&made));
  return other_path;
}
enum split { NONE, READ_ALL, WRITE_ALL, READ_AT_ALL, WRITE_AT_ALL, READ_ORDERED, WRITE_ORDERED };
/* The file, with this operation under way; the call before may have ended the last one, or not. */
static MPI_File in_split(enum split wanted) {
  MPI_File_read_all_end(file, results, MPI_STATUS_IGNORE);
  MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE);
  MPI_File_read_at_all_end(file, results, MPI_STATUS_IGNORE);
  MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE);
  MPI_File_read_ordered_end(file, results, MPI_STATUS_IGNORE);
  MPI_File_write_ordered_end(file, data, MPI_STATUS_IGNORE);
  if (wanted == READ_ALL) NEED(MPI_File_read_all_begin(file, results, 1, MPI_INT));
  if (wanted == WRITE_ALL) NEED(MPI_File_write_all_begin(file, data, 1, MPI_INT));
  if (wanted == READ_AT_ALL) NEED(MPI_File_read_at_all_begin(file, 0, results, 1, MPI_INT));
  if (wanted == WRITE_AT_ALL) NEED(MPI_File_write_at_all_begin(file, 0, data, 1, MPI_INT));
  if (wanted == READ_ORDERED) NEED(MPI_File_read_ordered_begin(file, results, 1, MPI_INT));
  if (wanted == WRITE_ORDERED) NEED(MPI_File_write_ordered_begin(file, data, 1, MPI_INT));
  return file;
}
static const char* new_representation(void) {
  static char name[32];
  static int made;
  snprintf(name, sizeof name, "representation %d", ++made);
  return name;
}
static int extent(MPI_Datatype type, MPI_Aint* bytes, void* state) {
  MPI_Aint lower;
  (void)state;
  return MPI_Type_get_extent(type, &lower, bytes);
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
  win_keyval = new_win_keyval();
  window = new_window();
  NEED(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &dynamic_window));
  NEED(MPI_Win_set_errhandler(dynamic_window, MPI_ERRORS_RETURN));
  snprintf(own_path, sizeof own_path, "/tmp/calls.%d.%d", (int)getpid(), rank);
  snprintf(other_path, sizeof other_path, "%s.other", own_path);
  file = new_file();
  prepare_tools();
  attach();
}
