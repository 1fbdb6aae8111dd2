/* Part large: counts, sizes and offsets that do not fit an int, by the functions with MPI_Count. Most steps
   move no data: the elements have no bytes, or the file has holes. With huge=1 some steps move 2 GB. */
#include <fcntl.h>
#include <sys/mman.h>

#include "fuzz.h"

enum { kEmpty, kCollective, kTypes, kNumbers, kFile, kHugeMessage, kHugeConversion, kKinds };
static const char* const kNames[] = {"a message of elements without bytes",
                                     "a collective of elements without bytes",
                                     "sizes of types",
                                     "counts of a status",
                                     "a file with holes",
                                     "a message of 2 GB",
                                     "a conversion of 2 GB"};

static MPI_Count large_count(Random* random) {
  return ((MPI_Count)1 << between(random, 31, 40)) + between(random, -3, 3);
}

static void empty_message(Random* random) {
  const MPI_Count count = large_count(random);
  const int to = (fuzz.rank + 1) % fuzz.size, from = (fuzz.rank + fuzz.size - 1) % fuzz.size;
  MPI_Datatype none;
  MPI_Status status;
  MPI_Count got = -1;
  int small = 0, byte = 7;
  MPI_Type_contiguous(0, MPI_INT, &none);
  MPI_Type_commit(&none);
  MPI_Sendrecv_c(&byte, count, none, to, 1, &byte, count, none, from, 1, MPI_COMM_WORLD, &status);
  MPI_Get_elements_c(&status, MPI_INT, &got);
  MPI_Get_count(&status, MPI_BYTE, &small);
  CHECK(byte == 7 && got == 0 && small == 0, "a message of elements without bytes has %ld elements, %d bytes",
        (long)got, small);
  MPI_Type_free(&none);
}
static void empty_collective(Random* random) {
  const MPI_Count count = large_count(random);
  MPI_Datatype none;
  int byte = 7, back = 8;
  MPI_Type_contiguous(0, MPI_INT, &none);
  MPI_Type_commit(&none);
  MPI_Bcast_c(&byte, count, none, 0, MPI_COMM_WORLD);
  MPI_Allgather_c(&byte, count, none, &back, count, none, MPI_COMM_WORLD);
  MPI_Alltoall_c(&byte, count, none, &back, count, none, MPI_COMM_WORLD);
  CHECK(byte == 7 && back == 8, "a collective of elements without bytes changes memory");
  MPI_Type_free(&none);
}
static void types(Random* random) {
  const MPI_Count count = large_count(random), stride = between(random, 1, 5);
  MPI_Count size = 0, bound = 0, extent = 0;
  int small = 0;
  MPI_Datatype dense, spread;
  MPI_Type_contiguous_c(count, MPI_SHORT, &dense);
  MPI_Type_size_c(dense, &size);
  MPI_Type_size(dense, &small);
  CHECK(size == 2 * count && small == MPI_UNDEFINED, "a type of %ld shorts has %ld bytes, and %d as int",
        (long)count, (long)size, small);
  MPI_Type_vector_c(count, 1, stride, MPI_INT, &spread);
  MPI_Type_get_extent_c(spread, &bound, &extent);
  MPI_Type_size_c(spread, &size);
  CHECK(size == 4 * count && extent == ((count - 1) * stride + 1) * 4,
        "a vector of %ld ints has %ld bytes, extent %ld", (long)count, (long)size, (long)extent);
  MPI_Type_free(&dense);
  MPI_Type_free(&spread);
}
static void numbers(Random* random) {
  const MPI_Count count = large_count(random);
  MPI_Status status;
  MPI_Count got = 0;
  int small = 0;
  memset(&status, 0, sizeof status);
  MPI_Status_set_elements_c(&status, MPI_INT, count);
  MPI_Get_elements_c(&status, MPI_INT, &got);
  MPI_Get_elements(&status, MPI_INT, &small);
  CHECK(got == count && small == (count > 2147483647 ? MPI_UNDEFINED : (int)count),
        "a status of %ld elements gives %ld, and %d as int", (long)count, (long)got, small);
}
static void file_with_holes(Random* random) {
  char name[60];
  MPI_File file;
  MPI_Offset size = 0;
  const MPI_Offset at = ((MPI_Offset)1 << between(random, 31, 38)) + below(random, 1000),
                   bytes = 100 + below(random, 1000);
  char out[1100], in[1100];
  snprintf(name, sizeof name, "fuzz_large_%lu_%d.dat", fuzz.seed, fuzz_step);
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  memset(out, 'a' + fuzz.rank % 26, sizeof out);
  MPI_File_set_view(file, at, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  MPI_File_write_at_all_c(file, fuzz.rank * bytes, out, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  MPI_File_get_size(file, &size);
  CHECK(size == at + fuzz.size * bytes, "a file with holes has %ld bytes, not %ld", (long)size,
        (long)(at + fuzz.size * bytes));
  const int other = (fuzz.rank + 1) % fuzz.size;
  MPI_File_seek(file, other * bytes, MPI_SEEK_SET);
  MPI_File_read_c(file, in, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  for (int i = 0; i < bytes; i++) CHECK(in[i] == 'a' + other % 26, "byte %d behind a hole is %02x", i, in[i]);
  MPI_File_close(&file);
}

/* --- 2 GB --- */
enum { kMore = 9 };
static char* huge_memory(size_t bytes) {
  char* memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(memory != MAP_FAILED, "no %zu bytes of memory", bytes);
  return memory;
}
static void huge_message(void) {
  const MPI_Count bytes = ((MPI_Count)1 << 31) + kMore;
  if (fuzz.size < 2 || fuzz.rank > 1) return;
  char* memory = huge_memory((size_t)bytes);
  MPI_Status status;
  MPI_Count got = 0;
  if (fuzz.rank == 0) memset(memory + bytes - kMore, 5, kMore);
  if (fuzz.rank == 0) MPI_Send_c(memory, bytes, MPI_BYTE, 1, 4, MPI_COMM_WORLD);
  if (fuzz.rank == 1) {
    MPI_Recv_c(memory, bytes, MPI_BYTE, 0, 4, MPI_COMM_WORLD, &status);
    MPI_Get_count_c(&status, MPI_BYTE, &got);
    CHECK(got == bytes && memory[bytes - kMore - 1] == 0 && memory[bytes - kMore] == 5 &&
              memory[bytes - 1] == 5,
          "a message of 2 GB: count %ld, or its end is wrong", (long)got);
  }
  munmap(memory, (size_t)bytes);
}
static long long converted;
static int extent_in_file(MPI_Datatype type, MPI_Aint* extent, void* state) {
  int size = 0;
  (void)state;
  MPI_Type_size(type, &size);
  *extent = size;
  return MPI_SUCCESS;
}
static int convert(void* memory, MPI_Datatype type, int count, void* in_file, MPI_Offset position,
                   void* state) {
  (void)memory;
  (void)type;
  (void)in_file;
  (void)position;
  (void)state;
  CHECK(count > 0, "a conversion function is called with the count %d", count);
  converted += count;
  return MPI_SUCCESS;
}
static void huge_conversion(void) {
  static int registered;
  const MPI_Count bytes = ((MPI_Count)1 << 31) + kMore;
  MPI_File file;
  if (!registered++) MPI_Register_datarep("fuzz", MPI_CONVERSION_FN_NULL, convert, extent_in_file, NULL);
  if (fuzz.rank > 0) return;
  char* memory = huge_memory((size_t)bytes);
  converted = 0;
  MPI_File_open(MPI_COMM_SELF, "fuzz_huge.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "fuzz", MPI_INFO_NULL);
  const int code = MPI_File_write_c(file, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  CHECK(code != MPI_SUCCESS || converted == bytes, "%lld elements of %ld were converted", converted,
        (long)bytes);
  MPI_File_close(&file);
  munmap(memory, (size_t)bytes);
}

static void plan(int steps) {
  const int huge = number_option("huge", 0);
  for (int i = 0; i < steps; i++) {
    Random random = plan_of(i, 0);
    const int kind = below(&random, 20) == 0 && huge ? between(&random, kHugeMessage, kHugeConversion)
                                                     : below(&random, kHugeMessage);
    if (!step_begins(i) || left_out(kind)) continue;
    note("%s", kNames[kind]);
    if (kind == kEmpty) empty_message(&random);
    if (kind == kCollective) empty_collective(&random);
    if (kind == kTypes) types(&random);
    if (kind == kNumbers) numbers(&random);
    if (kind == kFile) file_with_holes(&random);
    if (kind == kHugeMessage) huge_message();
    if (kind == kHugeConversion) huge_conversion();
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  fuzz_init(argc, argv, "large");
  run_seeds(30, plan);
  MPI_Finalize();
  return 0;
}
