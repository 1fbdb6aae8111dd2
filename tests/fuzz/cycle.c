/* Part cycle: how objects come and go. Each step is one of: groups as sets, infos as maps, attributes with
   callbacks that are counted, a communicator that is freed while messages are under way, an intercommunicator
   that is merged, a connection by a port or a socket, sessions, and with spawn=1 ranks that are spawned. */
#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include "comms.h"
#include "fuzz.h"

enum {
  kGroups,
  kInfos,
  kAttributes,
  kTypeAttributes,
  kUse,
  kPorts,
  kSessions,
  kJoin,
  kSpawn,
  kSpawnFlags,
  kKinds
};
static const char* const kNames[] = {
    "groups", "infos",    "attributes",          "attributes of types", "use of a communicator",
    "ports",  "sessions", "ranks with a socket", "spawned ranks",       "a spawned program with <fenv.h>"};
static Known comms[kMostComms];

/* --- groups against lists of ranks --- */
static void check_group(MPI_Group world, MPI_Group group, const Members* wanted, const char* what) {
  int size = 0, ranks[kMostRanks], got[kMostRanks];
  MPI_Group_size(group, &size);
  CHECK(size == wanted->count, "%s gives %d ranks, not %d", what, size, wanted->count);
  for (int i = 0; i < size; i++) ranks[i] = i;
  if (size) MPI_Group_translate_ranks(group, size, ranks, world, got);
  for (int i = 0; i < size; i++)
    CHECK(got[i] == wanted->ranks[i], "%s: rank %d is %d, not %d", what, i, got[i], wanted->ranks[i]);
  if (group != MPI_GROUP_EMPTY) MPI_Group_free(&group);
}
static Members drawn(Random* random) {
  Members m = {0};
  permute(random, m.ranks, fuzz.size);
  m.count = below(random, fuzz.size + 1);
  return m;
}
/* Those of a that are in b, or are not. */
static Members filtered(const Members* a, const Members* b, int in) {
  Members m = {0};
  for (int i = 0; i < a->count; i++)
    if ((place_of(b, a->ranks[i]) >= 0) == in) m.ranks[m.count++] = a->ranks[i];
  return m;
}
static void groups(Random* random) {
  MPI_Group world, a, b, made;
  const Members la = drawn(random), lb = drawn(random), both = filtered(&la, &lb, 1),
                rest = filtered(&la, &lb, 0), more = filtered(&lb, &la, 0);
  Members all = la;
  int result = 0;
  for (int i = 0; i < more.count; i++) all.ranks[all.count++] = more.ranks[i];
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, la.count, la.ranks, &a);
  MPI_Group_incl(world, lb.count, lb.ranks, &b);
  MPI_Group_union(a, b, &made);
  check_group(world, made, &all, "MPI_Group_union");
  MPI_Group_intersection(a, b, &made);
  check_group(world, made, &both, "MPI_Group_intersection");
  MPI_Group_difference(a, b, &made);
  check_group(world, made, &rest, "MPI_Group_difference");
  MPI_Group_compare(a, b, &result);
  const int same = la.count == lb.count && !memcmp(la.ranks, lb.ranks, sizeof(int) * (size_t)la.count),
            similar = rest.count == 0 && more.count == 0;
  CHECK(result == (same      ? MPI_IDENT
                   : similar ? MPI_SIMILAR
                             : MPI_UNEQUAL),
        "MPI_Group_compare gives %d", result);
  if (la.count) {
    const int first = below(random, la.count), last = below(random, la.count),
              stride = between(random, 1, 3) * (first <= last ? 1 : -1);
    int range[1][3] = {{first, last, stride}};
    Members in = {0}, out;
    for (int i = first; stride > 0 ? i <= last : i >= last; i += stride) in.ranks[in.count++] = la.ranks[i];
    out = filtered(&la, &in, 0);
    MPI_Group_range_incl(a, 1, range, &made);
    check_group(world, made, &in, "MPI_Group_range_incl");
    MPI_Group_range_excl(a, 1, range, &made);
    check_group(world, made, &out, "MPI_Group_range_excl");
  }
  check_group(world, a, &la, "MPI_Group_incl");
  check_group(world, b, &lb, "MPI_Group_incl");
  MPI_Group_free(&world);
}

/* --- an info against a list of keys in the order of setting --- */
enum { kKeys = 10 };
static void check_info(MPI_Info info, int count, const int* order) {
  int keys = 0;
  char got[MPI_MAX_INFO_KEY + 1], wanted[20];
  MPI_Info_get_nkeys(info, &keys);
  CHECK(keys == count, "an info has %d keys, not %d", keys, count);
  for (int i = 0; i < keys; i++) {
    MPI_Info_get_nthkey(info, i, got);
    snprintf(wanted, sizeof wanted, "key %d", order[i]);
    CHECK(!strcmp(got, wanted), "key %d of an info is '%s', not '%s'", i, got, wanted);
  }
}
static void infos(Random* random) {
  char values[kKeys][100] = {""}, key[20], got[120];
  int order[kKeys], count = 0;
  MPI_Info info, copy;
  MPI_Info_create(&info);
  for (int turn = between(random, 0, 40); turn > 0; turn--) {
    const int k = below(random, kKeys), kind = below(random, 4), set = values[k][0] != '\0';
    int found = 0, room = between(random, 0, 110), at = 0;
    const int had = room;
    snprintf(key, sizeof key, "key %d", k);
    if (kind <= 1) {
      const int length = between(random, 1, 99);
      for (int i = 0; i < length; i++) values[k][i] = (char)between(random, 33, 126);
      values[k][length] = '\0';
      MPI_Info_set(info, key, values[k]);
      if (!set) order[count++] = k;
    }
    if (kind == 2 && set) {
      MPI_Info_delete(info, key);
      values[k][0] = '\0';
      while (order[at] != k) at++;
      memmove(order + at, order + at + 1, sizeof(int) * (size_t)(--count - at));
    }
    if (kind == 3) {
      memset(got, '#', sizeof got);
      MPI_Info_get_string(info, key, &room, got, &found);
      CHECK(found == set, "MPI_Info_get_string: flag %d", found);
      CHECK(!set || room == (int)strlen(values[k]) + 1, "MPI_Info_get_string: length %d", room);
      CHECK(!set || had == 0 || (!strncmp(got, values[k], (size_t)had - 1) && (int)strlen(got) < had),
            "MPI_Info_get_string: '%s'", got);
      CHECK(got[had] == '#', "MPI_Info_get_string writes behind its room of %d", had);
    }
    check_info(info, count, order);
    if (chance(random, 10)) {
      MPI_Info_dup(info, &copy);
      MPI_Info_free(&info);
      info = copy;
    }
  }
  MPI_Info_free(&info);
}

/* --- attributes: how often their functions are called, and with what --- */
static int copies, deletions;
static int copy_attribute(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm;
  (void)key;
  copies++;
  *(char**)out = (char*)in + 1;
  *flag = *(int*)extra;
  return MPI_SUCCESS;
}
static int delete_attribute(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm;
  (void)key;
  (void)value;
  (void)extra;
  deletions++;
  return MPI_SUCCESS;
}
enum { kChain = 5, kAttributeKeys = 3 };
static void check_attributes(MPI_Comm comm, const int* keys, char* const* values) {
  for (int i = 0; i < kAttributeKeys; i++) {
    char* got = NULL;
    int found = 0;
    MPI_Comm_get_attr(comm, keys[i], &got, &found);
    CHECK(found == (values[i] != NULL) && (!found || got == values[i]), "an attribute is %p, flag %d, not %p",
          (void*)got, found, (void*)values[i]);
  }
}
static void attributes(Random* random, MPI_Comm comm) {
  int keys[kAttributeKeys], flags[kAttributeKeys], wanted_copies = 0, wanted_deletions = 0;
  MPI_Comm list[kChain + 1];
  char* values[kChain + 1][kAttributeKeys] = {{NULL}};
  const int length = between(random, 1, kChain), early = below(random, 2);
  copies = deletions = 0;
  for (int i = 0; i < kAttributeKeys; i++) {
    flags[i] = below(random, 2);
    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keys[i], &flags[i]);
  }
  MPI_Comm_dup(comm, &list[0]);
  for (int c = 1; c <= length; c++) {
    for (int turn = below(random, 8); turn > 0; turn--) {
      const int i = below(random, kAttributeKeys), at = below(random, c), sets = chance(random, 60);
      wanted_deletions += values[at][i] != NULL;
      if (!sets && values[at][i]) MPI_Comm_delete_attr(list[at], keys[i]);
      values[at][i] = sets ? (char*)(intptr_t)between(random, 1, 1000) : NULL;
      if (sets) MPI_Comm_set_attr(list[at], keys[i], values[at][i]);
      check_attributes(list[at], keys, values[at]);
    }
    const int from = below(random, c);
    MPI_Request request;
    if (chance(random, 60))
      MPI_Comm_dup(list[from], &list[c]);
    else {
      MPI_Comm_idup(list[from], &list[c], &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < kAttributeKeys; i++) {
      wanted_copies += values[from][i] != NULL;
      values[c][i] = values[from][i] && flags[i] ? values[from][i] + 1 : NULL;
    }
    check_attributes(list[c], keys, values[c]);
  }
  for (int i = 0; i < kAttributeKeys && early; i++) MPI_Comm_free_keyval(&keys[i]);
  for (int c = 0; c <= length; c++) {
    for (int i = 0; i < kAttributeKeys; i++) wanted_deletions += values[c][i] != NULL;
    MPI_Comm_free(&list[c]);
  }
  CHECK(copies == wanted_copies && deletions == wanted_deletions,
        "attributes: %d copies and %d deletions, not %d and %d", copies, deletions, wanted_copies,
        wanted_deletions);
  for (int i = 0; i < kAttributeKeys && !early; i++) MPI_Comm_free_keyval(&keys[i]);
}
static int type_deletions;
static int delete_of_type(MPI_Datatype type, int key, void* value, void* extra) {
  (void)type;
  (void)key;
  (void)value;
  (void)extra;
  type_deletions++;
  return MPI_SUCCESS;
}
static void type_attributes(Random* random) {
  MPI_Datatype types[6], copy;
  int key = 0, found = 0;
  void* got = NULL;
  const int count = between(random, 1, 6);
  type_deletions = 0;
  MPI_Type_create_keyval(MPI_TYPE_DUP_FN, delete_of_type, &key, NULL);
  for (int i = 0; i < count; i++) MPI_Type_contiguous(i + 1, MPI_INT, &types[i]);
  for (int i = 0; i < count; i++) MPI_Type_set_attr(types[i], key, &types[i]);
  MPI_Type_dup(types[0], &copy);
  MPI_Type_get_attr(copy, key, &got, &found);
  CHECK(found && got == &types[0], "MPI_Type_dup does not copy an attribute");
  MPI_Type_free(&copy);
  for (int i = 0; i < count; i++) MPI_Type_free(&types[i]);
  CHECK(type_deletions == count + 1, "attributes of types: %d deletions, not %d", type_deletions, count + 1);
  MPI_Type_free_keyval(&key);
}

/* --- communicators --- */
static void check_sum(MPI_Comm comm, const Members* members, const char* what) {
  int sum = 0, wanted = 0, mine = 1 << fuzz.rank % 30;
  for (int i = 0; i < members->count; i++) wanted += 1 << members->ranks[i] % 30;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == wanted, "%s: the sum is %x, not %x", what, sum, wanted);
}
/* Messages under way over a copy that is freed before they arrive. */
static void use(Random* random, const Known* k) {
  const Members *local = local_of(k), *peers = peers_of(k);
  static int out[20000], in[20000];
  MPI_Comm copy, merged;
  MPI_Request requests[2];
  const int count = between(random, 0, 20000), paired = local->count == peers->count,
            me = place_of(local, fuzz.rank), to = (me + 1) % peers->count,
            from = (me + peers->count - 1) % peers->count;
  int result = 0;
  check_sum(k->comm, peers, k->kind);
  MPI_Comm_dup(k->comm, &copy);
  MPI_Comm_compare(k->comm, copy, &result);
  CHECK(result == MPI_CONGRUENT, "a copy of a communicator compares as %d", result);
  for (int i = 0; i < count; i++) out[i] = fuzz.rank * 100000 + i;
  if (paired) MPI_Isend(out, count, MPI_INT, to, 3, copy, &requests[0]);
  if (paired) MPI_Irecv(in, count, MPI_INT, from, 3, copy, &requests[1]);
  MPI_Comm_free(&copy);
  if (paired) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count && paired; i++)
    CHECK(in[i] == peers->ranks[from] * 100000 + i, "number %d over a communicator that was freed is %d", i,
          in[i]);
  if (!k->inter) {
    MPI_Comm part;
    int later = 0; /* of this host */
    for (int i = me + 1; i < local->count; i++)
      later += host_of(local->ranks[i], NULL) == host_of(fuzz.rank, NULL);
    MPI_Comm_split_type(k->comm, MPI_COMM_TYPE_SHARED, -me, MPI_INFO_NULL, &part);
    MPI_Comm_rank(part, &result);
    CHECK(result == later, "with the keys in reverse rank %d is %d, not %d", me, result, later);
    MPI_Comm_free(&part);
    return;
  }
  Members all = k->side[0];
  for (int i = 0; i < k->side[1].count; i++) all.ranks[all.count++] = k->side[1].ranks[i];
  MPI_Intercomm_merge(k->comm, k->here == 1, &merged);
  MPI_Comm_rank(merged, &result);
  CHECK(result == place_of(&all, fuzz.rank), "the rank in a merged communicator is %d, not %d", result,
        place_of(&all, fuzz.rank));
  check_sum(merged, &all, "a merged communicator");
  MPI_Comm_free(&merged);
}
static void ports(Random* random) {
  if (fuzz.size < 2) return;
  const int cut = between(random, 1, fuzz.size - 1), accepts = fuzz.rank < cut, root = below(random, cut),
            caller = below(random, fuzz.size - cut), published = below(random, 2);
  char port[MPI_MAX_PORT_NAME] = "", service[60];
  int number = 0;
  MPI_Comm half, inter, merged;
  Members others = {0};
  for (int i = accepts ? cut : 0; i < (accepts ? fuzz.size : cut); i++) others.ranks[others.count++] = i;
  MPI_Comm_split(MPI_COMM_WORLD, accepts, fuzz.rank, &half);
  snprintf(service, sizeof service, "fuzz %lu.%d", fuzz.seed, fuzz_step);
  if (fuzz.rank == root) MPI_Open_port(MPI_INFO_NULL, port);
  if (fuzz.rank == root && published) MPI_Publish_name(service, MPI_INFO_NULL, port);
  if (published)
    MPI_Barrier(MPI_COMM_WORLD);
  else
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, root, MPI_COMM_WORLD);
  if (published && fuzz.rank == cut + caller) MPI_Lookup_name(service, MPI_INFO_NULL, port);
  if (accepts)
    MPI_Comm_accept(port, MPI_INFO_NULL, root, half, &inter);
  else
    MPI_Comm_connect(port, MPI_INFO_NULL, caller, half, &inter);
  MPI_Comm_remote_size(inter, &number);
  CHECK(number == others.count, "the other side of a connection has %d ranks, not %d", number, others.count);
  check_sum(inter, &others, "a connection");
  MPI_Intercomm_merge(inter, !accepts, &merged);
  MPI_Comm_rank(merged, &number);
  CHECK(number == fuzz.rank, "the rank in a merged connection is %d", number);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&inter);
  MPI_Comm_free(&half);
  if (fuzz.rank == root && published) MPI_Unpublish_name(service, MPI_INFO_NULL, port);
  if (fuzz.rank == root) MPI_Close_port(port);
}
/* Two ranks that have a socket, over the network if they are on two hosts. */
static void join(Random* random) {
  if (fuzz.size < 2) return;
  const int one = below(random, fuzz.size), other = (one + between(random, 1, fuzz.size - 1)) % fuzz.size,
            listens = fuzz.rank == one;
  struct {
    char host[MPI_MAX_PROCESSOR_NAME];
    int port;
  } where = {0};
  if (!listens && fuzz.rank != other) return;
  int length = 0, size = 0, sum = 0, fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t room = sizeof address;
  MPI_Comm inter;
  if (listens) {
    CHECK(!bind(fd, (struct sockaddr*)&address, room) && !listen(fd, 1), "no socket can listen");
    getsockname(fd, (struct sockaddr*)&address, &room);
    where.port = ntohs(address.sin_port);
    MPI_Get_processor_name(where.host, &length);
    MPI_Send(&where, sizeof where, MPI_BYTE, other, 8, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, other, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* accept() waits for none */
    const int accepted = accept(fd, NULL, NULL);
    close(fd);
    fd = accepted;
  } else {
    struct addrinfo wanted = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found = NULL;
    MPI_Recv(&where, sizeof where, MPI_BYTE, one, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const char* host = host_of(one, NULL) == host_of(other, NULL) ? "127.0.0.1" : where.host;
    CHECK(getaddrinfo(host, NULL, &wanted, &found) == 0, "no address of host %s", host);
    memcpy(&address, found->ai_addr, sizeof address);
    freeaddrinfo(found);
    address.sin_port = htons((uint16_t)where.port);
    CHECK(connect(fd, (struct sockaddr*)&address, sizeof address) == 0, "no connection to host %s", host);
    MPI_Send(NULL, 0, MPI_BYTE, one, 8, MPI_COMM_WORLD);
  }
  MPI_Comm_join(fd, &inter);
  MPI_Comm_remote_size(inter, &size);
  CHECK(size == 1, "MPI_Comm_join gives a remote group of %d ranks", size);
  MPI_Allreduce(&fuzz.rank, &sum, 1, MPI_INT, MPI_SUM, inter);
  CHECK(sum == (listens ? other : one), "over MPI_Comm_join the sum is %d", sum);
  MPI_Comm_disconnect(&inter);
  close(fd);
}
static void sessions(Random* random) {
  MPI_Session session;
  MPI_Group group, part;
  MPI_Comm comm;
  char tag[40];
  Members members = drawn(random);
  if (members.count == 0) members.count = 1;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Group_incl(group, members.count, members.ranks, &part);
  snprintf(tag, sizeof tag, "%lu.%d", fuzz.seed, fuzz_step);
  if (place_of(&members, fuzz.rank) >= 0) {
    MPI_Comm_create_from_group(part, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    check_sum(comm, &members, "a communicator of a session");
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&part);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
}

/* --- spawned ranks --- */
static void spawn(Random* random, const Known* k) {
  char* words[] = {"child", "a b", NULL};
  const int count = between(random, 1, 3), numbers = chance(random, 50) ? 5 : 50000,
            me = place_of(local_of(k), fuzz.rank);
  int rank = 0, sum = 0, one = 1;
  MPI_Comm inter, merged;
  MPI_Info info = MPI_INFO_NULL;
  if (*option("hosts", "") && chance(random, 50)) { /* on one host of the job, or on two */
    char hosts[160], first[64], second[64];
    host_of(below(random, fuzz.size), first);
    host_of(below(random, fuzz.size), second);
    snprintf(hosts, sizeof hosts, "%s:%d,%s:%d", first, between(random, 1, 2), second, count);
    MPI_Info_create(&info);
    MPI_Info_set(info, "host", hosts);
  }
  MPI_Comm_spawn(fuzz.argv[0], words, count, info, below(random, local_of(k)->count), k->comm, &inter,
                 MPI_ERRCODES_IGNORE);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  int* data = malloc(sizeof(int) * (size_t)numbers);
  for (int i = 0; i < numbers; i++) data[i] = i * 3;
  MPI_Bcast((void*)&numbers, 1, MPI_INT, me == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
  for (int i = 0; i < count && me == 0; i++) MPI_Send(data, numbers, MPI_INT, i, 5, inter);
  for (int i = 0; i < count && me == 0; i++) {
    MPI_Recv(data, numbers, MPI_INT, i, 6, inter, MPI_STATUS_IGNORE);
    for (int j = 0; j < numbers; j++)
      CHECK(data[j] == j * 3 + i, "spawned rank %d sends back %d as number %d", i, data[j], j);
  }
  free(data);
  MPI_Intercomm_merge(inter, 0, &merged);
  MPI_Comm_rank(merged, &rank);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged);
  CHECK(rank == me && sum == count + local_of(k)->count, "rank %d of %d parents and children", rank, sum);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&inter);
}
static int child(int argc, char** argv) {
  MPI_Comm parent, merged;
  int numbers = 0, rank = 0, one = 1, sum = 0;
  MPI_Init(&argc, &argv);
  fuzz.part = "cycle, a child";
  fuzz.world = MPI_COMM_WORLD;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_parent(&parent);
  CHECK(argc == 3 && !strcmp(argv[2], "a b"), "the words of a spawned program are %d", argc);
  MPI_Bcast(&numbers, 1, MPI_INT, 0, parent);
  int* data = malloc(sizeof(int) * (size_t)numbers);
  MPI_Recv(data, numbers, MPI_INT, 0, 5, parent, MPI_STATUS_IGNORE);
  for (int i = 0; i < numbers; i++)
    CHECK(data[i] == i * 3, "a spawned rank gets %d as number %d", data[i], i);
  for (int i = 0; i < numbers; i++) data[i] += rank;
  MPI_Send(data, numbers, MPI_INT, 0, 6, parent);
  free(data);
  MPI_Intercomm_merge(parent, 1, &merged);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return 0;
}
/* Leaves bits on the stack below its caller, as deep calls do. */
__attribute__((noinline)) static int stack_of_ones(int n) {
  volatile long a[400];
  for (int i = 0; i < 400; i++) a[i] = -1;
  return (int)a[n % 400];
}
/* While the others wait, one rank spawns a program that imports <fenv.h>: their floating-point state stays.
 */
static void spawn_with_flags(void) {
  char program[4000], *words[] = {"child", NULL};
  MPI_Comm inter;
  const char* slash = strrchr(fuzz.argv[0], '/');
  snprintf(program, sizeof program, "%.*sfuzz_rounding", slash ? (int)(slash - fuzz.argv[0] + 1) : 0,
           fuzz.argv[0]);
  stack_of_ones(fuzz.rank);
  if (fuzz.rank > 0)
    MPI_Recv(NULL, 0, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else {
    usleep(2000); /* so that the others sleep */
    MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
    for (int i = 1; i < fuzz.size; i++) MPI_Send(NULL, 0, MPI_CHAR, i, 9, MPI_COMM_WORLD);
    MPI_Comm_disconnect(&inter);
  }
#ifdef __x86_64__
  unsigned short status = 0;
  __asm__ volatile("fnstsw %0" : "=m"(status));
  CHECK((status & 0x785d) == 0, "the status of the x87 unit is %04x after another program was loaded",
        status);
#endif
}

static void plan(int steps) {
  Random random = plan_of(-2, 0);
  const int count = make_comms(&random, comms, kMostComms, 1);
  for (int i = 0; i < steps; i++) {
    Random step = plan_of(i, 0), own = own_of(i, 1);
    const int kind = below(&step, number_option("spawn", 0) ? kKinds : kSpawn);
    const Known* k = &comms[below(&step, count)];
    if (!step_begins(i) || left_out(kind)) continue;
    note("%s (%s)", kNames[kind], k->kind);
    if (kind == kGroups) groups(&own);
    if (kind == kInfos) infos(&own);
    if (kind == kAttributes && k->here >= 0) attributes(&step, k->comm);
    if (kind == kTypeAttributes) type_attributes(&own);
    if (kind == kUse && k->here >= 0) use(&step, k);
    if (kind == kPorts) ports(&step);
    if (kind == kSessions) sessions(&step);
    if (kind == kJoin) join(&step);
    if (kind == kSpawn && k->here >= 0 && !k->inter) spawn(&step, k);
    if (kind == kSpawnFlags) spawn_with_flags();
  }
  free_comms(&random, comms, count);
}

int main(int argc, char** argv) {
  if (argc > 1 && !strcmp(argv[1], "child")) return child(argc, argv);
  fuzz_init(argc, argv, "cycle");
  run_seeds(20, plan);
  MPI_Finalize();
  return 0;
}
