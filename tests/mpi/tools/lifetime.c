/* The interface begins before MPI_Init, ends after MPI_Finalize, and is counted in between. */
#include "tools.h"

static void not_initialised(void) {
  int number = -1;
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  CHECK_EQ(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_event_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_category_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_source_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_pvar_session_create(&session), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(number, -1);
}

static void works(void) {
  int number = -1;
  T_OK(MPI_T_cvar_get_num(&number));
  CHECK(number > 0);
}

static void wrong_arguments(void) {
  int provided = -1;
  CHECK_EQ(MPI_T_init_thread(77, &provided), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(provided, -1);
}

/* The last end frees what is left. */
static void leftovers(void) {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  MPI_T_cvar_handle control_handle;
  MPI_T_event_registration registration;
  int count;
  T_OK(MPI_T_pvar_session_create(&session));
  T_OK(MPI_T_pvar_handle_alloc(session, meter("most_unexpected_messages", MPI_T_PVAR_CLASS_HIGHWATERMARK),
                               NULL, &handle, &count));
  T_OK(MPI_T_pvar_start(session, handle));
  T_OK(MPI_T_cvar_handle_alloc(control("eager_limit"), NULL, &control_handle, &count));
  T_OK(MPI_T_event_handle_alloc(event("collective"), NULL, MPI_INFO_NULL, &registration));
  T_OK(MPI_T_finalize());
  not_initialised();
  start_tool();
  CHECK_EQ(MPI_T_pvar_start(session, handle), MPI_T_ERR_INVALID_SESSION);
  CHECK_EQ(MPI_T_cvar_handle_free(&control_handle), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_handle_free(registration, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
}

int main(int argc, char** argv) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  not_initialised();
  wrong_arguments();
  start_tool();
  works();
  start_tool();
  T_OK(MPI_T_finalize());
  works();
  MPI_Init(&argc, &argv);
  works();
  leftovers();
  MPI_Pcontrol(1, "nobody listens");
  CHECK_OK(MPI_Error_string(MPI_T_ERR_INVALID_INDEX, text, &length));
  CHECK(strstr(text, "MPI_T_ERR_INVALID_INDEX") != NULL);
  MPI_Finalize();
  works();
  T_OK(MPI_T_finalize());
  not_initialised();
  start_tool();
  works();
  T_OK(MPI_T_finalize());
  return check_result();
}
