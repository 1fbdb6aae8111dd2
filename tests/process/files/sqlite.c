// All ranks write into one table of SQLite, each with a connection of its own and with the library's default
// locking, which is by fcntl(): with a rollback journal and with a write-ahead log. Workflow tools and
// parameter studies keep their results so.
#include <sqlite3.h>

#include "check.h"

enum { kRows = 40 };

static void execute(sqlite3* base, const char* text) {
  char* error = NULL;
  const int code = sqlite3_exec(base, text, NULL, NULL, &error);
  check(code == SQLITE_OK, "%s: %s", text, error != NULL ? error : sqlite3_errstr(code));
  sqlite3_free(error);
}

static int number(sqlite3* base, const char* text) {
  sqlite3_stmt* statement = NULL;
  int value = -1;
  check(sqlite3_prepare_v2(base, text, -1, &statement, NULL) == SQLITE_OK, "%s: %s", text,
        sqlite3_errmsg(base));
  if (sqlite3_step(statement) == SQLITE_ROW) value = sqlite3_column_int(statement, 0);
  sqlite3_finalize(statement);
  return value;
}

static sqlite3* open_base(const char* name) {
  sqlite3* base = NULL;
  check(sqlite3_open(name, &base) == SQLITE_OK, "sqlite3_open: %s", sqlite3_errmsg(base));
  sqlite3_busy_timeout(base, 60000);
  execute(base, "PRAGMA synchronous = OFF");
  return base;
}

static void fill(const char* name, const char* journal) {
  char text[160];
  if (check_rank == 0) {
    sqlite3* base = open_base(name);
    snprintf(text, sizeof text, "PRAGMA journal_mode = %s", journal);
    execute(base, text);
    execute(base, "CREATE TABLE results (rank INTEGER, row INTEGER)");
    execute(base, "CREATE TABLE counter (value INTEGER)");
    execute(base, "INSERT INTO counter VALUES (0)");
    sqlite3_close(base);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  sqlite3* base = open_base(name);
  for (int row = 0; row < kRows; ++row) {
    execute(base, "BEGIN IMMEDIATE");
    snprintf(text, sizeof text, "INSERT INTO results VALUES (%d, %d)", check_rank, row);
    execute(base, text);
    const int value = number(base, "SELECT value FROM counter");
    snprintf(text, sizeof text, "UPDATE counter SET value = %d", value + 1);
    execute(base, text);
    execute(base, "COMMIT");
  }
  sqlite3_close(base);
  MPI_Barrier(MPI_COMM_WORLD);
  base = open_base(name);
  check(number(base, "SELECT count(*) FROM results") == kRows * check_size, "%s: rows are missing", journal);
  check(number(base, "SELECT value FROM counter") == kRows * check_size, "%s: the counter is %d", journal,
        number(base, "SELECT value FROM counter"));
  check(number(base, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") == 1,
        "%s: the base is damaged", journal);
  sqlite3_close(base);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  static const char* const journals[] = {"DELETE", "WAL"};
  for (int i = 0; i < 2; ++i) {
    char name[64], other[80];
    snprintf(name, sizeof name, "sqlite.%d.%s", check_job, journals[i]);
    if (check_rank == 0) unlink(name);
    MPI_Barrier(MPI_COMM_WORLD);
    fill(name, journals[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
      unlink(name);
      static const char* const rests[] = {"-wal", "-shm", "-journal"};
      for (int rest = 0; rest < 3; ++rest) {
        snprintf(other, sizeof other, "%s%s", name, rests[rest]);
        unlink(other);
      }
    }
  }
  return check_end();
}
