/* families SECONDS [SEED]: 2 to 8 threads of each rank use functions of all families at the same time, on
   objects of their own and, where the standard lets them, on objects that the threads of the rank share
   (docs/threads-of-a-rank.md). Thread i of each rank has a communicator with the threads i of the others;
   what they do together is drawn alike, and all else by each thread for itself. */
#include "../own_core.h"

#include "families.h"

/* What all threads of a rank share. */
static MPI_Comm shared_comm;
static MPI_Win shared_win, lock_win; /* locked for all; locked by each thread for itself */
static MPI_Info shared_info;
static MPI_Datatype shared_type;
static MPI_Group shared_group;
static MPI_File shared_file;
static MPI_Session shared_session;
static MPI_Errhandler shared_handler;
static int shared_keys[3];        /* of communicators, types and windows */
static long lock_added[kThreads]; /* by each thread, to the counters of lock_win */

/* Chapter 7.7: keys of its own on shared objects, and a shared key whose values threads take from each other.
 */
static void attributes(Thread* me) {
  int key, flag = 0;
  void* value = NULL;
  const long mine = 1 + random_below(&me->own, 1000);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(shared_comm, key, (void*)mine);
  MPI_Comm_get_attr(shared_comm, key, &value, &flag);
  STRESS_CHECK(flag && (long)value == mine);
  if (mine % 2 == 0) {
    MPI_Comm_free_keyval(&key); /* the attribute stays until the communicator goes */
  } else {
    MPI_Comm_delete_attr(shared_comm, key);
    MPI_Comm_free_keyval(&key);
  }
  atomic_fetch_add(&attributes_set, 3 * mine);
  MPI_Comm_set_attr(shared_comm, shared_keys[0], (void*)mine);
  MPI_Type_set_attr(shared_type, shared_keys[1], (void*)mine);
  MPI_Win_set_attr(shared_win, shared_keys[2], (void*)mine);
  MPI_Comm_get_attr(shared_comm, shared_keys[0], &value, &flag);
  STRESS_CHECK(!flag || (long)value > 0);
  MPI_Type_get_attr(shared_type, shared_keys[1], &value, &flag);
  STRESS_CHECK(!flag || (long)value > 0);
  if (mine % 3 == 0) MPI_Comm_delete_attr(shared_comm, shared_keys[0]);
  if (mine % 3 == 1) MPI_Type_delete_attr(shared_type, shared_keys[1]);
  if (mine % 3 == 2) MPI_Win_delete_attr(shared_win, shared_keys[2]);
  MPI_Comm_get_attr(shared_comm, MPI_TAG_UB, &value, &flag);
  STRESS_CHECK(flag && *(int*)value >= 32767);
}

/* A name is of one letter, which tells what is none of those that were set. */
static void check_name(const char* name, int length) {
  for (int i = 0; i < length; ++i) STRESS_CHECK(name[i] == name[0]);
  STRESS_CHECK(name[length] == '\0');
}

static void names(Thread* me) {
  char name[MPI_MAX_OBJECT_NAME], found[MPI_MAX_OBJECT_NAME];
  int length = 0;
  memset(name, 'a' + me->number, sizeof name);
  name[1 + random_below(&me->own, MPI_MAX_OBJECT_NAME - 1)] = '\0';
  MPI_Comm_set_name(shared_comm, name);
  MPI_Win_set_name(shared_win, name);
  MPI_Type_set_name(shared_type, name);
  MPI_Comm_get_name(shared_comm, found, &length);
  check_name(found, length);
  MPI_Win_get_name(shared_win, found, &length);
  check_name(found, length);
  MPI_Type_get_name(shared_type, found, &length);
  check_name(found, length);
}

static void infos(Thread* me) {
  char key[32], value[32], found[64];
  int length = sizeof found, flag = 0, keys = 0;
  MPI_Info copy;
  snprintf(key, sizeof key, "key %d", me->number);
  snprintf(value, sizeof value, "%d", random_below(&me->own, 1000000));
  MPI_Info_set(shared_info, key, value);
  MPI_Info_dup(shared_info, &copy);
  MPI_Info_get_string(copy, key, &length, found, &flag);
  STRESS_CHECK(flag && strcmp(found, value) == 0);
  MPI_Info_get_nkeys(copy, &keys);
  for (int i = 0; i < keys; ++i) MPI_Info_get_nthkey(copy, i, found);
  MPI_Info_free(&copy);
  MPI_Info_delete(shared_info, key);
  MPI_Comm_get_info(shared_comm, &copy);
  MPI_Info_free(&copy);
  MPI_Win_get_info(shared_win, &copy);
  MPI_Info_free(&copy);
}

static void groups(Thread* me) {
  MPI_Group mine, others, both;
  int order[kMostRanks], rank, size, result;
  for (int i = 0; i < stress_size; ++i) order[i] = stress_size - 1 - i;
  MPI_Group_incl(shared_group, 1 + random_below(&me->own, stress_size), order, &mine);
  MPI_Group_difference(shared_group, mine, &others);
  MPI_Group_union(mine, others, &both);
  MPI_Group_compare(both, shared_group, &result);
  STRESS_CHECK(result == MPI_SIMILAR || result == MPI_IDENT);
  MPI_Group_size(both, &size);
  STRESS_CHECK(size == stress_size);
  rank = stress_rank;
  MPI_Group_translate_ranks(shared_group, 1, &rank, both, &result);
  STRESS_CHECK(result >= 0);
  MPI_Group_free(&mine);
  MPI_Group_free(&others);
  MPI_Group_free(&both);
}

/* Chapter 9.3. The shared communicators' handler is one that returns the code. */
static void errors(Thread* me) {
  MPI_Errhandler mine, found;
  int code, class, text = 0;
  char words[MPI_MAX_ERROR_STRING];
  MPI_Comm_create_errhandler(count_error, &mine);
  MPI_Comm_set_errhandler(me->comm, mine);
  MPI_Comm_get_errhandler(me->comm, &found);
  STRESS_CHECK(found == mine);
  MPI_Errhandler_free(&found);
  MPI_Errhandler_free(&mine);
  errors_told = 0;
  code = MPI_Send(NULL, 0, MPI_INT, stress_size + me->number, 0, me->comm);
  MPI_Error_class(code, &class);
  STRESS_CHECK(class == MPI_ERR_RANK && errors_told == 1);
  MPI_Comm_set_errhandler(me->comm, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(shared_comm, random_below(&me->own, 2) ? shared_handler : MPI_ERRORS_RETURN);
  code = MPI_Send(NULL, 0, MPI_INT, stress_size + me->number, 0, shared_comm);
  MPI_Error_class(code, &class);
  STRESS_CHECK(class == MPI_ERR_RANK);
  MPI_Comm_get_errhandler(shared_comm, &found);
  MPI_Errhandler_free(&found);
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  MPI_Add_error_string(code, "a code of a thread");
  MPI_Error_string(code, words, &text);
  STRESS_CHECK(strcmp(words, "a code of a thread") == 0);
  MPI_Add_error_string(code, "");
  MPI_Remove_error_string(code);
  MPI_Remove_error_code(code);
  MPI_Remove_error_class(class);
}

/* Windows that the rank has already: operations under one lock of all, and locks of this thread. Two threads
   of a rank may not lock the same target at the same time. */
static void windows(Thread* me) {
  static pthread_mutex_t targets[kMostRanks];
  const long one = 1;
  long before = -1;
  int target = random_below(&me->own, stress_size);
  MPI_Request request;
  const MPI_Aint place = 1 + (MPI_Aint)stress_rank * kThreads + me->number; /* of this thread alone */
  MPI_Rput(&one, 1, MPI_LONG, target, place, 1, MPI_LONG, shared_win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Fetch_and_op(&one, &before, MPI_LONG, target, 0, MPI_SUM, shared_win);
  MPI_Win_flush(target, shared_win);
  STRESS_CHECK(before >= 0);
  target = (target + me->number) % stress_size;
  if (pthread_mutex_trylock(&targets[target]) != 0) return;
  MPI_Win_lock(random_below(&me->own, 2) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, lock_win);
  MPI_Fetch_and_op(&one, &before, MPI_LONG, target, 0, MPI_SUM, lock_win);
  MPI_Win_unlock(target, lock_win);
  STRESS_CHECK(before >= 0);
  ++lock_added[me->number];
  pthread_mutex_unlock(&targets[target]);
}

static void files(Thread* me) {
  enum { kInts = 64 };
  const MPI_Offset place = (MPI_Offset)sizeof(int) * kInts * (stress_rank * kThreads + me->number);
  int out[kInts], in[kInts] = {0};
  MPI_Request request;
  MPI_Group group;
  MPI_Offset size = 0;
  for (int i = 0; i < kInts; ++i) out[i] = random_below(&me->own, 1 << 30);
  if (random_below(&me->own, 2)) {
    MPI_File_write_at(shared_file, place, out, kInts, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_iread_at(shared_file, place, in, kInts, MPI_INT, &request);
  } else {
    MPI_File_iwrite_at(shared_file, place, out, kInts, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_iread_at(shared_file, place, in, kInts, MPI_INT, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  STRESS_CHECK(memcmp(in, out, sizeof in) == 0);
  MPI_File_seek(shared_file, me->number, MPI_SEEK_SET);
  MPI_File_get_position(shared_file, &size);
  STRESS_CHECK(size >= 0);
  MPI_File_get_size(shared_file, &size);
  STRESS_CHECK(size >= place + (MPI_Offset)sizeof out);
  MPI_File_get_group(shared_file, &group);
  MPI_Group_free(&group);
}

static void sessions(Thread* me) {
  MPI_Session session;
  MPI_Info info;
  MPI_Group group;
  int sets = 0, size = 0;
  (void)me;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
  STRESS_CHECK(sets >= 2);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Group_size(group, &size);
  STRESS_CHECK(size == stress_size);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  MPI_Group_from_session_pset(shared_session, "mpi://SELF", &group);
  MPI_Group_free(&group);
  MPI_Session_get_info(shared_session, &info);
  MPI_Info_free(&info);
}

typedef void Family(Thread*);
/* What a thread does by itself. */
static Family* const kOwn[] = {attributes, names, infos, groups,   errors,      windows, files,
                               sessions,   types, tools, messages, generalized, ports};
/* What the threads of one number do together. */
static Family* const kTogether[] = {communicators, reductions, topologies, own_windows,
                                    own_files,     partitions, buffers};

static void* work(void* argument) {
  Thread* const me = argument;
  if (me->number > 0 && me->number % 2 == 0) take_core(me->number / 2 - 1); /* others where the rank is */
  for (int step = 0; step < 12; ++step) {
    for (int i = random_below(&me->own, 6); i > 0; --i) {
      kOwn[random_below(&me->own, sizeof kOwn / sizeof *kOwn)](me);
      if (random_below(&me->own, 8) == 0) disturb(&me->own);
    }
    kTogether[random_below(&me->common, sizeof kTogether / sizeof *kTogether)](me);
  }
  return NULL;
}

/* Objects that live for some rounds, so that they also end while attributes are set. */
static void make_shared(void) {
  long* base;
  char name[64];
  MPI_Comm_dup(MPI_COMM_WORLD, &shared_comm);
  MPI_Comm_set_errhandler(shared_comm, MPI_ERRORS_RETURN);
  MPI_Win_allocate((MPI_Aint)sizeof *base * (1 + stress_size * kThreads), sizeof *base, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &base, &shared_win);
  *base = 0;
  MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &lock_win);
  *base = 0;
  MPI_Info_create(&shared_info);
  MPI_Type_vector(3, 1, 2, MPI_INT, &shared_type);
  MPI_Comm_group(MPI_COMM_WORLD, &shared_group);
  snprintf(name, sizeof name, "families-%lu-%d", families_job, stress_round);
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &shared_file);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &shared_session);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, shared_win);
}

static void free_shared(void) {
  long all[2] = {0, 0}, sums[2], *base;
  int flag;
  MPI_Win_unlock_all(shared_win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_get_attr(lock_win, MPI_WIN_BASE, &base, &flag);
  all[0] = *base;
  for (int i = 0; i < kThreads; ++i) {
    all[1] += lock_added[i];
    lock_added[i] = 0;
  }
  MPI_Allreduce(all, sums, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  STRESS_CHECK(sums[0] == sums[1]);
  MPI_Session_finalize(&shared_session);
  MPI_File_close(&shared_file);
  MPI_Group_free(&shared_group);
  MPI_Type_free(&shared_type);
  MPI_Info_free(&shared_info);
  MPI_Win_free(&lock_win);
  MPI_Win_free(&shared_win);
  MPI_Comm_free(&shared_comm);
  STRESS_CHECK(atomic_load(&attributes_set) == atomic_load(&attributes_deleted));
}

static void round_of_threads(MPI_Comm* comms) {
  Random common = random_from((uint64_t)stress_round, 1, 2);
  const int count = 2 + random_below(&common, kThreads - 1);
  pthread_t ids[kThreads];
  Thread all[kThreads];
  for (int i = 0; i < count; ++i) {
    all[i] =
        (Thread){i, comms[i], random_from((uint64_t)stress_round, (uint64_t)stress_rank, 10 + (uint64_t)i),
                 random_from((uint64_t)stress_round, 3, 10 + (uint64_t)i)};
    if (i > 0 && pthread_create(&ids[i], NULL, work, &all[i]) != 0) STRESS_FAIL("no thread");
  }
  work(&all[0]); /* the rank's own thread of control takes part */
  for (int i = 1; i < count; ++i) pthread_join(ids[i], NULL);
}

int main(int argc, char** argv) {
  MPI_Comm comms[kThreads];
  stress_begin(&argc, &argv, argc > 2 ? argv[2] : NULL);
  const double end = seconds() + (argc > 1 ? atof(argv[1]) : 5);
  STRESS_CHECK(stress_size <= kMostRanks);
  families_job = (unsigned long)getpid() + (unsigned long)(MPI_Wtime() * 1e6) % 1000000;
  MPI_Bcast(&families_job, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_of_comm, &shared_keys[0], NULL);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_of_type, &shared_keys[1], NULL);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_of_win, &shared_keys[2], NULL);
  MPI_Comm_create_errhandler(count_error, &shared_handler);
  for (int more = 1; more; ++stress_round) {
    if (stress_round % 4 == 0) make_shared();
    round_of_threads(comms);
    more = seconds() < end;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (stress_round % 4 == 3 || !more) free_shared();
  }
  if (stress_rank == 0) printf("families: %d ranks, %d rounds\n", stress_size, stress_round);
  MPI_Errhandler_free(&shared_handler);
  MPI_Comm_free_keyval(&shared_keys[0]);
  MPI_Type_free_keyval(&shared_keys[1]);
  MPI_Win_free_keyval(&shared_keys[2]);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  return 0;
}
