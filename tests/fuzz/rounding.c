/* Part rounding: reductions of MPI round as the rank that calls them has chosen (fesetround, flush to zero),
   and leave its choice and its exception flags as arithmetic of its own would. Each step chooses anew; for
   operations of one rank alone, each rank its own. Sums are 1 or -1 and very small numbers, so that the order
   does not matter.

   It is also the child that part cycle spawns: a program that imports <fenv.h> beside ranks whose does not.
 */
#include <fenv.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "fuzz.h"

enum {
  kLocal,
  kAllreduce,
  kIallreduce,
  kReduce,
  kScan,
  kReduceScatter,
  kAccumulate,
  kOverflow,
  kFlush,
  kKinds
};
static const char* const kNames[] = {"MPI_Reduce_local", "MPI_Allreduce",
                                     "MPI_Iallreduce",   "MPI_Reduce",
                                     "MPI_Scan",         "MPI_Reduce_scatter_block",
                                     "MPI_Accumulate",   "flags of MPI_Reduce_local",
                                     "flush to zero"};
static const int kModes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
enum { kTerms = 400000 };
static double in[kTerms], out[kTerms];
static MPI_Win win;
static double* memory; /* of the window */

/* Sum of `sign` and up to n - 1 very small numbers of that sign: moved by up to n - 1 steps away from zero,
   or not at all. */
static void check_sums(const double* sums, int count, int mode, double sign, int n, const char* what) {
  const int away = (mode == FE_UPWARD && sign > 0) || (mode == FE_DOWNWARD && sign < 0);
  const double step = 2.220446049250313e-16;
  int wrong = 0, first = -1;
  const int was = fegetround();
  fesetround(FE_TONEAREST);
  for (int i = 0; i < count; i++) {
    const double off = (sums[i] * sign - 1.0) / step;
    if (away && n > 1 ? off >= 1.0 && off <= n - 1 : off == 0.0) continue;
    if (wrong++ == 0) first = i;
  }
  CHECK(wrong == 0,
        "%s of %d ranks, rounding mode %d: %d of %d sums are not rounded so, the first is number %d: %.17g",
        what, n, mode, wrong, count, first, sums[first]);
  fesetround(was);
}

/* Operations of one rank. */
static void local_sums(Random* random, int count) {
  const int mode = kModes[below(random, 4)];
  const double sign = chance(random, 50) ? 1 : -1;
  for (int i = 0; i < count; i++) {
    in[i] = sign;
    out[i] = sign * 1e-30;
  }
  fesetround(mode);
  MPI_Reduce_local(in, out, count, MPI_DOUBLE, MPI_SUM);
  CHECK(fegetround() == mode, "MPI_Reduce_local changes the rounding mode");
  check_sums(out, count, mode, sign, 2, "MPI_Reduce_local");
}
static void overflows(Random* random, int count) {
  for (int i = 0; i < count; i++) in[i] = out[i] = 0;
  const int at = below(random, count);
  in[at] = out[at] = 1.5e308;
  feclearexcept(FE_ALL_EXCEPT);
  MPI_Reduce_local(in, out, count, MPI_DOUBLE, MPI_SUM);
  CHECK(fetestexcept(FE_OVERFLOW), "element %d of %d overflows, and the flag is not set", at, count);
  feclearexcept(FE_ALL_EXCEPT);
  for (int i = 0; i < count; i++) in[i] = out[i] = 1;
  MPI_Reduce_local(in, out, count, MPI_DOUBLE, MPI_SUM);
  CHECK(!fetestexcept(FE_OVERFLOW | FE_DIVBYZERO | FE_INVALID), "a reduction of ones sets exception flags");
}
static void flushes(Random* random, int count) {
#ifdef __SSE__
  const int flush = chance(random, 50);
  const unsigned was = _mm_getcsr();
  int wrong = 0;
  for (int i = 0; i < count; i++) {
    in[i] = 1e-310;
    out[i] = 2e-310;
  }
  _mm_setcsr(flush ? was | 0x8040 : was & ~0x8040u);
  MPI_Reduce_local(in, out, count, MPI_DOUBLE, MPI_SUM);
  _mm_setcsr(was & ~0x8040u);
  for (int i = 0; i < count; i++) wrong += flush ? out[i] != 0.0 : out[i] == 0.0;
  _mm_setcsr(was);
  CHECK(wrong == 0, "%d of %d denormal sums are %s", wrong, count,
        flush ? "not flushed to zero" : "flushed to zero");
#else
  (void)random;
  (void)count;
#endif
}

/* Operations of all ranks, all with the same mode. */
static void sums_of_all(Random* random, int kind, int count) {
  const int mode = kModes[below(random, 4)], root = below(random, fuzz.size), per = count / fuzz.size;
  const double sign = chance(random, 50) ? 1 : -1;
  MPI_Request request;
  int ranks = fuzz.size, has_result = 1;
  for (int i = 0; i < count; i++) in[i] = fuzz.rank == 0 ? sign : sign * 1e-30;
  for (int i = 0; i < count; i++) out[i] = 0;
  fesetround(mode);
  if (kind == kAllreduce) MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (kind == kIallreduce) {
    MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    complete(random, &request, MPI_STATUS_IGNORE);
  }
  if (kind == kReduce) MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
  if (kind == kReduce) has_result = fuzz.rank == root;
  if (kind == kScan) MPI_Scan(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (kind == kScan) ranks = fuzz.rank + 1;
  if (kind == kReduceScatter) MPI_Reduce_scatter_block(in, out, per, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  CHECK(fegetround() == mode, "%s changes the rounding mode", kNames[kind]);
  if (has_result) check_sums(out, kind == kReduceScatter ? per : count, mode, sign, ranks, kNames[kind]);
}
/* The next rank's memory has 1; this rank adds a very small number. */
static void accumulates(Random* random, int count) {
  const int mode = kModes[below(random, 4)];
  const double sign = chance(random, 50) ? 1 : -1;
  for (int i = 0; i < count; i++) in[i] = sign * 1e-30;
  MPI_Win_fence(0, win);
  for (int i = 0; i < count; i++) memory[i] = sign;
  fesetround(mode);
  MPI_Win_fence(0, win);
  MPI_Accumulate(in, count, MPI_DOUBLE, (fuzz.rank + 1) % fuzz.size, 0, count, MPI_DOUBLE, MPI_SUM, win);
  MPI_Win_fence(0, win);
  CHECK(fegetround() == mode, "MPI_Accumulate changes the rounding mode");
  check_sums(memory, count, mode, sign, 2, kNames[kAccumulate]);
}

static void plan(int steps) {
  for (int i = 0; i < steps; i++) {
    Random random = plan_of(i, 0), own = own_of(i, 1);
    if (!step_begins(i)) continue;
    const int kind = below(&random, kKinds), most = fuzz.bytes / 8 < kTerms ? fuzz.bytes / 8 : kTerms,
              wanted =
                  chance(&random, 30) ? between(&random, 30000, kTerms) : 1 + bytes_of(&random, 100000) / 8,
              count = wanted > most ? 1 + wanted % (most + 1) : wanted;
    if (left_out(kind)) continue;
    note("%s of %d numbers", kNames[kind], count);
    if (kind == kLocal) local_sums(&own, count);
    if (kind == kOverflow) overflows(&own, count);
    if (kind == kFlush) flushes(&own, count);
    if (kind == kAccumulate) accumulates(&random, count);
    if (kind >= kAllreduce && kind <= kReduceScatter) sums_of_all(&random, kind, count);
    fesetround(FE_TONEAREST);
  }
}

static int child(int argc, char** argv) {
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  feclearexcept(FE_ALL_EXCEPT);
  const int flags = fetestexcept(FE_ALL_EXCEPT);
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return flags != 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && !strcmp(argv[1], "child")) return child(argc, argv);
#if defined(__SSE__) && !defined(FUZZ_FAST)
  const unsigned control = _mm_getcsr() & 0xffc0u;
#else
  const unsigned control = 0x1f80;
#endif
  fuzz_init(argc, argv, "rounding");
  CHECK(control == 0x1f80, "main begins with the control word %x, not 1f80", control);
  MPI_Win_allocate(sizeof out, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  run_seeds(40, plan);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
