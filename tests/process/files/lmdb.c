// All ranks write into one database of LMDB and read it. LMDB tells readers apart by process and forbids a
// process to open a database twice, so mpiexec gives each rank a process by itself.
#include <lmdb.h>
#include <sys/stat.h>

#include "check.h"

enum { kTimes = 50 };

static void good(int code, const char* call) { check(code == 0, "%s: %s", call, mdb_strerror(code)); }

static int value_of(MDB_txn* txn, MDB_dbi base) {
  MDB_val key = {7, "counter"}, value;
  if (mdb_get(txn, base, &key, &value) != 0) return 0;
  int number = 0;
  memcpy(&number, value.mv_data, sizeof number);
  return number;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  char folder[64], file[80];
  snprintf(folder, sizeof folder, "lmdb.%d", check_job);
  if (check_rank == 0) mkdir(folder, 0755);
  MPI_Barrier(MPI_COMM_WORLD);
  MDB_env* env = NULL;
  MDB_txn* txn = NULL;
  MDB_dbi base = 0;
  good(mdb_env_create(&env), "mdb_env_create");
  good(mdb_env_open(env, folder, MDB_NOSYNC, 0644), "mdb_env_open");
  for (int i = 0; i < kTimes; ++i) {
    good(mdb_txn_begin(env, NULL, 0, &txn), "mdb_txn_begin");
    good(mdb_dbi_open(txn, NULL, 0, &base), "mdb_dbi_open");
    int next = value_of(txn, base) + 1;
    MDB_val key = {7, "counter"}, value = {sizeof next, &next};
    good(mdb_put(txn, base, &key, &value, 0), "mdb_put");
    good(mdb_txn_commit(txn), "mdb_txn_commit");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  good(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn), "mdb_txn_begin");
  check(value_of(txn, base) == kTimes * check_size, "counted %d", value_of(txn, base));
  mdb_txn_abort(txn);
  mdb_env_close(env);
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) {
    static const char* const parts[] = {"data.mdb", "lock.mdb"};
    for (int i = 0; i < 2; ++i) {
      snprintf(file, sizeof file, "%s/%s", folder, parts[i]);
      unlink(file);
    }
    rmdir(folder);
  }
  return check_end();
}
