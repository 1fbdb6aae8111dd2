/* Ranks that take some time to end at SIGTERM, and read something anew at SIGHUP. Each says "ready", "again" for
   each SIGHUP, and then "ending" and "saved". */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t ends, hangups;

static void handle(int number) { number == SIGHUP ? ++hangups : (ends = 1); }

int main(int argc, char** argv) {
  int told = 0;
  MPI_Init(&argc, &argv);
  signal(SIGTERM, handle);
  signal(SIGHUP, handle);
  puts("ready");
  fflush(stdout);
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
  MPI_Finalize();
  return 0;
}
