/* A tool that lists everything, as MPI's users know it from `varlist`: each index, each lookup by name, the
 * enumerations behind them, and that categories hold each thing exactly once. Rank 0 prints the list. */
#include "tools.h"

#define MOST 1024

static int rank, seen[4][MOST]; /* controls, meters, events, categories: how many categories have it */

static void print(const char* kind, const char* name, const char* description) {
  if (rank == 0) printf("%-9s%-36s%s\n", kind, name, description);
}

/* Each item of an enumeration, and no more. */
static void list_items(MPI_T_enum enumeration) {
  char name[256];
  int count = -1, value = -1, length = sizeof name;
  if (enumeration == MPI_T_ENUM_NULL) return;
  T_OK(MPI_T_enum_get_info(enumeration, &count, name, &length));
  CHECK(count > 0);
  CHECK_EQ(length, (int)strlen(name) + 1);
  for (int i = 0; i < count; ++i) {
    length = sizeof name;
    T_OK(MPI_T_enum_get_item(enumeration, i, &value, name, &length));
    CHECK(value >= 0 && length > 1);
    print("", "", name);
  }
  CHECK_EQ(MPI_T_enum_get_item(enumeration, count, &value, name, &length), MPI_T_ERR_INVALID_ITEM);
  CHECK_EQ(MPI_T_enum_get_item(enumeration, -1, &value, name, &length), MPI_T_ERR_INVALID_ITEM);
}

static void list_controls(void) {
  char name[256], description[512];
  int count = 0, found = -1, verbosity, bind, scope;
  MPI_Datatype type;
  MPI_T_enum enumeration;
  T_OK(MPI_T_cvar_get_num(&count));
  CHECK(count > 0 && count <= MOST);
  for (int i = 0; i < count; ++i) {
    int name_length = sizeof name, description_length = sizeof description;
    T_OK(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &enumeration, description,
                             &description_length, &bind, &scope));
    CHECK_EQ(name_length, (int)strlen(name) + 1);
    CHECK_EQ(description_length, (int)strlen(description) + 1);
    CHECK(type == MPI_INT || type == MPI_COUNT || type == MPI_CHAR);
    CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
    CHECK_EQ(bind, MPI_T_BIND_NO_OBJECT);
    CHECK(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ);
    CHECK(enumeration == MPI_T_ENUM_NULL || type == MPI_INT);
    T_OK(MPI_T_cvar_get_index(name, &found));
    CHECK_EQ(found, i);
    print("control", name, description);
    list_items(enumeration);
  }
  CHECK_EQ(MPI_T_cvar_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
           MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
           MPI_T_ERR_INVALID_INDEX);
  T_OK(MPI_T_cvar_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  CHECK_EQ(MPI_T_cvar_get_index("no such name", &found), MPI_T_ERR_INVALID_NAME);
}

static void list_meters(void) {
  char name[256], description[512];
  int count = 0, found = -1, verbosity, class, bind, readonly, continuous, atomic;
  MPI_Datatype type;
  MPI_T_enum enumeration;
  T_OK(MPI_T_pvar_get_num(&count));
  CHECK(count > 0 && count <= MOST);
  for (int i = 0; i < count; ++i) {
    int name_length = sizeof name, description_length = sizeof description;
    T_OK(MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &enumeration, description,
                             &description_length, &bind, &readonly, &continuous, &atomic));
    CHECK_EQ(name_length, (int)strlen(name) + 1);
    CHECK_EQ(description_length, (int)strlen(description) + 1);
    CHECK_EQ(type, class == MPI_T_PVAR_CLASS_STATE ? MPI_INT : MPI_UNSIGNED_LONG_LONG);
    CHECK_EQ(enumeration != MPI_T_ENUM_NULL, class == MPI_T_PVAR_CLASS_STATE);
    CHECK(bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM);
    CHECK_EQ(atomic, class == MPI_T_PVAR_CLASS_COUNTER || class == MPI_T_PVAR_CLASS_AGGREGATE);
    CHECK_EQ(readonly, continuous);
    T_OK(MPI_T_pvar_get_index(name, class, &found));
    CHECK_EQ(found, i);
    CHECK_EQ(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_GENERIC, &found), MPI_T_ERR_INVALID_NAME);
    print("meter", name, description);
    list_items(enumeration);
  }
  CHECK_EQ(MPI_T_pvar_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
           MPI_T_ERR_INVALID_INDEX);
  T_OK(MPI_T_pvar_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
}

static void list_events(void) {
  char name[256], description[512];
  int count = 0, found = -1, verbosity, bind;
  MPI_T_enum enumeration;
  MPI_Datatype types[8];
  MPI_Aint displacements[8];
  T_OK(MPI_T_event_get_num(&count));
  CHECK(count > 0 && count <= MOST);
  for (int i = 0; i < count; ++i) {
    int name_length = sizeof name, description_length = sizeof description, elements = 8, items = -1, few = 1;
    MPI_Info info = MPI_INFO_NULL;
    T_OK(MPI_T_event_get_info(i, name, &name_length, &verbosity, types, displacements, &elements,
                              &enumeration, &info, description, &description_length, &bind));
    CHECK_EQ(name_length, (int)strlen(name) + 1);
    CHECK(elements > 0 && elements <= 8);
    CHECK_EQ(displacements[0], 0);
    for (int e = 0; e < elements; ++e) {
      CHECK(types[e] == MPI_INT || types[e] == MPI_COUNT);
      CHECK(e == 0 || displacements[e] > displacements[e - 1]);
    }
    T_OK(MPI_T_enum_get_info(enumeration, &items, NULL, NULL));
    CHECK_EQ(items, elements);
    CHECK_OK(MPI_Info_free(&info));
    types[1] = MPI_DATATYPE_NULL; /* no more than there is room for */
    T_OK(MPI_T_event_get_info(i, NULL, NULL, NULL, types, displacements, &few, NULL, NULL, NULL, NULL, NULL));
    CHECK_EQ(few, elements);
    CHECK_EQ(types[1], MPI_DATATYPE_NULL);
    T_OK(MPI_T_event_get_index(name, &found));
    CHECK_EQ(found, i);
    print("event", name, description);
    list_items(enumeration);
  }
  CHECK_EQ(MPI_T_event_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
           MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_event_get_index("no such name", &found), MPI_T_ERR_INVALID_NAME);
}

static void list_sources(void) {
  char name[256], description[512];
  int count = 0;
  T_OK(MPI_T_source_get_num(&count));
  CHECK(count > 0);
  for (int i = 0; i < count; ++i) {
    int name_length = sizeof name, description_length = sizeof description;
    MPI_T_source_order order;
    MPI_Count ticks = 0, most = 0, before = -1, after = -1;
    MPI_Info info = MPI_INFO_NULL;
    T_OK(MPI_T_source_get_info(i, name, &name_length, description, &description_length, &order, &ticks, &most,
                               &info));
    CHECK_EQ(order, MPI_T_SOURCE_ORDERED);
    CHECK(ticks > 0 && most > 0 && name_length > 1);
    CHECK_OK(MPI_Info_free(&info));
    T_OK(MPI_T_source_get_timestamp(i, &before));
    T_OK(MPI_T_source_get_timestamp(i, &after));
    CHECK(before >= 0 && after >= before);
    print("source", name, description);
  }
  CHECK_EQ(MPI_T_source_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
           MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_source_get_timestamp(count, NULL), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_source_get_timestamp(0, NULL), MPI_T_ERR_INVALID);
}

/* Notes what a category has, and that it has not more than it says. */
static void note(int kind, int (*get)(int, int, int[]), int category, int expected) {
  static int indices[MOST + 1];
  for (int i = 0; i <= MOST; ++i) indices[i] = -1;
  T_OK(get(category, MOST, indices));
  for (int i = 0; i < expected; ++i) {
    CHECK(indices[i] >= 0 && indices[i] < MOST);
    ++seen[kind][indices[i]];
  }
  CHECK_EQ(indices[expected], -1);
  if (expected < 2) return;
  indices[1] = -2;
  T_OK(get(category, 1, indices));
  CHECK_EQ(indices[1], -2);
  CHECK_EQ(get(category, -1, indices), MPI_T_ERR_INVALID);
}

static void list_categories(void) {
  char name[256], description[512];
  int count = 0, found = -1, before = -1, after = -1;
  T_OK(MPI_T_category_changed(&before));
  T_OK(MPI_T_category_get_num(&count));
  CHECK(count > 0 && count <= MOST);
  for (int i = 0; i < count; ++i) {
    int name_length = sizeof name, description_length = sizeof description;
    int controls = -1, meters = -1, categories = -1, events = -1;
    T_OK(MPI_T_category_get_info(i, name, &name_length, description, &description_length, &controls, &meters,
                                 &categories));
    T_OK(MPI_T_category_get_num_events(i, &events));
    T_OK(MPI_T_category_get_index(name, &found));
    CHECK_EQ(found, i);
    note(0, MPI_T_category_get_cvars, i, controls);
    note(1, MPI_T_category_get_pvars, i, meters);
    note(2, MPI_T_category_get_events, i, events);
    note(3, MPI_T_category_get_categories, i, categories);
    print("category", name, description);
  }
  T_OK(MPI_T_category_changed(&after));
  CHECK_EQ(after, before);
  int totals[4];
  T_OK(MPI_T_cvar_get_num(&totals[0]));
  T_OK(MPI_T_pvar_get_num(&totals[1]));
  T_OK(MPI_T_event_get_num(&totals[2]));
  totals[3] = count;
  for (int kind = 0; kind < 4; ++kind)
    for (int i = 0; i < MOST; ++i) /* the first category is in none */
      CHECK_EQ(seen[kind][i], i < totals[kind] && !(kind == 3 && i == 0));
  CHECK_EQ(MPI_T_category_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_category_get_num_events(count, &found), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_category_get_cvars(count, 0, NULL), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_category_get_categories(-1, 0, NULL), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_category_get_index("no such name", &found), MPI_T_ERR_INVALID_NAME);
}

/* Section 15.3.3: what comes into a buffer that is too small, of size 0, or not there at all. */
static void lengths(void) {
  char whole[256], cut[256];
  int whole_length = sizeof whole, length = 4;
  T_OK(MPI_T_category_get_info(1, whole, &whole_length, NULL, NULL, NULL, NULL, NULL));
  CHECK(whole_length > 4);
  memset(cut, 'x', sizeof cut);
  T_OK(MPI_T_category_get_info(1, cut, &length, NULL, NULL, NULL, NULL, NULL));
  CHECK_EQ(length, whole_length);
  CHECK_EQ(strlen(cut), 3);
  CHECK(strncmp(cut, whole, 3) == 0 && cut[4] == 'x');
  length = 0;
  cut[0] = 'y';
  T_OK(MPI_T_category_get_info(1, cut, &length, NULL, NULL, NULL, NULL, NULL));
  CHECK_EQ(length, whole_length);
  CHECK_EQ(cut[0], 'y');
  length = 1;
  T_OK(MPI_T_category_get_info(1, cut, &length, NULL, NULL, NULL, NULL, NULL));
  CHECK_EQ(cut[0], '\0');
  length = -1;
  T_OK(MPI_T_category_get_info(1, NULL, &length, NULL, NULL, NULL, NULL, NULL));
  CHECK_EQ(length, whole_length);
  cut[0] = 'z';
  T_OK(MPI_T_category_get_info(1, cut, NULL, NULL, NULL, NULL, NULL, NULL));
  CHECK_EQ(cut[0], 'z');
}

static void wrong(void) {
  CHECK_EQ(MPI_T_enum_get_info(MPI_T_ENUM_NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_enum_get_item((MPI_T_enum)77, 0, NULL, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_pvar_get_num(NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_event_get_num(NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_source_get_num(NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_category_get_num(NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_category_changed(NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_cvar_get_index(NULL, NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_pvar_get_index(NULL, 0, NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_event_get_index(NULL, NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_category_get_index(NULL, NULL), MPI_T_ERR_INVALID);
}

int main(int argc, char** argv) {
  start_tool();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  list_controls();
  list_meters();
  list_events();
  list_sources();
  list_categories();
  lengths();
  wrong();
  MPI_Finalize();
  T_OK(MPI_T_finalize());
  return check_result();
}
