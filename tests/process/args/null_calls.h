/* Every function is called with NULL for each of its pointers: codes that pass an array before it is
   allocated, an address of a result that they do not want, or forget `displs`. Right, with MPI_ERRORS_RETURN:
   an error of a class that fits, whose text names the argument, or success where null_is_allowed.txt says so;
   and never a crash. With nothing NULL every call succeeds, but for those in `kRefused`, so that it is NULL
   alone that the others complain of.

   usage: a.out [first function [last]]   calls these alone, and names each

   With two ranks the communicator is MPI_COMM_WORLD, and both make the same mistake. What means something at
   the root only is for one rank. */
#include "right_calls.h"

enum { NULL_IS_ALLOWED = 1, ONE_RANK = 2 };

struct pointer {
  const char* name;
  int flags;
};
struct function {
  const char* name;
  int (*call)(int null); /* the number of the pointer that is NULL, from 1; 0: none */
  int count;
  struct pointer pointers[20];
};

/* Calls that are refused even with nothing NULL, and why. */
static const char* const kRefused[] = {
    "MPI_Abi_set_fortran_booleans", /* once in a program */
    "MPI_Abi_set_fortran_info",
    "MPI_Buffer_attach", /* there is one */
    "MPI_Comm_attach_buffer",
    "MPI_Session_attach_buffer",
    "MPI_Comm_remote_group", /* with one rank there is no intercommunicator */
    "MPI_Comm_remote_size",
    "MPI_Intercomm_merge",
    "MPI_Intercomm_create",
    "MPI_Intercomm_create_from_groups",
    "MPI_T_cvar_write", /* the first variable of each kind is constant */
    "MPI_T_pvar_readreset",
    "MPI_T_pvar_write",
};

static int is_tools(const char* name) { return strncmp(name, "MPI_T_", 6) == 0; }

static int is_refused(const char* name) {
  size_t length = strlen(name);
  if (length > 2 && strcmp(name + length - 2, "_c") == 0) length -= 2;
  for (size_t i = 0; i < sizeof kRefused / sizeof *kRefused; ++i)
    if (strlen(kRefused[i]) == length && strncmp(kRefused[i], name, length) == 0) return 1;
  return 0;
}

/* Whether what has come of a call with NULL is right. */
static int is_right(const struct function* f, const struct pointer* p, int code) {
  char words[MPI_MAX_ERROR_STRING] = "", named[256];
  int length = 0, class = MPI_SUCCESS;
  if (code == MPI_SUCCESS) {
    if (p->flags & NULL_IS_ALLOWED) return 1;
    printf("%s: succeeds with %s = NULL, which null_is_allowed.txt does not have\n", f->name, p->name);
    return 0;
  }
  if (p->flags & NULL_IS_ALLOWED && !is_refused(f->name)) {
    MPI_Error_string(code, words, &length);
    printf("%s: %s = NULL is allowed, but: %s\n", f->name, p->name, words);
    return 0;
  }
  if (is_tools(f->name) || is_refused(f->name)) return 1;
  MPI_Error_class(code, &class);
  MPI_Error_string(code, words, &length);
  snprintf(named, sizeof named, "%s(%s = NULL): ", f->name, p->name);
  if (class > MPI_SUCCESS && class < MPI_ERR_LASTCODE && strncmp(words, named, strlen(named)) == 0) return 1;
  printf("%s: %s = NULL gives class %d, \"%s\"; expected a text that begins with \"%s\"\n", f->name, p->name,
         class, words, named);
  return 0;
}

static int try_one(const struct function* f, int aloud) {
  int wrong = 0;
  if (aloud) fprintf(stderr, "%s\n", f->name);
  const int code = f->call(0);
  end_requests();
  if (code != MPI_SUCCESS && !is_refused(f->name)) {
    char words[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, words, &length);
    printf("%s fails with nothing NULL: %s\n", f->name, words);
    ++wrong;
  }
  for (int i = 0; i < f->count; ++i) {
    if (size > 1 && f->pointers[i].flags & ONE_RANK) continue;
    if (aloud) fprintf(stderr, "  %s\n", f->pointers[i].name);
    wrong += !is_right(f, &f->pointers[i], f->call(i + 1));
    end_requests();
  }
  return wrong;
}

static int try_all(const struct function* functions, size_t count, int argc, char** argv) {
  MPI_Init(NULL, NULL);
  prepare();
  const char* const first = argc > 1 ? argv[1] : "";
  const char* const last = argc > 2 ? argv[2] : "~";
  int wrong = 0, calls = 0;
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(functions[i].name, first) < 0 || strcmp(functions[i].name, last) > 0) continue;
    wrong += try_one(&functions[i], argc > 1);
    calls += 1 + functions[i].count;
  }
  printf("%d calls, %d wrong\n", calls, wrong);
  NEED(MPI_T_finalize());
  in_split(NONE);
  NEED(MPI_File_close(&file));
  NEED(MPI_Session_finalize(&session));
  NEED(MPI_Finalize());
  return wrong != 0;
}
