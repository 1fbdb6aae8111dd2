/* callback: a program with a library that calls it; ALONE: without. They are ranks of one job. */
#include "plugin.h"

#ifndef ALONE
int call_back(void);
int callback(void) { return 7; }
#endif

int main(void) {
  MPI_Init(NULL, NULL);
#ifndef ALONE
  EXPECT(call_back() == 7);
#endif
  MPI_Finalize();
  return failures != 0;
}
