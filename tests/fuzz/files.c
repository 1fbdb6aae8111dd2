/* Part files: each step is an access to one file by all ranks, in one of all forms; up to six steps make an
   epoch of writing or reading with one view. All ranks keep a model of the file. In an epoch of writing the
   views of the ranks do not overlap, and each step has a part of the file of its own. In the end the file is
   read without MPI. Steps of their own: shared file pointers, writes that overlap in atomic mode. */
#include <fcntl.h>
#include <sys/stat.h>

#include "comms.h"
#include "data.h"

enum { kMostSlots = 6, kEpoch = 6, kLongest = 6 << 20 };
/* Kinds of epochs: a busy one begins collective accesses of whole regions, each with other hints than the one
 * before. */
enum { kOverlapping, kOrdered, kPipe, kBusy, kExternal, kUsual };
enum { kAt, kPointer, kAtAll, kAll, kIat, kI, kIatAll, kIall, kSplitAt, kSplit, kForms };
static const char* const kNames[] = {"_at", "",         "_at_all", "_all",          "i_at",
                                     "i",   "i_at_all", "i_all",   "_at_all_begin", "_all_begin"};

/* A view: of each tile of `slots` etypes, this rank sees those in slot[0] to slot[mine - 1]. */
typedef struct {
  int basic, per, bytes, start, slots, mine, slot[kMostSlots];
} View;
typedef struct {
  MPI_Request request;
  Side side;
  int reading, count;
  long first, known; /* known: how many basic elements lie before the end of the file */
  uint64_t data;
} Access;
static MPI_File file;
static char *model, name[100];
static long length;
static int external, busy, pending_count,
    region; /* region: etypes that a step has of the file; busy: each step begins a collective access of its
               whole region, with other hints than the one before */
static Access pending[kEpoch];
static View view;

/* Where etype `index` of a view lies in the file. */
static long place(const View* v, long index) {
  return v->start + (index / v->mine * v->slots + v->slot[index % v->mine]) * v->bytes;
}
static void to_file(char* at, const char* value, int bytes) {
  for (int i = 0; i < bytes; i++) at[i] = value[external ? bytes - 1 - i : i];
}
static void write_model(const View* v, long first, long count, uint64_t data) {
  const int size = basic(v->basic).size;
  char value[8];
  for (long i = 0; i < count * v->per; i++) {
    char* at = model + place(v, first + i / v->per) + i % v->per * size;
    put_value(value, size, value_of(data, i));
    to_file(at, value, size);
    if (at - model + size > length) length = at - model + size;
  }
}

/* --- views --- */
/* The view of `rank` in the epoch that begins at a step. In an epoch of writing each slot has one owner. */
static View view_of(int step, int rank, int reading) {
  Random random = plan_of(step, 20), mine = plan_of(step, 30 + (reading && chance(&random, 50) ? rank : 0));
  View v = {.basic = below(&random, kBasics), .per = between(&random, 1, 3)};
  v.bytes = v.per * basic(v.basic).size;
  v.slots = between(&mine, 1, kMostSlots);
  v.start = chance(&mine, 40) ? 0 : below(&mine, 3000);
  for (int i = 0; i < v.slots; i++)
    if ((reading ? chance(&mine, 60) : below(&mine, fuzz.size) == rank)) v.slot[v.mine++] = i;
  return v;
}
static void set_view(Random* random) {
  MPI_Datatype etype, tiled, filetype;
  MPI_Offset at = -1;
  int lengths[kMostSlots], places[kMostSlots];
  MPI_Aint bytes[kMostSlots];
  for (int i = 0; i < view.mine; i++) {
    lengths[i] = 1;
    places[i] = view.slot[i];
    bytes[i] = (MPI_Aint)view.slot[i] * view.bytes;
  }
  MPI_Type_contiguous(view.per, basic(view.basic).type, &etype);
  MPI_Type_commit(&etype);
  if (view.mine == 0)
    MPI_Type_dup(etype, &filetype);
  else {
    if (chance(random, 50))
      MPI_Type_create_hindexed(view.mine, lengths, bytes, etype, &tiled);
    else
      MPI_Type_indexed(view.mine, lengths, places, etype, &tiled);
    MPI_Type_create_resized(tiled, 0, (MPI_Aint)view.slots * view.bytes, &filetype);
    MPI_Type_free(&tiled);
  }
  MPI_Type_commit(&filetype);
  MPI_File_set_view(file, view.start, etype, filetype, external ? "external32" : "native", MPI_INFO_NULL);
  MPI_Type_free(&etype);
  MPI_Type_free(&filetype);
  if (view.mine == 0) return;
  MPI_File_get_byte_offset(file, 5, &at);
  CHECK(at == place(&view, 5), "etype 5 of a view lies at %ld, not at %ld", (long)at, place(&view, 5));
}

/* --- accesses --- */
static void check_access(Access* a, const MPI_Status* status, const char* what) {
  int elements = 0;
  const int size = basic(view.basic).size;
  const long all = (long)a->count * view.per;
  Type* type = &a->side.type;
  Buffer* b = &a->side.buffer;
  MPI_Get_elements(status, type->type, &elements);
  const int within = a->reading && a->known < all &&
                     place(&view, a->first + a->known / view.per) + a->known % view.per * size < length;
  CHECK(elements == a->known || (within && elements == MPI_UNDEFINED),
        "%s of %ld elements: %d elements, not %ld", what, all, elements, a->known);
  char* expected = background_of(b);
  char* base = expected + (b->base - b->memory);
  if (!a->reading) put_elements(type, base, 0, all, a->data, 0);
  for (long i = 0; i < all && a->reading; i++) {
    const MPI_Aint at = i / type->count * type->extent + type->map[i % type->count].at;
    const char* in_file = model + place(&view, a->first + i / view.per) + i % view.per * size;
    if (i < a->known) to_file(base + at, in_file, size);
    if (i == a->known) memcpy(base + at, b->base + at, (size_t)size); /* the file may end within it */
  }
  compare(b, expected, what);
  drop_side(&a->side);
}
#define TWO(write, read) \
  do {                   \
    if (reads)           \
      MPI_File_##read;   \
    else                 \
      MPI_File_##write;  \
  } while (0)
static void call(int form, int reads, MPI_Offset at, const Side* side, MPI_Status* s, MPI_Request* q) {
  void* b = side->buffer.base;
  const int n = side->count;
  const MPI_Datatype t = side->type.type;
  if (form == kAt) TWO(write_at(file, at, b, n, t, s), read_at(file, at, b, n, t, s));
  if (form == kPointer) TWO(write(file, b, n, t, s), read(file, b, n, t, s));
  if (form == kAtAll) TWO(write_at_all(file, at, b, n, t, s), read_at_all(file, at, b, n, t, s));
  if (form == kAll) TWO(write_all(file, b, n, t, s), read_all(file, b, n, t, s));
  if (form == kIat) TWO(iwrite_at(file, at, b, n, t, q), iread_at(file, at, b, n, t, q));
  if (form == kI) TWO(iwrite(file, b, n, t, q), iread(file, b, n, t, q));
  if (form == kIatAll) TWO(iwrite_at_all(file, at, b, n, t, q), iread_at_all(file, at, b, n, t, q));
  if (form == kIall) TWO(iwrite_all(file, b, n, t, q), iread_all(file, b, n, t, q));
  if (form == kSplitAt) {
    TWO(write_at_all_begin(file, at, b, n, t), read_at_all_begin(file, at, b, n, t));
    TWO(write_at_all_end(file, b, s), read_at_all_end(file, b, s));
  }
  if (form == kSplit) {
    TWO(write_all_begin(file, b, n, t), read_all_begin(file, b, n, t));
    TWO(write_all_end(file, b, s), read_all_end(file, b, s));
  }
}
static const char* call_name(int form, int reads) {
  static _Thread_local char name[60];
  const int begun = kNames[form][0] == 'i';
  snprintf(name, sizeof name, "MPI_File_%s%s%s", begun ? "i" : "", reads ? "read" : "write",
           kNames[form] + begun);
  return name;
}
static void access_once(Random* own, int form, int reads, long first, int count, uint64_t data) {
  const int pointer = form == kPointer || form == kAll || form == kI || form == kIall || form == kSplit;
  const Pattern pattern = {1, {view.basic, 0}, basic(view.basic).size};
  Access a = {.request = MPI_REQUEST_NULL,
              .reading = reads,
              .count = count,
              .first = first,
              .data = data,
              .known = (long)count * view.per};
  MPI_Status status;
  MPI_Offset after = -1;
  const char* what = call_name(form, reads);
  a.side = side_of(own, &pattern, count * view.per);
  if (!reads) put_elements(&a.side.type, a.side.buffer.base, 0, a.known, data, 0);
  for (long i = 0; i < a.known && reads; i++)
    if (place(&view, first + i / view.per) + (i % view.per + 1) * pattern.bytes > length) a.known = i;
  if (pointer) MPI_File_seek(file, first, MPI_SEEK_SET);
  call(form, reads, first, &a.side, &status, &a.request);
  if (pointer && a.known == (long)count * view.per) MPI_File_get_position(file, &after);
  CHECK(after == -1 || after == first + count, "after %s of %d etypes at %ld the position is %ld", what,
        count, first, (long)after);
  if (form >= kIat && form <= kIall)
    pending[pending_count++] = a;
  else
    check_access(&a, &status, what);
}
static void end_accesses(Random* own) {
  while (pending_count > 0) {
    MPI_Status status;
    const int i = below(own, pending_count);
    complete(own, &pending[i].request, &status);
    check_access(&pending[i], &status,
                 pending[i].reading ? "a read in the background" : "a write in the background");
    pending[i] = pending[--pending_count];
  }
}

/* --- steps --- */
static void hint(Random* random, MPI_Info* info) {
  static const char* const sizes[] = {"4096", "16384", "65536", "1048576"};
  MPI_Info_create(info);
  MPI_Info_set(*info, "cb_buffer_size", sizes[below(random, 4)]);
  if (chance(random, 30)) MPI_Info_set(*info, "cb_nodes", "1");
  MPI_Info_set(*info, "romio_cb_write", chance(random, 80) ? "enable" : "disable");
}
static void step(int i, int begin, int reads, Random* own) {
  Random random = plan_of(i, 1);
  const int form = busy ? (chance(&random, 50) ? kIatAll : kIall) : below(&random, kForms),
            collective = form == kAtAll || form == kAll || form >= kIatAll;
  if (chance(&random,
             busy ? 100 : 25)) { /* for this and later accesses, also while earlier ones are under way */
    MPI_Info info;
    hint(&random, &info);
    MPI_File_set_info(file, info);
    MPI_Info_free(&info);
  }
  note("%s, %d of %d slots of %d bytes, external %d", call_name(form, reads), view.mine, view.slots,
       view.bytes, external);
  for (int rank = 0; rank < fuzz.size; rank++) {
    Random range = plan_of(i, 100 + rank);
    View theirs = view_of(begin, rank, reads);
    int count = busy ? region : chance(&range, 20) ? 0 : bytes_of(&range, 150000) / view.bytes;
    if (theirs.mine == 0 || count > region) count = theirs.mine == 0 ? 0 : region;
    const long first = theirs.mine == 0 ? 0 : (long)(i - begin) * region + below(&range, region - count + 1);
    const uint64_t data = hash(hash(fuzz.seed, (uint64_t)i), (uint64_t)rank);
    if (!reads && count) write_model(&theirs, first, count, data);
    if (rank != fuzz.rank || (count == 0 && !collective)) continue;
    view.mine += theirs.mine == 0; /* so that place() can be asked */
    access_once(own, form, reads, first, count, data);
    view.mine = theirs.mine;
  }
}
/* What is written is seen by all from here on. */
static void boundary(Random* random) {
  MPI_Offset size = -1;
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  if (chance(random, 20)) {
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  }
  MPI_File_get_size(file, &size);
  CHECK(size == length, "the size of the file is %ld, not %ld", (long)size, length);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!chance(random, 20)) return;
  const long to = chance(random, 60) ? below(random, (int)length + 1) : length + below(random, 5000);
  MPI_File_set_size(file, to);
  if (to < length) memset(model + to, 0, (size_t)(length - to));
  length = to;
  MPI_Barrier(MPI_COMM_WORLD);
}
/* Writes in the order of the ranks, then reads so; all have the same view. */
static void ordered(int i, Random* own) {
  Random random = plan_of(i, 1);
  const int drawn = below(&random, kBasics);
  const Pattern pattern = {1, {drawn, 0}, basic(drawn).size};
  view = (View){.basic = pattern.basics[0], .per = 1, .slots = 1, .mine = 1, .start = below(&random, 2000)};
  view.bytes = basic(view.basic).size;
  external = 0;
  set_view(own);
  long at = 0, mine = 0;
  int count = 0;
  for (int rank = 0; rank < fuzz.size; rank++) {
    Random range = plan_of(i, 100 + rank);
    const int theirs = below(&range, 2000);
    write_model(&view, at, theirs, hash(hash(fuzz.seed, (uint64_t)i), (uint64_t)rank));
    if (rank == fuzz.rank) mine = at;
    if (rank == fuzz.rank) count = theirs;
    at += theirs;
  }
  for (int reads = 0; reads < 2; reads++) {
    MPI_Status status;
    MPI_Offset position = -1;
    Access a = {.reading = reads,
                .count = count,
                .first = mine,
                .known = count,
                .data = hash(hash(fuzz.seed, (uint64_t)i), (uint64_t)fuzz.rank)};
    a.side = side_of(own, &pattern, count);
    if (!reads) put_elements(&a.side.type, a.side.buffer.base, 0, count, a.data, 0);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    TWO(write_ordered(file, a.side.buffer.base, a.side.count, a.side.type.type, &status),
        read_ordered(file, a.side.buffer.base, a.side.count, a.side.type.type, &status));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(file, &position);
    CHECK(position == at, "the shared position is %ld, not %ld", (long)position, at);
    check_access(&a, &status, reads ? "MPI_File_read_ordered" : "MPI_File_write_ordered");
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
  }
}
/* All ranks write the same bytes in atomic mode: those of one rank are there in the end. */
static void overlapping(int i) {
  Random random = plan_of(i, 1);
  const int bytes = 1 + bytes_of(&random, 200000), at = below(&random, 3000);
  char* data = malloc((size_t)bytes);
  MPI_Status status;
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  MPI_File_set_atomicity(file, 1);
  memset(data, 'a' + fuzz.rank, (size_t)bytes);
  MPI_File_write_at(file, at, data, bytes, MPI_BYTE, &status);
  MPI_File_read_at(file, at, data, bytes, MPI_BYTE, &status);
  for (int j = 0; j < bytes; j++)
    CHECK(data[j] == data[0],
          "in atomic mode a rank reads the bytes of two writers: %02x at 0, %02x at %d of %d", data[0],
          data[j], j, bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_read_at(file, at, model + at, bytes, MPI_BYTE, &status);
  CHECK(model[at] >= 'a' && model[at] < 'a' + fuzz.size, "in atomic mode no rank's bytes are there, but %02x",
        model[at]);
  for (int j = 0; j < bytes; j++)
    CHECK(model[at + j] == model[at], "in atomic mode the bytes of two writers are there");
  if (at + bytes > length) length = at + bytes;
  MPI_File_set_atomicity(file, 0);
  free(data);
}

/* A pipe with a name, with MPI_MODE_SEQUENTIAL: the bytes come out, or the open says that this cannot be. */
static void through_pipe(Random* random) {
  const int bytes = between(random, 1, 20000);
  char *out = malloc((size_t)bytes), *in = malloc((size_t)bytes);
  MPI_File pipe;
  if (fuzz.rank > 0) return;
  unlink("fuzz_pipe");
  CHECK(mkfifo("fuzz_pipe", 0600) == 0, "no pipe can be made");
  const int descriptor = open("fuzz_pipe", O_RDWR | O_NONBLOCK);
  fill(out, (size_t)bytes, 3);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  int code =
      MPI_File_open(MPI_COMM_SELF, "fuzz_pipe", MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &pipe);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
  if (code == MPI_SUCCESS) {
    code = MPI_File_write_shared(pipe, out, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK(code == MPI_SUCCESS, "MPI_File_write_shared to a pipe fails with %d", code);
    CHECK(read(descriptor, in, (size_t)bytes) == bytes && !memcmp(in, out, (size_t)bytes),
          "%d bytes through a pipe are wrong", bytes);
    MPI_File_close(&pipe);
  }
  close(descriptor);
  unlink("fuzz_pipe");
  free(out);
  free(in);
}

static void epoch(int begin, int end, Random* random) {
  Random own = own_of(begin, 2);
  const int drawn = below(random, 12),
            kind = drawn <= kPipe ? drawn
                   : drawn <= 4   ? kBusy
                   : drawn <= 6   ? kExternal
                                  : kUsual,
            reads = begin > 0 && chance(random, 45), atomic = chance(random, 10);
  int chosen = 0;
  for (int i = begin; i < end; i++) chosen += step_begins(i);
  if (!chosen || left_out(kind)) return;
  fuzz_step = begin;
  if (kind == kOverlapping) return overlapping(begin);
  if (kind == kPipe) return through_pipe(random);
  if (kind == kOrdered) return ordered(begin, &own);
  external = kind == kExternal;
  busy = kind == kBusy;
  view = view_of(begin, fuzz.rank, reads);
  region = (!busy && chance(random, 80) ? 20000 : 100000) / view.bytes;
  MPI_File_set_atomicity(file, atomic);
  set_view(&own);
  for (int i = begin; i < end; i++)
    if (step_begins(i)) step(i, begin, reads, &own);
  fuzz_step = begin;
  end_accesses(&own);
  MPI_File_set_atomicity(file, 0);
}
static void plan(int steps) {
  Random random = plan_of(-2, 0);
  MPI_Info info;
  hint(&random, &info);
  snprintf(name, sizeof name, "fuzz_files_%lu.dat", fuzz.seed);
  model = calloc(1, kLongest);
  length = 0;
  if (fuzz.rank == 0) unlink(name);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE,
                chance(&random, 50) ? info : MPI_INFO_NULL, &file);
  MPI_Info_free(&info);
  for (int begin = 0, end; begin < steps; begin = end) {
    Random of_epoch = plan_of(begin, 9);
    end = begin + between(&of_epoch, 1, kEpoch);
    if (end > steps) end = steps;
    epoch(begin, end, &of_epoch);
    boundary(&of_epoch);
  }
  MPI_File_close(&file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (fuzz.rank == 0) { /* the file without MPI */
    char* all = malloc((size_t)length + 1);
    const int descriptor = open(name, O_RDONLY);
    const long bytes = read(descriptor, all, (size_t)length + 1);
    CHECK(bytes == length, "the file has %ld bytes, not %ld", bytes, length);
    for (long i = 0; i < length; i++)
      CHECK(all[i] == model[i], "byte %ld of the file is %02x, should be %02x", i, (unsigned char)all[i],
            (unsigned char)model[i]);
    close(descriptor);
    unlink(name);
    free(all);
  }
  free(model);
}

int main(int argc, char** argv) {
  fuzz_init(argc, argv, "files");
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
  run_seeds(30, plan);
  MPI_Finalize();
  return 0;
}
