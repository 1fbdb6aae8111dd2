/* Ranks that take some time to end at SIGTERM, and read something anew at SIGHUP. Each says "ready", "again" for
   each SIGHUP, and then "ending" and "saved". With an argument FILE they end at SIGHUP, too; each makes
   FILE.ready.RANK when it is ready, and FILE.saved.RANK at its end. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t ends, hangups;
static int ends_at_hangup;

static void handle(int number) { number == SIGHUP && !ends_at_hangup ? ++hangups : (ends = 1); }

static void make(const char* file, const char* what) {
  char name[4096];
  int rank;
  FILE* made;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(name, sizeof name, "%s.%s.%d", file, what, rank);
  made = fopen(name, "w");
  if (made != NULL) fclose(made);
}

int main(int argc, char** argv) {
  int told = 0;
  MPI_Init(&argc, &argv);
  ends_at_hangup = argc > 1;
  signal(SIGTERM, handle);
  signal(SIGHUP, handle);
  puts("ready");
  fflush(stdout);
  if (argc > 1) make(argv[1], "ready");
  while (!ends) {
    usleep(20000);
    if (told == hangups) continue;
    told = hangups;
    puts("again");
    fflush(stdout);
  }
  puts("ending");
  fflush(stdout);
  usleep(200000);
  puts("saved");
  if (argc > 1) make(argv[1], "saved");
  MPI_Finalize();
  return 0;
}
