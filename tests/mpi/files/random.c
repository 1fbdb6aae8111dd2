/* Random views against a naive reference (MPI-5.0 section 14.3). Arguments: how many seeds, and the first
   one.

   Each seed deals the places of a period of the file to the ranks, or to none. The filetype of a rank is the
   list of its places, made in one of several ways; memory is scattered as well. All ranks draw the same
   numbers, so each knows what the file has to hold: byte b of what was written is value_at(b), and the rest
   is as it was. */
#include "file.h"

#include "../../seed_of_ranks.h"

#define kMostPlaces 64

static unsigned long long state;

static int draw(int below) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (int)((state >> 33) % (unsigned long long)below);
}

static unsigned char value_at(long long byte, unsigned seed) {
  return (unsigned char)(1 + (byte * 131 + (byte >> 8) * 17 + seed * 29) % 254);
}

typedef struct {
  int unit;                /* bytes of an etype */
  int period;              /* etypes of a filetype's extent */
  int places[kMostPlaces]; /* the owner of each place of the period: a rank, or -1 */
  int displacement;
} Deal;

static void deal(Deal* d) {
  static const int units[] = {1, 2, 4, 8, 3, 200, 5000};
  d->unit = units[draw(7)];
  d->period = 1 + draw(kMostPlaces);
  d->displacement = draw(3) == 0 ? 0 : draw(100);
  const int gaps = draw(3), runs = 1 + draw(8);
  int owner = 0;
  for (int i = 0; i < d->period; ++i) {
    if (i % runs == 0) owner = draw(test_size + gaps) - gaps;
    d->places[i] = owner < 0 ? -1 : owner;
  }
}

/* The places of a rank; their number. */
static int places_of(const Deal* d, int rank, int* places) {
  int n = 0;
  for (int i = 0; i < d->period; ++i)
    if (d->places[i] == rank) places[n++] = i;
  return n;
}

/* Where etype n of a rank's view is in the file. */
static long long place(const Deal* d, const int* places, int n_places, long long n) {
  return d->displacement + (long long)d->unit * ((n / n_places) * d->period + places[n % n_places]);
}

static MPI_Datatype make_filetype(const Deal* d, MPI_Datatype etype, const int* places, int n, int way) {
  MPI_Datatype blocks, filetype;
  int lengths[kMostPlaces];
  MPI_Aint bytes[kMostPlaces];
  for (int i = 0; i < n; ++i) {
    lengths[i] = 1;
    bytes[i] = (MPI_Aint)places[i] * d->unit;
  }
  if (way == 0) MPI_Type_indexed(n, lengths, places, etype, &blocks);
  if (way == 1) MPI_Type_create_indexed_block(n, 1, places, etype, &blocks);
  if (way == 2) MPI_Type_create_hindexed(n, lengths, bytes, etype, &blocks);
  if (way == 3) { /* neighbours are one block */
    int m = 0;
    for (int i = 0; i < n; ++i) {
      if (m > 0 && bytes[m - 1] + (MPI_Aint)lengths[m - 1] * d->unit == (MPI_Aint)places[i] * d->unit) {
        ++lengths[m - 1];
        continue;
      }
      lengths[m] = 1;
      bytes[m++] = (MPI_Aint)places[i] * d->unit;
    }
    MPI_Type_create_hindexed(m, lengths, bytes, etype, &blocks);
  }
  MPI_Type_create_resized(blocks, 0, (MPI_Aint)d->period * d->unit, &filetype);
  MPI_Type_free(&blocks);
  MPI_Type_commit(&filetype);
  return filetype;
}

typedef struct {
  int first, count; /* etypes of the view */
} Wish;

/* One access of a rank: buffer with etypes at `pitch` bytes. */
static int write_some(MPI_File file, int way, Wish wish, const void* buffer, MPI_Datatype memory,
                      MPI_Status* status) {
  MPI_Request request;
  switch (way) {
    case 0:
      return MPI_File_write_at_all(file, wish.first, buffer, wish.count, memory, status);
    case 1:
      return MPI_File_write_at(file, wish.first, buffer, wish.count, memory, status);
    case 2:
      MPI_File_seek(file, wish.first, MPI_SEEK_SET);
      return MPI_File_write_all(file, buffer, wish.count, memory, status);
    case 3:
      MPI_File_iwrite_at_all(file, wish.first, buffer, wish.count, memory, &request);
      return MPI_Wait(&request, status);
    case 4:
      MPI_File_iwrite_at(file, wish.first, buffer, wish.count, memory, &request);
      return MPI_Wait(&request, status);
    default:
      MPI_File_write_at_all_begin(file, wish.first, buffer, wish.count, memory);
      return MPI_File_write_at_all_end(file, buffer, status);
  }
}

static int read_some(MPI_File file, int way, Wish wish, void* buffer, MPI_Datatype memory,
                     MPI_Status* status) {
  MPI_Request request;
  switch (way) {
    case 0:
      return MPI_File_read_at_all(file, wish.first, buffer, wish.count, memory, status);
    case 1:
      return MPI_File_read_at(file, wish.first, buffer, wish.count, memory, status);
    case 2:
      MPI_File_seek(file, wish.first, MPI_SEEK_SET);
      return MPI_File_read_all(file, buffer, wish.count, memory, status);
    case 3:
      MPI_File_iread_at_all(file, wish.first, buffer, wish.count, memory, &request);
      return MPI_Wait(&request, status);
    case 4:
      MPI_File_iread_at(file, wish.first, buffer, wish.count, memory, &request);
      return MPI_Wait(&request, status);
    default:
      MPI_File_read_at_all_begin(file, wish.first, buffer, wish.count, memory);
      return MPI_File_read_at_all_end(file, buffer, status);
  }
}

static void one(unsigned seed) {
  state = seed * 7919ULL + 1;
  for (int i = 0; i < 4; ++i) draw(2);
  Deal d;
  deal(&d);
  const int n_most = d.unit > 100 ? 200 : 2000;
  const int window = 1 << (12 + draw(6)), use = draw(3), scatter = draw(3) == 0 ? 1 + draw(9) : 0;
  const int write_way = draw(6), read_way = draw(6), type_way = draw(4), old_bytes = draw(2) * draw(100000);
  Wish wishes[64];
  long long size = old_bytes;
  for (int rank = 0; rank < test_size; ++rank) {
    int places[kMostPlaces];
    const int n = places_of(&d, rank, places);
    wishes[rank].first = draw(100);
    wishes[rank].count = n == 0 || draw(8) == 0 ? 0 : draw(n_most);
    if (wishes[rank].count == 0) continue;
    const long long end = place(&d, places, n, wishes[rank].first + wishes[rank].count - 1) + d.unit;
    if (end > size) size = end;
  }
  unsigned char* const expected = calloc((size_t)size + 1, 1);
  memset(expected, 255, (size_t)old_bytes);
  for (int rank = 0; rank < test_size; ++rank) {
    int places[kMostPlaces];
    const int n = places_of(&d, rank, places);
    for (int i = 0; i < wishes[rank].count; ++i) {
      const long long at = place(&d, places, n, wishes[rank].first + i);
      for (int b = 0; b < d.unit; ++b) expected[at + b] = value_at(at + b, seed);
    }
  }

  MPI_Info info;
  MPI_Info_create(&info);
  char text[20];
  snprintf(text, sizeof text, "%d", window);
  MPI_Info_set(info, "cb_buffer_size", text);
  MPI_Info_set(info, "romio_cb_write", use == 0 ? "enable" : use == 1 ? "disable" : "automatic");
  MPI_Info_set(info, "romio_cb_read", use == 0 ? "enable" : use == 1 ? "disable" : "automatic");
  MPI_File file;
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, test_file, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
  MPI_Info_free(&info);
  CHECK_OK(MPI_File_set_size(file, 0));
  if (test_rank == 0) CHECK_OK(MPI_File_write_at(file, 0, expected + size, 0, MPI_BYTE, MPI_STATUS_IGNORE));
  unsigned char* const old = malloc((size_t)old_bytes + 1);
  memset(old, 255, (size_t)old_bytes + 1);
  if (test_rank == 0) CHECK_OK(MPI_File_write_at(file, 0, old, old_bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);

  int places[kMostPlaces];
  const int n = places_of(&d, test_rank, places);
  const Wish wish = wishes[test_rank];
  MPI_Datatype etype, filetype, memory;
  MPI_Type_contiguous(d.unit, MPI_BYTE, &etype);
  MPI_Type_commit(&etype);
  if (n > 0)
    filetype = make_filetype(&d, etype, places, n, type_way);
  else {
    MPI_Type_dup(etype, &filetype);
  }
  MPI_Type_create_resized(etype, 0, d.unit + scatter, &memory);
  MPI_Type_commit(&memory);
  CHECK_OK(MPI_File_set_view(file, d.displacement, etype, filetype, "native", MPI_INFO_NULL));

  const size_t pitch = (size_t)(d.unit + scatter), room = pitch * (size_t)wish.count + 1;
  unsigned char* const buffer = malloc(room);
  memset(buffer, 0, room);
  for (int i = 0; i < wish.count; ++i)
    for (int b = 0; b < d.unit; ++b)
      buffer[(size_t)i * pitch + (size_t)b] = value_at(place(&d, places, n, wish.first + i) + b, seed);
  MPI_Status status;
  CHECK_OK(write_some(file, write_way, wish, buffer, memory, &status));
  CHECK_EQ(test_bytes(&status), (long long)wish.count * d.unit);
  CHECK_OK(MPI_File_sync(file));

  /* What was written, read by its own view. */
  memset(buffer, 0, room);
  CHECK_OK(read_some(file, read_way, wish, buffer, memory, &status));
  CHECK_EQ(test_bytes(&status), (long long)wish.count * d.unit);
  for (int i = 0; i < wish.count; ++i)
    for (size_t b = 0; b < pitch; ++b) {
      const long long at = place(&d, places, n, wish.first + i) + (long long)b;
      const int wanted = b < (size_t)d.unit ? value_at(at, seed) : 0;
      if (buffer[(size_t)i * pitch + b] != wanted) {
        CHECK_EQ(buffer[(size_t)i * pitch + b], wanted);
        i = wish.count;
        break;
      }
    }

  /* The whole file. */
  MPI_Offset in_file = -1;
  CHECK_OK(MPI_File_get_size(file, &in_file));
  CHECK_EQ(in_file, size);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  unsigned char* const whole = malloc((size_t)size + 10);
  CHECK_OK(MPI_File_read_at_all(file, 0, whole, (int)size + 10, MPI_BYTE, &status));
  CHECK_EQ(test_bytes(&status), size);
  for (long long i = 0; i < size; ++i)
    if (whole[i] != expected[i]) {
      CHECK_FAILED("byte %lld is %d, expected %d", i, whole[i], expected[i]);
      break;
    }
  CHECK_OK(MPI_File_close(&file));
  if (check_failures != 0)
    fprintf(stderr, "rank %d: seed %u, ways %d %d %d, unit %d, period %d\n", test_rank, seed, write_way,
            read_way, type_way, d.unit, d.period);
  MPI_Type_free(&etype);
  MPI_Type_free(&filetype);
  MPI_Type_free(&memory);
  free(expected);
  free(old);
  free(buffer);
  free(whole);
}

int main(int argc, char** argv) {
  test_begin(&argc, &argv);
  const unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 100,
                 first = argc > 2 ? (unsigned)atoi(argv[2]) : (unsigned)seed_of_ranks(1);
  for (unsigned seed = first; seed < first + count && check_failures == 0; ++seed) one(seed);
  return test_end();
}
