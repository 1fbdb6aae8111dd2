/* Data representations: external32, and one of the program (MPI-5.0 section 14.5). */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>

#include "file.h"

static void external32(void) {
  MPI_File file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Aint extent = 0;
  CHECK_OK(MPI_File_get_type_extent(file, MPI_LONG, &extent));
  CHECK_EQ(extent, sizeof(long));
  /* Each rank has a long in turn. */
  MPI_Datatype filetype, vector;
  MPI_Type_vector(2, 1, test_size, MPI_LONG, &vector);
  MPI_Type_create_resized(vector, 0, 2 * test_size * 4, &filetype); /* bytes in the file */
  MPI_Type_commit(&filetype);
  CHECK_OK(MPI_File_set_view(file, test_rank * 4, MPI_LONG, filetype, "external32", MPI_INFO_NULL));
  MPI_Count wide = 0;
  CHECK_OK(MPI_File_get_type_extent_c(file, MPI_LONG, &wide));
  CHECK_EQ(wide, 4);
  CHECK_OK(MPI_File_get_type_extent_c(file, MPI_DOUBLE, &wide));
  CHECK_EQ(wide, 8);
  CHECK_OK(MPI_File_get_type_extent_c(file, vector, &wide));
  CHECK_EQ(wide, (test_size + 1) * 4);
  long values[6], back[8];
  for (int i = 0; i < 6; ++i) values[i] = 100 * i + test_rank;
  values[5] = -values[5];
  MPI_Status status;
  CHECK_OK(MPI_File_write_all(file, values, 6, MPI_LONG, &status));
  CHECK_EQ(test_bytes(&status), sizeof values);
  CHECK_OK(MPI_File_sync(file));
  MPI_Offset size = 0;
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 6 * 4 * test_size);
  MPI_Request request;
  CHECK_OK(MPI_File_iread_at(file, 1, back, 8, MPI_LONG, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_EQ(test_bytes(&status), 5 * sizeof(long));
  for (int i = 0; i < 5; ++i) CHECK_EQ(back[i], values[i + 1]);
  CHECK_OK(MPI_File_read_at_all(file, 0, back, 6, MPI_LONG, &status));
  for (int i = 0; i < 6; ++i) CHECK_EQ(back[i], values[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  /* Big-endian in the file. */
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  unsigned char bytes[4];
  CHECK_OK(MPI_File_read_at(file, (test_size + test_rank) * 4, bytes, 4, MPI_BYTE, &status));
  CHECK_EQ((bytes[0] << 24) + (bytes[1] << 16) + (bytes[2] << 8) + bytes[3], 100 + test_rank);
  MPI_Type_free(&vector);
  MPI_Type_free(&filetype);
  CHECK_OK(MPI_File_close(&file));
}

/* The file ends within an element of the type: its first basic elements are data, too. */
static void end_in_an_element(void) {
  enum { kChars = 25 };
  char data[kChars], back[40];
  int elements = 0;
  MPI_Datatype ten;
  MPI_Status status;
  MPI_File file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Type_contiguous(10, MPI_CHAR, &ten);
  MPI_Type_commit(&ten);
  for (int i = 0; i < kChars; ++i) data[i] = (char)('a' + i);
  CHECK_OK(MPI_File_set_size(file, 0));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "external32", MPI_INFO_NULL));
  CHECK_OK(MPI_File_write_at_all(file, 0, data, test_rank == 0 ? kChars : 0, MPI_CHAR, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_sync(file));
  for (int together = 0; together < 2; ++together) {
    memset(back, '-', sizeof back);
    if (together)
      CHECK_OK(MPI_File_read_at_all(file, 0, back, 3, ten, &status));
    else
      CHECK_OK(MPI_File_read_at(file, 0, back, 3, ten, &status));
    CHECK_OK(MPI_Get_elements(&status, ten, &elements));
    CHECK_EQ(elements, kChars);
    CHECK(memcmp(back, data, kChars) == 0 && back[kChars] == '-');
  }
  MPI_Type_free(&ten);
  CHECK_OK(MPI_File_close(&file));
}

/* Ints as decimal digits, ten for each. */
enum { kDigits = 10 };
static int state;

static int digits_extent(MPI_Datatype type, MPI_Aint* extent, void* extra) {
  CHECK(extra == &state);
  MPI_Aint lb, native;
  MPI_Type_get_extent(type, &lb, &native);
  *extent = type == MPI_INT ? kDigits : native;
  return MPI_SUCCESS;
}

static int write_digits(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
                        void* extra) {
  CHECK(type == MPI_INT && extra == &state && position == 0);
  for (int i = 0; i < count; ++i) {
    char text[kDigits + 1];
    snprintf(text, sizeof text, "%010d", ((int*)user)[i]);
    memcpy((char*)file + i * kDigits, text, kDigits);
  }
  return MPI_SUCCESS;
}

static int read_digits(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
                       void* extra) {
  CHECK(type == MPI_INT && extra == &state && position == 0);
  for (int i = 0; i < count; ++i) {
    char text[kDigits + 1] = "";
    memcpy(text, (char*)file + i * kDigits, kDigits);
    ((int*)user)[i] = atoi(text);
  }
  return MPI_SUCCESS;
}

static int fails(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position, void* extra) {
  (void)user, (void)type, (void)count, (void)file, (void)position, (void)extra;
  return MPI_ERR_OTHER;
}

static void of_the_program(void) {
  CHECK_OK(MPI_Register_datarep("digits", read_digits, write_digits, digits_extent, &state));
  CHECK_OK(MPI_Register_datarep("fails", fails, fails, digits_extent, &state));
  CHECK_OK(MPI_Register_datarep_c("as it is", MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C,
                                  digits_extent, &state));
  CHECK_CLASS(MPI_Register_datarep("digits", read_digits, write_digits, digits_extent, &state),
              MPI_ERR_DUP_DATAREP);
  CHECK_CLASS(MPI_Register_datarep("external32", read_digits, write_digits, digits_extent, &state),
              MPI_ERR_DUP_DATAREP);
  MPI_File file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK_OK(MPI_File_set_size(file, 0));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "digits", MPI_INFO_NULL));
  char name[MPI_MAX_DATAREP_STRING];
  MPI_Offset displacement;
  MPI_Datatype etype, filetype;
  CHECK_OK(MPI_File_get_view(file, &displacement, &etype, &filetype, name));
  CHECK_STR(name, "digits");
  MPI_Aint extent = 0;
  CHECK_OK(MPI_File_get_type_extent(file, MPI_INT, &extent));
  CHECK_EQ(extent, kDigits);
  int values[20], back[20] = {0};
  for (int i = 0; i < 20; ++i) values[i] = test_rank * 100 + i;
  MPI_Status status;
  MPI_Request request;
  CHECK_OK(MPI_File_write_at_all(file, test_rank * 20, values, 10, MPI_INT, &status));
  CHECK_EQ(test_bytes(&status), 40);
  CHECK_OK(MPI_File_iwrite_at(file, test_rank * 20 + 10, values + 10, 10, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_OK(MPI_File_sync(file));
  CHECK_OK(MPI_File_read_at_all(file, test_rank * 20, back, 20, MPI_INT, &status));
  CHECK_EQ(test_bytes(&status), 80);
  CHECK(memcmp(values, back, sizeof values) == 0);
  memset(back, 0, sizeof back);
  CHECK_OK(MPI_File_iread_at_all(file, test_rank * 20, back, 20, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_EQ(test_bytes(&status), 80);
  CHECK(memcmp(values, back, sizeof values) == 0);
  MPI_Offset size = 0;
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 20 * kDigits * test_size);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "fails", MPI_INFO_NULL));
  CHECK_CLASS(MPI_File_write_at_all(file, 0, values, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_CONVERSION);
  CHECK_CLASS(MPI_File_read_at(file, 0, values, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_CONVERSION);
  CHECK_OK(MPI_File_close(&file));
}

/* A representation that is as the data, and notes what its functions are asked to do. */
typedef struct {
  int calls;
  long long items;
  char *user, *file; /* behind what was converted so far */
  int item_bytes;
} Noted;

static int plain_extent(MPI_Datatype type, MPI_Aint* extent, void* noted) {
  MPI_Aint lb = 0;
  (void)noted;
  return MPI_Type_get_extent(type, &lb, extent);
}

static int note(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state) {
  Noted* const noted = state;
  (void)type;
  CHECK(count > 0 && position == 0);
  if (noted->calls > 0) CHECK((char*)user == noted->user && (char*)file == noted->file);
  noted->user = (char*)user + (long long)count * noted->item_bytes;
  noted->file = (char*)file + (long long)count * noted->item_bytes;
  noted->items += count;
  ++noted->calls;
  return MPI_SUCCESS;
}

static int copy_ints(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state) {
  memcpy(user, file, (size_t)count * sizeof(int));
  return note(user, type, count, file, position, state);
}

/* Conversion functions count basic elements, of which there may be more than an int can express. */
static void counts(void) {
  static Noted noted;
  MPI_File file;
  MPI_Datatype three;
  CHECK_OK(MPI_Register_datarep("noted", copy_ints, note, plain_extent, &noted));
  CHECK_OK(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "noted", MPI_INFO_NULL));
  noted = (Noted){.item_bytes = 1};
  const MPI_Count many = ((MPI_Count)1 << 31) + 8;
  void* const converted = malloc((size_t)many); /* as the library needs: there may be a limit */
  free(converted);
  void* const memory = test_rank != 0 || converted == NULL
                           ? MAP_FAILED
                           : mmap(NULL, (size_t)many, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) { /* no byte of it is ever touched */
    MPI_Status status;
    CHECK_OK(MPI_File_write_at_c(file, 0, memory, many, MPI_BYTE, &status));
    CHECK_EQ(test_bytes(&status), many);
    CHECK_EQ(noted.calls, 2);
    CHECK_EQ(noted.items, many);
    munmap(memory, (size_t)many);
  }
  int values[6] = {1, 2, 3, 4, 5, 6};
  MPI_Type_contiguous(3, MPI_INT, &three);
  MPI_Type_commit(&three);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "noted", MPI_INFO_NULL));
  noted = (Noted){.item_bytes = sizeof(int)};
  CHECK_OK(MPI_File_write_at(file, 0, values, 2, three, MPI_STATUS_IGNORE));
  CHECK_EQ(noted.calls, 1);
  CHECK_EQ(noted.items, 6);
  CHECK_OK(MPI_File_close(&file));
  /* The file ends in the second element. */
  if (test_rank == 0) {
    MPI_Status status;
    int back[9] = {0}, elements = 0;
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, test_file, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    CHECK_OK(MPI_File_set_size(file, 5 * (MPI_Offset)sizeof(int) + 2));
    CHECK_OK(MPI_File_write_at(file, 0, values, 5, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "noted", MPI_INFO_NULL));
    noted = (Noted){.item_bytes = sizeof(int)};
    CHECK_OK(MPI_File_read_at(file, 0, back, 3, three, &status));
    CHECK_OK(MPI_Get_elements(&status, three, &elements));
    CHECK_EQ(elements, 5);
    CHECK_EQ(noted.items, 5);
    CHECK(memcmp(back, values, 5 * sizeof(int)) == 0 && back[5] == 0);
    CHECK_OK(MPI_File_close(&file));
  }
  MPI_Type_free(&three);
}

/* MPI_CONVERSION_FN_NULL with an extent function that wants a conversion. */
static void contradiction(void) {
  int values[2] = {1, 2};
  MPI_File file;
  CHECK_OK(MPI_Register_datarep("contradiction", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
                                digits_extent, &state));
  CHECK_OK(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "contradiction", MPI_INFO_NULL));
  CHECK_CLASS(MPI_File_write_at(file, 0, values, 2, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_CONVERSION);
  CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  test_begin(&argc, &argv);
  external32();
  end_in_an_element();
  of_the_program();
  counts();
  contradiction();
  return test_end();
}
