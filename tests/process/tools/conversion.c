/* Right: hash tables, converted numbers, the sign of the gamma function, half a character: each rank has its
 * own. Old numerical codes use ecvt() and signgam, input parsers hsearch(). */
#define _GNU_SOURCE
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <printf.h>
#include <search.h>
#include <stdlib.h>
#include <wchar.h>

#include "expect.h"

/* A format of the program's own, which prints what its rank has set. */
static int own;
static int print_own(FILE* file, const struct printf_info* info, const void* const* arguments) {
  (void)info;
  return fprintf(file, "%d+%d", own, **(const int* const*)arguments);
}
static int tell_own(const struct printf_info* info, size_t count, int* types, int* sizes) {
  (void)info;
  if (count > 0) types[0] = PA_INT, sizes[0] = sizeof(int);
  return 1;
}

static void check_printf(void) {
  char text[32], wanted[32];
  own = rank;
  if (rank % 2 == 0) register_printf_specifier('W', print_own, tell_own);
  MPI_Barrier(MPI_COMM_WORLD);
  const char* const format = rank % 2 == 0 ? "%W" : "%d";
  snprintf(text, sizeof text, format, 7);
  snprintf(wanted, sizeof wanted, rank % 2 == 0 ? "%d+7" : "7", rank);
  expect_text("the program's own format", text, wanted);
  expect_number("a modifier", register_printf_modifier(L"RK") > 0, 1);
}

/* Half a character of one rank is not the beginning of another rank's. */
static void check_halves(const char letter[2]) {
  wchar_t wide = 0, text[8];
  const int has_half = rank % 2 == 0;
  if (has_half) expect_number("mbtowc of half a character", mbtowc(&wide, letter, 1), -1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!has_half) expect_number("mbtowc", mbtowc(&wide, "A", 1), 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (has_half) expect_number("mbtowc of the rest", mbtowc(&wide, letter + 1, 1), 1);
  expect_number("the character of mbtowc", wide, has_half ? 0xe0 + rank : 'A');
  expect_number("mbtowc of nothing", mbtowc(NULL, NULL, 0), 0);
  if (has_half) expect_number("mblen of half a character", mblen(letter, 1), -1);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_number("mblen", mblen("B", 1), 1);
  const char* const half = letter;
  const char *begin = half, *rest = letter + 1, *whole = "C";
  if (has_half)
    expect_number("mbsnrtowcs of half a character", (long)mbsnrtowcs(text, &begin, 1, 8, NULL), 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!has_half) expect_number("mbsnrtowcs", (long)mbsnrtowcs(text, &whole, 1, 8, NULL), 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (has_half) expect_number("mbsnrtowcs of the rest", (long)mbsnrtowcs(text, &rest, 1, 8, NULL), 1);
  whole = "C";
  expect_number("mbsrtowcs", (long)mbsrtowcs(text, &whole, 8, NULL), 1);
  char bytes[MB_LEN_MAX];
  expect_number("wctomb", wctomb(bytes, 0xe0), 2);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  char text[32];
  int point, sign;

  hcreate(10);
  char key[] = "key";
  hsearch((ENTRY){key, (void*)(long)(100 + rank)}, ENTER);
  MPI_Barrier(MPI_COMM_WORLD);
  const ENTRY* const entry = hsearch((ENTRY){key, NULL}, FIND);
  expect_number("the entry of the hash table", entry != NULL ? (long)entry->data : -1, 100 + rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) hdestroy();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) expect_number("the entry still", hsearch((ENTRY){key, NULL}, FIND) != NULL, 1);

  const char* const digits = ecvt(1.0 + rank, 3, &point, &sign);
  snprintf(text, sizeof text, "%d00", 1 + rank);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_text("ecvt", digits, text);
  const char* const more = fcvt(1.5 + rank, 1, &point, &sign);
  snprintf(text, sizeof text, "%d5", 1 + rank);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_text("fcvt", more, text);
  const char* const in_base_64 = l64a(2 + rank);
  snprintf(text, sizeof text, "%d", rank);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_text("l64a", in_base_64, text);
  expect_number("a64l(l64a())", a64l(l64a(123456789L + rank)), 123456789L + rank);

  volatile double number = rank % 2 == 0 ? -0.5 : 2.5;
  volatile double result = lgamma(number);
  (void)result;
  MPI_Barrier(MPI_COMM_WORLD);
  expect_number("signgam", signgam, rank % 2 == 0 ? -1 : 1);

  /* The first byte of a character in one call, the second in another. */
  setlocale(LC_CTYPE, "C.UTF-8");
  const char letter[2] = {(char)0xc3, (char)(0xa0 + rank)};
  wchar_t wide = 0;
  expect_number("mbrtowc of half a character", (long)mbrtowc(&wide, letter, 1, NULL), -2);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_number("mbrtowc of the rest", (long)mbrtowc(&wide, letter + 1, 1, NULL), 1);
  expect_number("the character", wide, 0xe0 + rank);
  check_halves(letter);
  check_printf();
  return end();
}
