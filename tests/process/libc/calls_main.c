// A program whose library imports functions that act on the process. Right: it shares its process as long as none is
// called ("none"); the call ends the job with an error that says what to do.
#include "check.h"

void make_call(const char* call);

int main(int argc, char** argv) {
  begin(&argc, &argv);
  make_call(argv[1]);
  return end();
}
