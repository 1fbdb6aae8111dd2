/* Jobs that meet over hosts: dynamic WHAT ...
     accept FILE [KEY VALUE]   writes the name of a port, opened with this info, and accepts
     connect FILE              connects to it
     publish NAME              the same by a published name
     lookup NAME
     spawn N HOW [KEY VALUE]... starts N ranks of itself by this info, which do HOW; prints the error, if any
     spawn_each N HOW [KEY VALUE]... every rank does so, at once
     spawn_often TIMES N HOW [KEY VALUE]... one time after the other
     spawn_parts HOW [N KEY VALUE]... in one call a program for each group of three; the key "-": no info
     join HOST PORT 0|1        two ranks, of two jobs, over a TCP socket
   HOW: meet, or what happens after it: die (a rank of the other side ends with code 7), wait (for ever),
   leave (after MPI_Comm_disconnect the other side ends with code 7, and later rank 0 of this one with 3).
   Rank 0 of both sides together prints where they all run. */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../mpi/dynamic/merged.h"

#include "../launcher/port_file.h"

static int rank, size;

static void messages(MPI_Comm all) {
  enum { kLong = 1 << 18 };
  int mine, count, sum = 0;
  int* const out = malloc(kLong * sizeof(int));
  int* const in = calloc(kLong, sizeof(int));
  CHECK_OK(MPI_Comm_rank(all, &mine));
  CHECK_OK(MPI_Comm_size(all, &count));
  for (int i = 0; i < kLong; ++i) out[i] = mine + i;
  for (int step = 0; step < count; ++step) {
    const int to = (mine + step) % count, from = (mine + count - step) % count;
    CHECK_OK(MPI_Sendrecv(out, kLong, MPI_INT, to, 1, in, kLong, MPI_INT, from, 1, all, MPI_STATUS_IGNORE));
    int wrong = 0;
    for (int i = 0; i < kLong; ++i) wrong += in[i] != from + i;
    CHECK_EQ(wrong, 0);
  }
  CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all));
  CHECK_EQ(sum, count * (count - 1) / 2);
  free(out);
  free(in);
}

static void tell_hosts(MPI_Comm all) {
  int mine, count, length;
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  CHECK_OK(MPI_Comm_rank(all, &mine));
  CHECK_OK(MPI_Comm_size(all, &count));
  CHECK_OK(MPI_Get_processor_name(name, &length));
  char* const names = malloc((size_t)count * sizeof name);
  CHECK_OK(MPI_Gather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR, 0, all));
  if (mine == 0) {
    char line[4096] = "";
    for (int i = 0; i < count; ++i) {
      char* const end = line + strlen(line);
      snprintf(end, sizeof line - (size_t)(end - line), "%s%s", i ? "," : "", names + i * (int)sizeof name);
    }
    puts(line);
    fflush(stdout);
  }
  free(names);
}

static void meet(MPI_Comm inter, int is_second, const char* how) {
  MPI_Comm all;
  int sum = 0, remote = 0, mine;
  CHECK_OK(MPI_Comm_rank(inter, &mine));
  CHECK_OK(MPI_Comm_remote_size(inter, &remote));
  CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter));
  CHECK_EQ(sum, remote * (remote - 1) / 2);
  CHECK_OK(MPI_Intercomm_merge(inter, is_second, &all));
  messages(all);
  check_windows(all);
  tell_hosts(all);
  CHECK_OK(MPI_Comm_free(&all));
  if (strcmp(how, "meet") != 0 && strcmp(how, "leave") != 0) {
    if (is_second && strcmp(how, "die") == 0 && rank == size - 1) exit(7);
    MPI_Barrier(inter);
    int never;
    MPI_Recv(&never, 1, MPI_INT, MPI_ANY_SOURCE, 9, inter, MPI_STATUS_IGNORE);
  }
  CHECK_OK(MPI_Comm_disconnect(&inter));
}

static int tcp_socket(const char* host, const char* port, int accepts) {
  struct addrinfo wanted = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found = NULL;
  if (getaddrinfo(host, port, &wanted, &found) != 0) MPI_Abort(MPI_COMM_WORLD, 9);
  int made = socket(AF_INET, SOCK_STREAM, 0);
  if (!accepts) {
    while (connect(made, found->ai_addr, found->ai_addrlen) != 0) {
      usleep(10000);
      close(made);
      made = socket(AF_INET, SOCK_STREAM, 0);
    }
    return made;
  }
  const int yes = 1;
  setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(made, found->ai_addr, found->ai_addrlen) != 0 || listen(made, 1) != 0)
    MPI_Abort(MPI_COMM_WORLD, 9);
  return accept(made, NULL, NULL);
}

/* The error of a spawn by this root, if there is one. */
static int tell_error(int failed, const int* codes, int count, int is_root) {
  if (failed == MPI_SUCCESS) return 0;
  char text[MPI_MAX_ERROR_STRING];
  int length, error_class;
  MPI_Error_class(failed, &error_class);
  MPI_Error_string(failed, text, &length);
  if (is_root) printf("error %d: %s\n", error_class == MPI_ERR_SPAWN, text);
  for (int i = 0; i < count; ++i) CHECK_EQ(codes[i], error_class);
  return 1;
}

static char* const kArgument = "two words, \xc3\xa4\xe2\x82\xac: \"'$x";
enum { kLarge = 100000, kMostParts = 8 };

static void spawn(char* program, MPI_Comm parents, int argc, char** argv) {
  char* arguments[] = {"child", argv[1], kArgument, NULL};
  const int count = atoi(argv[0]);
  int* const codes = malloc((size_t)count * sizeof(int));
  int mine, parents_size;
  MPI_Info info;
  MPI_Comm inter;
  CHECK_OK(MPI_Comm_rank(parents, &mine));
  CHECK_OK(MPI_Comm_size(parents, &parents_size));
  CHECK_OK(MPI_Info_create(&info));
  for (int i = 2; i + 1 < argc; i += 2) CHECK_OK(MPI_Info_set(info, argv[i], argv[i + 1]));
  const int root = parents_size - 1;
  const int failed = MPI_Comm_spawn(program, arguments, count, info, root, parents, &inter, codes);
  if (!tell_error(failed, codes, count, mine == root)) meet(inter, 0, argv[1]);
  if (strcmp(argv[1], "leave") == 0 && mine == 0) {
    sleep(3);
    exit(3);
  }
  MPI_Info_free(&info);
  free(codes);
}

static void spawn_parts(char* program, int argc, char** argv) {
  char* arguments[] = {"child", argv[0], kArgument, NULL};
  char *programs[kMostParts], **all_arguments[kMostParts];
  int counts[kMostParts], codes[64], parts = 0, sum = 0;
  MPI_Info infos[kMostParts];
  MPI_Comm inter;
  for (int i = 1; i + 2 < argc; i += 3, ++parts) {
    programs[parts] = program;
    all_arguments[parts] = arguments;
    sum += counts[parts] = atoi(argv[i]);
    infos[parts] = MPI_INFO_NULL;
    if (strcmp(argv[i + 1], "-") == 0) continue;
    CHECK_OK(MPI_Info_create(&infos[parts]));
    CHECK_OK(MPI_Info_set(infos[parts], argv[i + 1], argv[i + 2]));
  }
  const int failed = MPI_Comm_spawn_multiple(parts, programs, all_arguments, counts, infos, size - 1,
                                             MPI_COMM_WORLD, &inter, codes);
  if (!tell_error(failed, codes, sum, rank == size - 1)) meet(inter, 0, argv[0]);
  for (int i = 0; i < parts; ++i)
    if (infos[i] != MPI_INFO_NULL) CHECK_OK(MPI_Info_free(&infos[i]));
}

/* What the root gives to those that it starts: words that a shell would change, and a large environment. */
static void set_large(void) {
  char* const text = malloc(kLarge + 1);
  memset(text, 'x', kLarge);
  text[kLarge] = 0;
  setenv("CLUSTER_LARGE", text, 1);
  free(text);
}

static void check_what_came(const char* argument) {
  const char* const large = getenv("CLUSTER_LARGE");
  CHECK_EQ(strcmp(argument, kArgument), 0);
  CHECK_EQ(large != NULL && strlen(large) == kLarge, 1);
}

int main(int argc, char** argv) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter = MPI_COMM_NULL;
  CHECK_OK(MPI_Init(&argc, &argv));
  CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  const char* const what = argv[1];
  /* Not rank 0: the root may be on another host than mpiexec. */
  const int root = size - 1;
  if (strcmp(what, "accept") == 0) {
    if (rank == root) {
      MPI_Info info;
      CHECK_OK(MPI_Info_create(&info));
      if (argc > 4) CHECK_OK(MPI_Info_set(info, argv[3], argv[4]));
      CHECK_OK(MPI_Open_port(info, port));
      put_port(argv[2], port);
      CHECK_OK(MPI_Info_free(&info));
    }
    CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter));
    meet(inter, 0, "meet");
  } else if (strcmp(what, "connect") == 0) {
    if (rank == root) get_port(argv[2], port);
    CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter));
    meet(inter, 1, "meet");
  } else if (strcmp(what, "publish") == 0) {
    if (rank == root) {
      CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
      CHECK_OK(MPI_Publish_name(argv[2], MPI_INFO_NULL, port));
    }
    CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter));
    meet(inter, 0, "meet");
  } else if (strcmp(what, "lookup") == 0) {
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    /* On the host of the other job's rank 0. */
    while (rank == 0 && MPI_Lookup_name(argv[2], MPI_INFO_NULL, port) != MPI_SUCCESS) usleep(10000);
    CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    meet(inter, 1, "meet");
  } else if (strncmp(what, "spawn", 5) == 0) {
    set_large();
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    if (strcmp(what, "spawn_each") == 0) spawn(argv[0], MPI_COMM_SELF, argc - 2, argv + 2);
    if (strcmp(what, "spawn_parts") == 0) spawn_parts(argv[0], argc - 2, argv + 2);
    if (strcmp(what, "spawn") == 0) spawn(argv[0], MPI_COMM_WORLD, argc - 2, argv + 2);
    if (strcmp(what, "spawn_often") == 0)
      for (int i = 0; i < atoi(argv[2]); ++i) spawn(argv[0], MPI_COMM_WORLD, argc - 3, argv + 3);
  } else if (strcmp(what, "child") == 0) {
    check_what_came(argv[3]);
    CHECK_OK(MPI_Comm_get_parent(&inter));
    meet(inter, 1, argv[2]);
  } else if (strcmp(what, "join") == 0) {
    const int accepts = atoi(argv[4]), socket = tcp_socket(argv[2], argv[3], accepts);
    CHECK_OK(MPI_Comm_join(socket, &inter));
    close(socket);
    meet(inter, !accepts, "meet");
  }
  CHECK_OK(MPI_Finalize());
  return strcmp(what, "child") == 0 && strcmp(argv[2], "leave") == 0 ? 7 : check_result();
}
