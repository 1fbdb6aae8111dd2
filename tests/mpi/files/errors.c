/* Errors: their classes, that all ranks get them, and whose error handler is told (MPI-5.0 section 14.7). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "file.h"

static int open_class(const char* name, int amode) {
  MPI_File file = MPI_FILE_NULL;
  const int code = MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file);
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS)
    MPI_Error_class(code, &error_class);
  else
    MPI_File_close(&file);
  return error_class;
}

static void opening(void) {
  char inside[300], text[MPI_MAX_ERROR_STRING];
  CHECK_EQ(open_class("/no/such/folder/file", MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
  CHECK_EQ(open_class("/no/such/folder/file", MPI_MODE_RDWR | MPI_MODE_CREATE), MPI_ERR_NO_SUCH_FILE);
  CHECK_EQ(open_class("/", MPI_MODE_RDONLY), MPI_ERR_BAD_FILE);
  CHECK_EQ(open_class("/", MPI_MODE_RDWR), MPI_ERR_BAD_FILE);
  char* const longest = malloc(5000);
  memset(longest, 'x', 4999);
  longest[4999] = 0;
  CHECK_EQ(open_class(longest, MPI_MODE_RDONLY), MPI_ERR_BAD_FILE);
  free(longest);
  MPI_File file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK_OK(MPI_File_close(&file));
  CHECK_EQ(open_class(test_file, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR), MPI_ERR_FILE_EXISTS);
  snprintf(inside, sizeof inside, "%s/file", test_file);
  CHECK_EQ(open_class(inside, MPI_MODE_RDONLY), MPI_ERR_BAD_FILE);
  if (geteuid() != 0) {
    if (test_rank == 0) chmod(test_file, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(open_class(test_file, MPI_MODE_RDONLY), MPI_ERR_ACCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) chmod(test_file, 0600);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  /* Wrong modes. */
  CHECK_EQ(open_class(test_file, 0), MPI_ERR_AMODE);
  CHECK_EQ(open_class(test_file, MPI_MODE_RDONLY | MPI_MODE_RDWR), MPI_ERR_AMODE);
  CHECK_EQ(open_class(test_file, MPI_MODE_RDONLY | MPI_MODE_CREATE), MPI_ERR_AMODE);
  CHECK_EQ(open_class(test_file, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL), MPI_ERR_AMODE);
  CHECK_EQ(open_class(test_file, MPI_MODE_RDWR | (1 << 30)), MPI_ERR_AMODE);
  if (test_size > 1)
    CHECK_EQ(open_class(test_file, test_rank == 0 ? MPI_MODE_RDWR : MPI_MODE_RDONLY), MPI_ERR_NOT_SAME);
  if (test_rank == 0)
    CHECK_CLASS(MPI_File_delete("/no/such/folder/file", MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  /* The message names file and reason, at all ranks. */
  int length = 0;
  const int code =
      MPI_File_open(MPI_COMM_WORLD, "/no/such/folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_Error_string(code, text, &length);
  CHECK(strstr(text, "/no/such/folder/file") != NULL);
  CHECK(strstr(text, "No such file") != NULL);
}

static void wrong_access(void) {
  MPI_File file = test_open(MPI_MODE_RDONLY);
  char bytes[100] = {0};
  MPI_Request request;
  CHECK_CLASS(MPI_File_write_at(file, 0, bytes, 10, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
  CHECK_CLASS(MPI_File_write_at_all(file, 0, bytes, 10, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
  CHECK_CLASS(MPI_File_iwrite_at(file, 0, bytes, 10, MPI_BYTE, &request), MPI_ERR_READ_ONLY);
  CHECK_CLASS(MPI_File_set_size(file, 10), MPI_ERR_READ_ONLY);
  CHECK_CLASS(MPI_File_preallocate(file, 10), MPI_ERR_READ_ONLY);
  CHECK_OK(MPI_File_close(&file));
  file = test_open(MPI_MODE_WRONLY);
  CHECK_CLASS(MPI_File_read_at(file, 0, bytes, 10, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
  CHECK_CLASS(MPI_File_read_all(file, bytes, 10, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
  CHECK_OK(MPI_File_close(&file));

  file = test_open(MPI_MODE_RDWR);
  CHECK_CLASS(MPI_File_write_at(file, -1, bytes, 10, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_write_at(file, 0, bytes, -1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_File_write_at(file, 0, NULL, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_File_write_at(file, 0, bytes, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_File_write_at(file, (MPI_Offset)0x7fffffffffffffff, bytes, 10, MPI_BYTE, MPI_STATUS_IGNORE),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_write_at(MPI_FILE_NULL, 0, bytes, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_FILE);
  /* Views. */
  MPI_Datatype backwards, negative, odd;
  MPI_Type_indexed(2, (int[]){1, 1}, (int[]){5, 2}, MPI_INT, &backwards);
  MPI_Type_commit(&backwards);
  MPI_Type_indexed(2, (int[]){1, 1}, (int[]){-5, 2}, MPI_INT, &negative);
  MPI_Type_commit(&negative);
  MPI_Type_contiguous(3, MPI_BYTE, &odd);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, odd, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
  MPI_Type_commit(&odd);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, odd, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, backwards, "native", MPI_INFO_NULL), MPI_ERR_IO);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, negative, "native", MPI_INFO_NULL), MPI_ERR_IO);
  CHECK_CLASS(MPI_File_set_view(file, -7, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_DISP);
  CHECK_CLASS(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
              MPI_ERR_DISP);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "no such", MPI_INFO_NULL),
              MPI_ERR_UNSUPPORTED_DATAREP);
  if (test_size > 1) /* wrong at one rank alone */
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, test_rank == 1 ? odd : MPI_INT, "native", MPI_INFO_NULL),
                MPI_ERR_TYPE);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_CLASS(MPI_File_write_at(file, 0, bytes, 3, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
  /* Split collectives. */
  CHECK_CLASS(MPI_File_write_all_end(file, bytes, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
  CHECK_OK(MPI_File_write_all_begin(file, bytes, 4, MPI_BYTE));
  CHECK_CLASS(MPI_File_write_at_all_begin(file, 0, bytes, 4, MPI_BYTE), MPI_ERR_OTHER);
  CHECK_CLASS(MPI_File_write_at_all_end(file, bytes, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
  CHECK_CLASS(MPI_File_sync(file), MPI_ERR_OTHER);
  MPI_File same = file;
  CHECK_CLASS(MPI_File_close(&same), MPI_ERR_OTHER);
  CHECK_OK(MPI_File_write_all_end(file, bytes, MPI_STATUS_IGNORE));
  MPI_Type_free(&backwards);
  MPI_Type_free(&negative);
  MPI_Type_free(&odd);
  CHECK_OK(MPI_File_close(&file));
}

/* Non-blocking collective access to a full device: an error of one rank becomes that of all. */
static void in_background(MPI_File file, const int* values, int count) {
  MPI_Request request;
  const int last = test_rank == test_size - 1;
  CHECK_OK(MPI_File_iwrite_at_all(file, 0, values, last ? count : 0, MPI_INT, &request));
  CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
  CHECK_OK(MPI_File_iwrite_at_all(file, last ? -1 : 0, values, 0, MPI_INT, &request));
  CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_ARG);
  CHECK_OK(MPI_File_write_at_all_begin(file, 0, values, test_rank == 0 ? count : 0, MPI_INT));
  CHECK_CLASS(MPI_File_write_at_all_end(file, values, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
  /* It is over: what follows has no error of its own. */
  CHECK_OK(MPI_File_iwrite_at_all(file, 0, values, 0, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* No space: all ranks get the error, and what was written before is there. */
static void no_space(void) {
  enum { kInts = 4096 };
  int* const values = malloc(kInts * sizeof(int));
  for (int i = 0; i < kInts; ++i) values[i] = test_rank;
  MPI_File file = MPI_FILE_NULL;
  MPI_Request request;
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  CHECK_CLASS(MPI_File_write_at(file, 0, values, kInts, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
  CHECK_CLASS(MPI_File_write_at_all(file, 0, values, kInts, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
  /* One rank alone writes something. */
  CHECK_CLASS(
      MPI_File_write_at_all(file, 0, values, test_rank == test_size - 1 ? 1 : 0, MPI_INT, MPI_STATUS_IGNORE),
      MPI_ERR_NO_SPACE);
  CHECK_OK(MPI_File_iwrite_at(file, 0, values, kInts, MPI_INT, &request));
  CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
  in_background(file, values, kInts);
  CHECK_OK(MPI_File_close(&file));

  /* The same in windows: files may not be longer than the half of what is written. */
  file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK_OK(MPI_File_set_size(file, 0));
  MPI_Datatype filetype;
  MPI_Type_create_resized(MPI_INT, 0, test_size * (MPI_Aint)sizeof(int), &filetype);
  MPI_Type_commit(&filetype);
  CHECK_OK(MPI_File_set_view(file, test_rank * (MPI_Offset)sizeof(int), MPI_INT, filetype, "native",
                             MPI_INFO_NULL));
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "4096");
  CHECK_OK(MPI_File_set_info(file, info));
  MPI_Info_free(&info);
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit before, limit;
  getrlimit(RLIMIT_FSIZE, &before);
  limit = before;
  const long long half = (long long)kInts * test_size * (long long)sizeof(int) / 2;
  limit.rlim_cur = (rlim_t)half;
  MPI_Barrier(MPI_COMM_WORLD);
  setrlimit(RLIMIT_FSIZE, &limit);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_CLASS(MPI_File_write_all(file, values, kInts, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
  CHECK_OK(MPI_File_iwrite_at_all(file, 0, values, kInts, MPI_INT, &request));
  CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
  MPI_Barrier(MPI_COMM_WORLD);
  setrlimit(RLIMIT_FSIZE, &before);
  MPI_Barrier(MPI_COMM_WORLD);
  int first = -1;
  CHECK_OK(MPI_File_read_at(file, 0, &first, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQ(first, test_rank);
  CHECK_OK(MPI_File_write_at_all(file, 0, values, kInts, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Type_free(&filetype);
  CHECK_OK(MPI_File_close(&file));
  free(values);
}

/* A file that is removed meanwhile is still there for the ranks that have opened it. */
static void removed(void) {
  MPI_File file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Barrier(MPI_COMM_WORLD);
  if (test_rank == 0) unlink(test_file);
  MPI_Barrier(MPI_COMM_WORLD);
  int value = test_rank;
  CHECK_OK(MPI_File_write_at_all(file, test_rank * 4, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_read_at(file, test_rank * 4, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQ(value, test_rank);
  CHECK_OK(MPI_File_close(&file));
}

/* The process's descriptor of the file. */
static int descriptor_of_file(void) {
  char link[32], path[1000];
  const size_t length = strlen(test_file);
  for (int number = 0; number < 1024; ++number) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", number);
    const ssize_t bytes = readlink(link, path, sizeof path);
    if (bytes > (ssize_t)length && memcmp(path + bytes - length, test_file, length) == 0) return number;
  }
  return -1;
}

/* Where each rank is a process, the library's calls come here, as functions of the program come before those
   of the C library. */
static int sync_fails, interruptions;

static int is_interrupted(void) {
  errno = EINTR;
  return interruptions > 0 && interruptions-- > 0;
}

__attribute__((visibility("default"))) int fsync(int descriptor) {
  if (is_interrupted()) return -1;
  if (!sync_fails) return (int)syscall(SYS_fsync, descriptor);
  errno = EDQUOT;
  return -1;
}

__attribute__((visibility("default"))) int ftruncate(int descriptor, off_t bytes) {
  return is_interrupted() ? -1 : (int)syscall(SYS_ftruncate, descriptor, bytes);
}

static int is_process_each(void) {
  const char* const how = getenv("CLUMP_RANKS");
  return how != NULL && strcmp(how, "processes") == 0;
}

/* Signals interrupt these calls on file servers, and the library repeats them. */
static void interrupted(void) {
  MPI_Offset bytes = 0;
  MPI_File file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  interruptions = test_rank == 0 ? 2 : 0;
  CHECK_OK(MPI_File_set_size(file, 100));
  CHECK_EQ(interruptions, 0);
  CHECK_OK(MPI_File_get_size(file, &bytes));
  CHECK_EQ(bytes, 100);
  interruptions = test_rank == 0 ? 2 : 0;
  CHECK_OK(MPI_File_sync(file));
  CHECK_EQ(interruptions, 0);
  CHECK_OK(MPI_File_close(&file));
}

/* What the system tells only at the end, as servers and quotas do, becomes the result of MPI_File_close at
   all ranks. Before that, data is brought to the medium, if there is any. */
static void closing(void) {
  int value = 1, closed = 0;
  MPI_File file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK_OK(MPI_File_write_at_all(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  sync_fails = test_rank == 0;
  CHECK_CLASS(MPI_File_close(&file), MPI_ERR_QUOTA);
  CHECK_OK(MPI_File_close(&file));
  CHECK(file == MPI_FILE_NULL);
  file = test_open(MPI_MODE_RDWR);
  CHECK_OK(MPI_File_read_at_all(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
  file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  CHECK_OK(MPI_File_write_at_all(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
  sync_fails = 0;
  /* The file is gone: it cannot be deleted. */
  file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  if (test_rank == 0) unlink(test_file);
  CHECK_CLASS(MPI_File_close(&file), MPI_ERR_NO_SUCH_FILE);
  CHECK_OK(MPI_File_close(&file));
  CHECK(file == MPI_FILE_NULL);
  /* The descriptor is gone. */
  file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  if (test_rank == 0) closed = syscall(SYS_close, descriptor_of_file()) == 0;
  MPI_Bcast(&closed, 1, MPI_INT, 0, MPI_COMM_WORLD);
  CHECK(closed);
  CHECK_CLASS(MPI_File_close(&file), MPI_ERR_IO);
  CHECK_OK(MPI_File_close(&file));
  CHECK(file == MPI_FILE_NULL);
}

static MPI_File told_file;
static int told, told_class;

static void tell(MPI_File* file, int* code, ...) {
  ++told;
  told_file = *file;
  MPI_Error_class(*code, &told_class);
}

static void handlers(void) {
  MPI_Errhandler handler, found;
  CHECK_OK(MPI_File_create_errhandler(tell, &handler));
  CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
  CHECK(found == MPI_ERRORS_RETURN);
  MPI_File file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK_OK(MPI_File_get_errhandler(file, &found));
  CHECK(found == MPI_ERRORS_RETURN);
  CHECK_OK(MPI_File_set_errhandler(file, handler));
  CHECK_CLASS(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  CHECK_EQ(told, 1);
  CHECK(told_file == file);
  CHECK_EQ(told_class, MPI_ERR_ARG);
  CHECK_OK(MPI_File_call_errhandler(file, MPI_ERR_QUOTA));
  CHECK_EQ(told, 2);
  CHECK_EQ(told_class, MPI_ERR_QUOTA);
  CHECK_OK(MPI_File_get_errhandler(file, &found));
  CHECK(found == handler);
  MPI_Errhandler_free(&found);
  /* Other files have not got it. */
  MPI_File other = test_open(MPI_MODE_RDWR);
  CHECK_CLASS(MPI_File_seek(other, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  CHECK_EQ(told, 2);
  CHECK_OK(MPI_File_close(&other));
  /* That of MPI_FILE_NULL is told of what has no file, and new files get it. */
  CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
  CHECK_EQ(open_class("/no/such/folder/file", MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
  CHECK_EQ(told, 3);
  CHECK(told_file == MPI_FILE_NULL);
  CHECK_CLASS(MPI_File_delete("/no/such/folder/file", MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  CHECK_EQ(told, 4);
  other = test_open(MPI_MODE_RDWR);
  CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  CHECK_CLASS(MPI_File_seek(other, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  CHECK_EQ(told, 5);
  CHECK_OK(MPI_File_close(&other));
  /* A request's error is its file's. */
  MPI_File full;
  MPI_Request request;
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &full));
  CHECK_OK(MPI_File_set_errhandler(full, handler));
  CHECK_OK(MPI_File_iwrite_at(full, 0, "x", 1, MPI_BYTE, &request));
  CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
  CHECK_EQ(told, 6);
  CHECK(told_file == full);
  CHECK_OK(MPI_File_close(&full));
  /* Handlers of communicators do not suit. */
  MPI_Errhandler of_comm;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &of_comm);
  CHECK_OK(MPI_File_set_errhandler(file, of_comm));
  CHECK_OK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
  MPI_Errhandler_free(&handler);
  CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  test_begin(&argc, &argv);
  opening();
  wrong_access();
  no_space();
  removed();
  if (is_process_each()) {
    closing();
    interrupted();
  }
  handlers();
  return test_end();
}
