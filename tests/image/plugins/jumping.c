/* A library whose constructor jumps within itself, and then tells the program (jumps.c). */
#include <setjmp.h>

void constructor_has_jumped(void);

static jmp_buf place;
__attribute__((noinline)) static void jump(void) { longjmp(place, 1); }

__attribute__((constructor)) static void construct(void) {
  if (setjmp(place) == 0) jump();
  constructor_has_jumped();
}
