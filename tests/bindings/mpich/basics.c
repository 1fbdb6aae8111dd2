/* What a program that was compiled for MPICH's ABI expects: handles, statuses, constants, callbacks. Compiled
 * with MPICH's own mpi.h. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A handle of no datatype. Open MPI's are addresses of objects: one of another kind of handle. */
#ifdef OPEN_MPI
#define NO_TYPE ((MPI_Datatype)(void*)MPI_COMM_WORLD)
#else
#define NO_TYPE ((MPI_Datatype)0x4c0000ff)
#endif

static int rank, size;

#define CHECK(what)                                                                   \
  do {                                                                                \
    if (!(what)) {                                                                    \
      fprintf(stderr, "rank %d, line %d: %s does not hold\n", rank, __LINE__, #what); \
      MPI_Abort(MPI_COMM_WORLD, 3);                                                   \
    }                                                                                 \
  } while (0)

/* MPICH's own datatype for half precision, of which mpi4py's wheels make numpy's. */
static void half_precision(void) {
#ifdef MPIX_C_FLOAT16
  const unsigned short two = 0x4000;
  unsigned short power = 0;
  int bytes = 0;
  MPI_Type_size(MPIX_C_FLOAT16, &bytes);
  CHECK(bytes == 2);
  MPI_Allreduce(&two, &power, 1, MPIX_C_FLOAT16, MPI_PROD, MPI_COMM_WORLD);
  CHECK(power == 0x3c00 + (size << 10));
  power = 0;
  MPI_Allreduce(&two, &power, 1, MPI_REAL2, MPI_PROD, MPI_COMM_WORLD);
  CHECK(power == 0x3c00 + (size << 10));
#endif
}

static void messages(void) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  int out[3] = {rank, rank + 1, rank + 2}, in[5] = {0}, count = 0, flag = 1;
  MPI_Status status;
  MPI_Request request;
  status.MPI_ERROR = 1234;
  MPI_Isend(out, 3, MPI_INT, right, 7, MPI_COMM_WORLD, &request);
  CHECK(request != MPI_REQUEST_NULL);
  MPI_Recv(in, 5, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 7 && status.MPI_ERROR == 1234);
  CHECK(in[0] == left && in[2] == left + 2);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 3);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  CHECK(count == MPI_UNDEFINED);
  MPI_Get_elements(&status, MPI_SHORT, &count);
  CHECK(count == 6);
  MPI_Test_cancelled(&status, &flag);
  CHECK(flag == 0);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(request == MPI_REQUEST_NULL);

  MPI_Request requests[40];
  MPI_Status statuses[40];
  int got[20];
  for (int i = 0; i < 20; ++i) MPI_Irecv(&got[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < 20; ++i) MPI_Isend(&out[0], 1, MPI_INT, right, i, MPI_COMM_WORLD, &requests[20 + i]);
  int index = -1;
  MPI_Waitany(40, requests, &index, statuses);
  CHECK(index >= 0 && index < 40 && requests[index] == MPI_REQUEST_NULL);
  MPI_Waitall(40, requests, statuses);
  for (int i = 0; i < 20; ++i) {
    CHECK(got[i] == left && requests[i] == MPI_REQUEST_NULL && requests[20 + i] == MPI_REQUEST_NULL);
    CHECK(i == index || (statuses[i].MPI_SOURCE == left && statuses[i].MPI_TAG == i));
  }
  MPI_Waitall(40, requests, MPI_STATUSES_IGNORE);

  MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
  MPI_Sendrecv(out, 1, MPI_INT, right, 1, in, 1, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  CHECK(in[0] == left && status.MPI_TAG == 1);

  MPI_Message message;
  MPI_Isend(out, 2, MPI_INT, right, 9, MPI_COMM_WORLD, &request);
  MPI_Mprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &message, &status);
  CHECK(message != MPI_MESSAGE_NULL && status.MPI_SOURCE == left);
  MPI_Mrecv(in, 2, MPI_INT, &message, &status);
  CHECK(message == MPI_MESSAGE_NULL && in[1] == left + 1);
  MPI_Wait(&request, &status);
  MPI_Mprobe(MPI_PROC_NULL, 9, MPI_COMM_WORLD, &message, &status);
  CHECK(message == MPI_MESSAGE_NO_PROC);

  MPI_Irecv(in, 1, MPI_INT, left, 77, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  CHECK(flag == 1);
}

static void communicators(void) {
  MPI_Comm half = MPI_COMM_NULL, node, cart, copy;
  MPI_Group world, evens;
  int r = -1, n = -1, result = -1, topology = -1, source, destination, dims[1] = {0}, periods[1] = {0},
      ranks[2] = {0, MPI_PROC_NULL};
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_rank(half, &r);
  MPI_Comm_size(half, &n);
  CHECK(n == (size + 1 - rank % 2) / 2 && r == n - 1 - rank / 2);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, 0, &copy);
  CHECK((copy == MPI_COMM_NULL) == (rank == 0));
  if (copy != MPI_COMM_NULL) MPI_Comm_free(&copy);
  MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
  CHECK(result == MPI_IDENT);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_compare(MPI_COMM_WORLD, copy, &result);
  CHECK(result == MPI_CONGRUENT);
  MPI_Comm_split_type(copy, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &n);
  CHECK(n == size);
  MPI_Comm_free(&node);
  MPI_Dims_create(size, 1, dims);
  MPI_Cart_create(copy, 1, dims, periods, 0, &cart);
  MPI_Topo_test(cart, &topology);
  CHECK(topology == MPI_CART);
  MPI_Topo_test(copy, &topology);
  CHECK(topology == MPI_UNDEFINED);
  MPI_Cart_shift(cart, 0, 1, &source, &destination);
  CHECK(source == (rank == 0 ? MPI_PROC_NULL : rank - 1) &&
        destination == (rank == size - 1 ? MPI_PROC_NULL : rank + 1));
  MPI_Comm_free(&cart);
  CHECK(cart == MPI_COMM_NULL);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, ranks, &evens);
  MPI_Group_compare(world, evens, &result);
  CHECK(result == (size == 1 ? MPI_IDENT : MPI_UNEQUAL));
  int given[2];
  MPI_Group_translate_ranks(world, 2, ranks, evens, given);
  CHECK(given[0] == 0 && given[1] == MPI_PROC_NULL);
  MPI_Group_rank(evens, &r);
  CHECK(r == (rank == 0 ? 0 : MPI_UNDEFINED));
  MPI_Group_free(&evens);
  MPI_Group_free(&world);
  CHECK(world == MPI_GROUP_NULL);

  MPI_Comm graph;
  int neighbour = (rank + 1) % size, from = (rank + size - 1) % size, weight = 5;
  MPI_Dist_graph_create_adjacent(copy, 1, &from, MPI_UNWEIGHTED, 1, &neighbour, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                 0, &graph);
  int in, out, weighted = 1;
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  CHECK(in == 1 && out == 1 && weighted == 0);
  int mine = rank, theirs = -1, one = 1;
  MPI_Aint zero = 0;
  MPI_Datatype type = MPI_INT;
  MPI_Neighbor_alltoallw(&mine, &one, &zero, &type, &theirs, &one, &zero, &type, graph);
  CHECK(theirs == from);
  MPI_Comm_free(&graph);
  MPI_Dist_graph_create_adjacent(copy, 1, &from, &weight, 1, &neighbour, &weight, MPI_INFO_NULL, 0, &graph);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  CHECK(weighted == 1);
  MPI_Comm_free(&graph);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&half);
}

static int op_calls;
static void largest(void* in, void* inout, int* count, MPI_Datatype* type) {
  ++op_calls;
  if (*type != MPI_DOUBLE) MPI_Abort(MPI_COMM_WORLD, 4);
  for (int i = 0; i < *count; ++i)
    if (((double*)in)[i] > ((double*)inout)[i]) ((double*)inout)[i] = ((double*)in)[i];
}

static void collectives(void) {
  int one = 1, sum = 0;
  double value = rank, most = -1;
  MPI_Op op;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == size);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK(sum == size);
  struct {
    double d;
    int i;
  } pair = {1.0 - rank, rank}, found;
  MPI_Allreduce(&pair, &found, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  CHECK(found.i == size - 1);
  MPI_Op_create(largest, 1, &op);
  MPI_Allreduce(&value, &most, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
  CHECK(most == size - 1);
  MPI_Op_free(&op);
  CHECK(op == MPI_OP_NULL);
  MPI_Bcast(&sum, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
  int* all = malloc(sizeof(int) * 4 * size);
  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) CHECK(all[i] == i);
  MPI_Datatype* types = malloc(sizeof(MPI_Datatype) * size);
  int* counts = malloc(sizeof(int) * size);
  int* places = malloc(sizeof(int) * size);
  for (int i = 0; i < size; ++i)
    types[i] = MPI_INT, counts[i] = 1, places[i] = 4 * i, all[i] = 100 * rank + i;
  MPI_Request request;
  MPI_Ialltoallw(all, counts, places, types, all + size, counts, places, types, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < size; ++i) CHECK(all[size + i] == 100 * i + rank);
  free(types), free(counts), free(places), free(all);
}

static void datatypes(void) {
  MPI_Datatype vector, two, sub, types[1];
  int matrix[12], column[3] = {1, 2, 3}, bytes, integers[10], combiner, n[3], order = -1;
  const int sizes[2] = {3, 4}, parts[2] = {3, 1}, starts[2] = {0, 2};
  MPI_Aint lower, extent, addresses[1];
  memset(matrix, 0, sizeof matrix);
  MPI_Type_vector(3, 1, 4, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  MPI_Type_size(vector, &bytes);
  CHECK(bytes == 12);
  MPI_Sendrecv(column, 3, MPI_INT, 0, 0, matrix + 1, 1, vector, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  CHECK(matrix[1] == 1 && matrix[5] == 2 && matrix[9] == 3 && matrix[2] == 0);
  MPI_Type_get_envelope(vector, &n[0], &n[1], &n[2], &combiner);
  CHECK(combiner == MPI_COMBINER_VECTOR && n[0] == 3 && n[2] == 1);
  MPI_Type_get_contents(vector, 3, 0, 1, integers, addresses, types);
  CHECK(integers[0] == 3 && integers[2] == 4 && types[0] == MPI_INT);
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &sub);
  MPI_Type_get_envelope(sub, &n[0], &n[1], &n[2], &combiner);
  CHECK(combiner == MPI_COMBINER_SUBARRAY);
  MPI_Type_get_contents(sub, n[0], n[1], n[2], integers, addresses, types);
  order = integers[n[0] - 1];
  CHECK(order == MPI_ORDER_C && integers[0] == 2 && integers[2] == 4);
  MPI_Type_create_resized(vector, 0, 4, &two);
  MPI_Type_get_extent(two, &lower, &extent);
  CHECK(lower == 0 && extent == 4);
  MPI_Type_free(&two);
  MPI_Type_free(&sub);
  MPI_Type_free(&vector);
  CHECK(vector == MPI_DATATYPE_NULL);
}

static int copies, deletions;
static int copy(MPI_Comm comm, int key, void* extra, void* value, void* out, int* flag) {
  copies += comm == MPI_COMM_WORLD && extra == &copies && key != MPI_KEYVAL_INVALID;
  *(void**)out = (char*)value + 1;
  *flag = 1;
  return MPI_SUCCESS;
}
static int destroy(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value;
  deletions += extra == &copies;
  return MPI_SUCCESS;
}

static void attributes(void) {
  int key = MPI_KEYVAL_INVALID, dup_key, flag = 0, *number = NULL;
  char* value = NULL;
  char data[8];
  MPI_Comm other;
  MPI_Comm_create_keyval(copy, destroy, &key, &copies);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup_key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, data);
  MPI_Comm_set_attr(MPI_COMM_WORLD, dup_key, data);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_get_attr(other, key, &value, &flag);
  CHECK(flag && value == data + 1 && copies == 1);
  MPI_Comm_get_attr(other, dup_key, &value, &flag);
  CHECK(flag && value == data);
  MPI_Comm_free(&other);
  CHECK(deletions == 1);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, dup_key);
  MPI_Comm_free_keyval(&key);
  CHECK(key == MPI_KEYVAL_INVALID);
  MPI_Comm_free_keyval(&dup_key);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &number, &flag);
  CHECK(flag && *number >= 32767);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &number, &flag);
  CHECK(flag && *number >= MPI_ERR_LASTCODE);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &number, &flag);
  CHECK(!flag || *number == MPI_PROC_NULL || *number >= 0);
}

/* The values of a window's attributes are its own, and stay as long as it is there. */
static void window_attributes(void) {
  static int memory[2];
  int *flavors[2], *models[2], flag = 0;
  void* allocated = NULL;
  MPI_Win wins[2];
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &wins[0]);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &wins[1]);
  for (int i = 0; i < 2; ++i) {
    MPI_Win_get_attr(wins[i], MPI_WIN_CREATE_FLAVOR, &flavors[i], &flag);
    CHECK(flag);
    MPI_Win_get_attr(wins[i], MPI_WIN_MODEL, &models[i], &flag);
    CHECK(flag && (*models[i] == MPI_WIN_UNIFIED || *models[i] == MPI_WIN_SEPARATE));
  }
  CHECK(*flavors[0] == MPI_WIN_FLAVOR_CREATE && *flavors[1] == MPI_WIN_FLAVOR_ALLOCATE);
  for (int i = 0; i < 2; ++i) MPI_Win_free(&wins[i]);
}

static int errors, class_seen;
static void note(MPI_Comm* comm, int* code, ...) {
  errors += *comm == MPI_COMM_WORLD;
  MPI_Error_class(*code, &class_seen);
}

static void failures(void) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0, code, class = -1, added, in[2];
  MPI_Errhandler handler, before;
  MPI_Status status;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  CHECK(before == MPI_ERRORS_ARE_FATAL);
  MPI_Comm_create_errhandler(note, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
  code = MPI_Send(in, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
  CHECK(code != MPI_SUCCESS && errors == 1 && class_seen == MPI_ERR_RANK);
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_RANK);
  MPI_Error_string(code, text, &length);
  CHECK(strstr(text, "MPI_Send") != NULL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  code = MPI_Wait(NULL, &status);
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_REQUEST || class == MPI_ERR_ARG);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  code = MPI_Recv(in, 1, NO_TYPE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_TYPE);
  MPI_Request request;
  const int out[2] = {1, 2};
  MPI_Isend(out, 2, MPI_INT, rank, 3, MPI_COMM_WORLD, &request);
  code = MPI_Recv(in, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &status);
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_TRUNCATE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request both[2];
  MPI_Irecv(in, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, &both[0]);
  MPI_Isend(out, 2, MPI_INT, rank, 4, MPI_COMM_WORLD, &both[1]);
  CHECK(MPI_Waitall(2, both, MPI_STATUSES_IGNORE) == MPI_ERR_IN_STATUS);
  MPI_Add_error_class(&added);
  CHECK(added > MPI_ERR_LASTCODE);
  MPI_Add_error_code(added, &code);
  MPI_Add_error_string(code, "of our own");
  MPI_Error_string(code, text, &length);
  CHECK(strcmp(text, "of our own") == 0);
  MPI_Error_class(code, &class);
  CHECK(class == added);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static int query(void* extra, MPI_Status* status) {
  (void)extra;
  MPI_Status_set_elements(status, MPI_INT, 5);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_PROC_NULL;
  status->MPI_TAG = 42;
  return MPI_SUCCESS;
}
static int freed;
static int release(void* extra) { return ++*(int*)extra, MPI_SUCCESS; }
static int cancel(void* extra, int complete) { return (void)extra, (void)complete, MPI_SUCCESS; }

static void others(void) {
  MPI_Request request;
  MPI_Status status;
  MPI_Info info;
  int count = 0, flag = 0, level = -1, length, version, subversion;
  char value[MPI_MAX_INFO_VAL], name[MPI_MAX_PROCESSOR_NAME], library[MPI_MAX_LIBRARY_VERSION_STRING],
      key[MPI_MAX_INFO_KEY];
  MPI_Grequest_start(query, release, cancel, &freed, &request);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 5 && status.MPI_TAG == 42 && status.MPI_SOURCE == MPI_PROC_NULL && freed == 1);
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  MPI_Info_get(info, "key", sizeof value - 1, value, &flag);
  CHECK(flag && strcmp(value, "value") == 0);
  MPI_Info_get_nthkey(info, 0, key);
  CHECK(strcmp(key, "key") == 0);
  MPI_Info_free(&info);
  CHECK(info == MPI_INFO_NULL);
  MPI_Query_thread(&level);
  CHECK(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE);
  MPI_Get_processor_name(name, &length);
  CHECK((int)strlen(name) == length);
  MPI_Get_version(&version, &subversion);
  MPI_Get_library_version(library, &length);
  CHECK(strstr(library, "Clump") != NULL && (int)strlen(library) == length);
#ifdef OPEN_MPI
  CHECK(strncmp(library, "Open MPI v4.", 12) == 0);
  CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
#else
  CHECK(strncmp(library, "MPICH Version:\t5.", 17) == 0);
  CHECK(version >= 4);
#endif
  /* Special addresses are the program's, not the standard's. */
  MPI_Aint address;
  MPI_Get_address(MPI_IN_PLACE, &address);
  CHECK(address == (MPI_Aint)MPI_IN_PLACE);
  MPI_Get_address(MPI_BOTTOM, &address);
  CHECK(address == (MPI_Aint)MPI_BOTTOM);
  /* Longer than Open MPI's programs have room for. */
  char long_name[101], object[MPI_MAX_OBJECT_NAME];
  memset(long_name, 'x', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = '\0';
  MPI_Comm_set_name(MPI_COMM_SELF, long_name);
  MPI_Comm_get_name(MPI_COMM_SELF, object, &length);
  CHECK((int)strlen(object) == length && length > 60 && length <= 100);
  CHECK(strspn(object, "x") == strlen(object));
  CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  half_precision();
  messages();
  communicators();
  collectives();
  datatypes();
  attributes();
  window_attributes();
  failures();
  others();
  if (rank == 0) printf("all of it holds for %d ranks\n", size);
  return MPI_Finalize();
}
