/* Error classes and codes of the program (MPI-5.0 section 9.5). */
#include "check.h"

static int last_used(void) {
  int *value = NULL, flag = 0;
  CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
  CHECK_EQ(flag, 1);
  return *value;
}

static void text_is(int code, const char* expected) {
  char text[MPI_MAX_ERROR_STRING] = "?";
  int length = -1;
  CHECK_OK(MPI_Error_string(code, text, &length));
  CHECK_STR(text, expected);
  CHECK_EQ(length, (int)strlen(expected));
}

static void class_is(int code, int expected) {
  int class = -1;
  CHECK_OK(MPI_Error_class(code, &class));
  CHECK_EQ(class, expected);
}

static void life_of_a_class(void) {
  int class = 0, code = 0, of_predefined = 0;
  const int before = last_used();
  CHECK(before >= MPI_ERR_LASTCODE);

  CHECK_OK(MPI_Add_error_class(&class));
  CHECK(class > before);
  CHECK_OK(MPI_Add_error_code(class, &code));
  CHECK_OK(MPI_Add_error_code(MPI_ERR_IO, &of_predefined));
  CHECK_EQ(last_used(), of_predefined);

  class_is(class, class);
  class_is(code, class);
  class_is(of_predefined, MPI_ERR_IO);

  text_is(code, "");
  CHECK_OK(MPI_Add_error_string(code, "no paper"));
  CHECK_OK(MPI_Add_error_string(class, "printers"));
  text_is(code, "no paper");
  text_is(class, "printers");
  CHECK_OK(MPI_Remove_error_string(code));
  text_is(code, "");

  CHECK_CLASS(MPI_Remove_error_class(class), MPI_ERR_OTHER); /* a code is left */
  CHECK_OK(MPI_Add_error_string(code, "no toner"));
  CHECK_CLASS(MPI_Remove_error_code(code), MPI_ERR_OTHER); /* it has a string */
  CHECK_OK(MPI_Remove_error_string(code));
  CHECK_OK(MPI_Remove_error_code(code));
  CHECK_CLASS(MPI_Remove_error_class(class), MPI_ERR_OTHER);
  CHECK_OK(MPI_Remove_error_string(class));
  CHECK_OK(MPI_Remove_error_class(class));
  CHECK_OK(MPI_Remove_error_code(of_predefined));
  CHECK_EQ(last_used(), of_predefined);
  CHECK_CLASS(MPI_Remove_error_code(code), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Add_error_code(class, &code), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Add_error_string(MPI_ERR_TAG, "not mine"), MPI_ERR_ARG);
}

/* A user's code goes through the error handler and out of the call as it is. */
static int seen;
static void handler(MPI_Comm* comm, int* code, ...) {
  CHECK_EQ(*comm, MPI_COMM_WORLD);
  seen = *code;
}

static void raised_by_the_user(void) {
  MPI_Errhandler errhandler;
  int code;
  CHECK_OK(MPI_Add_error_code(MPI_ERR_OTHER, &code));
  CHECK_OK(MPI_Comm_create_errhandler(handler, &errhandler));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler));
  CHECK_OK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, code));
  CHECK_EQ(seen, code);
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Errhandler_free(&errhandler));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  life_of_a_class();
  raised_by_the_user();
  MPI_Finalize();
  return check_result();
}
