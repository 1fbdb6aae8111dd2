/* clump-channels: which channel leads from each rank to each other one, as the running library tells it
 * (MPI_T). An MPI program, started by `clump info --channels`, or by whatever starts MPI programs. Rank 0
 * prints ranks together from which it looks alike. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  kMostRows = 16,      /* more are not one screen */
  kMostChannels = 256, /* a channel is a byte here */
};

static char names[kMostChannels][32]; /* by the channel's value; "": there is none */

static void fail(const char* why) {
  fprintf(stderr, "clump-channels: %s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void read_names(MPI_T_enum enumeration) {
  int count = 0;
  MPI_T_enum_get_info(enumeration, &count, NULL, NULL);
  for (int i = 0; i < count; ++i) {
    char name[sizeof names[0]];
    int value = -1, length = sizeof name;
    MPI_T_enum_get_item(enumeration, i, &value, name, &length);
    if (value < 0 || value >= kMostChannels) fail("a channel's number is no byte");
    memcpy(names[value], name, sizeof name);
  }
}

/* The channel to each rank of the world. */
static void read_channels(unsigned char* row, int size) {
  int index, count, provided;
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  MPI_T_enum enumeration;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  if (MPI_T_pvar_get_index("comm_channels", MPI_T_PVAR_CLASS_STATE, &index) != MPI_SUCCESS)
    fail("this MPI library has no performance variable 'comm_channels': it is not Clump");
  MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, &enumeration, NULL, NULL, NULL, NULL, NULL, NULL);
  read_names(enumeration);
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_handle_alloc(session, index, &world, &handle, &count);
  int* const values = malloc(sizeof(int) * (size_t)count);
  if (count != size || values == NULL) fail("no room, or another number of channels than of ranks");
  MPI_T_pvar_read(session, handle, values);
  for (int i = 0; i < size; ++i) row[i] = (unsigned char)values[i];
  free(values);
  MPI_T_finalize();
}

/* "0-3,7": those of `size` ranks whose entry is `what`. */
static void print_ranks(const unsigned char* entries, int size, unsigned char what) {
  const char* comma = "";
  for (int first = 0; first < size; ++first) {
    int last = first;
    if (entries[first] != what) continue;
    while (last + 1 < size && entries[last + 1] == what) ++last;
    printf(last > first ? "%s%d-%d" : "%s%d", comma, first, last);
    comma = ",";
    first = last;
  }
}

static int count(const unsigned char* row, int size, int channel) {
  int found = 0;
  for (int i = 0; i < size; ++i) found += row[i] == channel;
  return found;
}

static int looks_alike(const unsigned char* one, const unsigned char* other, int size, int exactly) {
  if (exactly) return memcmp(one, other, (size_t)size) == 0;
  for (int channel = 0; channel < kMostChannels; ++channel)
    if (count(one, size, channel) != count(other, size, channel)) return 0;
  return 1;
}

/* Puts rows together: group[rank] becomes the number of its group, up to kMostRows of them. Returns how many,
 * or -1: too many. */
static int find_groups(const unsigned char* table, int size, int exactly, unsigned char* group) {
  int rows[kMostRows], found = 0;
  for (int rank = 0; rank < size; ++rank) {
    const unsigned char* const row = table + (size_t)rank * (size_t)size;
    int which = 0;
    while (which < found && !looks_alike(row, table + (size_t)rows[which] * (size_t)size, size, exactly))
      ++which;
    if (which == kMostRows) return -1;
    if (which == found) rows[found++] = rank;
    group[rank] = (unsigned char)which;
  }
  return found;
}

static void print_group(const unsigned char* row, const unsigned char* group, int which, int size,
                        int exactly) {
  const char* comma = "";
  printf("  from ");
  print_ranks(group, size, (unsigned char)which);
  printf(": ");
  for (int channel = 0; channel < kMostChannels; ++channel) {
    const int peers = count(row, size, channel);
    if (peers == 0) continue;
    printf("%s%s to ", comma, names[channel]);
    if (exactly)
      print_ranks(row, size, (unsigned char)channel);
    else
      printf("%d rank%s", peers, peers == 1 ? "" : "s");
    comma = ", ";
  }
  printf("\n");
}

static void print_table(const unsigned char* table, int size) {
  unsigned char* const group = malloc((size_t)size);
  if (group == NULL) fail("no memory");
  int exactly = 1, groups = find_groups(table, size, exactly, group);
  if (groups < 0) groups = find_groups(table, size, exactly = 0, group);
  printf("channels of %d rank%s%s\n", size, size == 1 ? "" : "s",
         groups < 0 ? ": too many kinds of ranks for a list" : "");
  for (int which = 0; which < groups; ++which) {
    const unsigned char* const first = memchr(group, which, (size_t)size);
    print_group(table + (size_t)(first - group) * (size_t)size, group, which, size, exactly);
  }
  free(group);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  unsigned char* const row = malloc((size_t)size);
  unsigned char* const table = rank == 0 ? malloc((size_t)size * (size_t)size) : NULL;
  if (row == NULL || (rank == 0 && table == NULL)) fail("no memory");
  read_channels(row, size);
  MPI_Gather(row, size, MPI_UNSIGNED_CHAR, table, size, MPI_UNSIGNED_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) print_table(table, size);
  free(table);
  free(row);
  MPI_Finalize();
  return 0;
}
