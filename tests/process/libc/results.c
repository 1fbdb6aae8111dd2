// Results of the C library's functions that Clump computes for each rank. Right: they are those of the C
// library.
#include "check.h"

#include <getopt.h>
#include <glob.h>
#include <sys/select.h>
#include <time.h>
#include <wchar.h>

static void check_numbers(void) {
  int point = 0, sign = 0;
  const char* const digits = qfcvt(1e600L, 0, &point, &sign);
  check(digits != NULL && strlen(digits) == 601 && point == 601, "qfcvt: %d digits before the point", point);
}

static void check_time(void) {
  setenv("TZ", rank == 0 ? "UTC" : "ABC-9", 1);
  tzset();
  step();
  struct tm time = {.tm_year = 126, .tm_mon = 5, .tm_mday = 1, .tm_hour = 12};
  char text[32];
  wchar_t wide[32];
  const char* const wanted = rank == 0 ? "1780315200" : "1780282800";
  strftime(text, sizeof text, "%s", &time);
  check_text("strftime %s", text, wanted);
  strftime(text, sizeof text, "%-s", &time);
  check_text("strftime %-s", text, wanted);
  strftime(text, sizeof text, "%_12s", &time);
  check_text("strftime %_12s", text + 2, wanted);
  strftime(text, sizeof text, "%%s", &time);
  check_text("strftime %%s", text, "%s");
  strftime(text, sizeof text, "%Z", &time);
  check_text("strftime %Z", text, rank == 0 ? "UTC" : "ABC");
  wcsftime(wide, 32, L"%-s", &time);
  snprintf(text, sizeof text, "%ls", wide);
  check_text("wcsftime %-s", text, wanted);
  memset(&time, 0, sizeof time);
  check(strptime("1700000000", "%s", &time) != NULL, "strptime %%s fails");
  check(time.tm_hour == (rank == 0 ? 22 : 7), "the hour of strptime %%s is %d", time.tm_hour);
  step();
}

static void check_glob_of(const char* pattern, int flags, int wanted, const char* first) {
  glob_t found = {0};
  const int result = glob(pattern, flags, NULL, &found);
  check(result == wanted, "glob(%s, %x) is %d", pattern, (unsigned)flags, result);
  if (result != 0) return;
  check(found.gl_pathc == 1, "glob(%s) finds %zu", pattern, found.gl_pathc);
  check_text(pattern, found.gl_pathv[0], first);
  globfree(&found);
}

static void check_glob(void) {
  char file[96];
  setenv("HOME", folder, 1);
  snprintf(file, sizeof file, "%s/file", folder);
  fclose(fopen(file, "w"));
  check_glob_of("~/f*", GLOB_TILDE, 0, file);
  check_glob_of("~/f*", GLOB_TILDE | GLOB_NOCHECK, 0, file);
  check_glob_of("~/none*", GLOB_TILDE | GLOB_NOCHECK, 0, "~/none*");
  check_glob_of("~/none", GLOB_TILDE | GLOB_NOCHECK, 0, "~/none");
  check_glob_of("~/none*", GLOB_TILDE, GLOB_NOMATCH, NULL);
  check_glob_of("~/none", GLOB_TILDE | GLOB_NOMAGIC, GLOB_NOMATCH, NULL);
  check_glob_of("~/no{ne*,body*}", GLOB_TILDE | GLOB_BRACE | GLOB_NOCHECK, 0, "~/no{ne*,body*}");
}

// What getopt_long() or getopt_long_only() says about one argument.
static void check_option(int only, const char* argument, int wanted, const char* message) {
  static const struct option options[] = {
      {"fobx", no_argument, NULL, 300},
      {"foby", no_argument, NULL, 300},
      {"gone", no_argument, NULL, 1},
      {"give", no_argument, NULL, 2},
      {NULL, 0, NULL, 0},
  };
  char program[] = "program", copy[32], path[96], text[128] = "";
  snprintf(copy, sizeof copy, "%s", argument);
  snprintf(path, sizeof path, "%s/messages", folder);
  char* all[] = {program, copy, NULL};
  fflush(stderr);
  const int before = dup(STDERR_FILENO), messages = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  dup2(messages, STDERR_FILENO);
  optind = 0;
  const int result =
      only ? getopt_long_only(2, all, "", options, NULL) : getopt_long(2, all, "", options, NULL);
  fflush(stderr);
  dup2(before, STDERR_FILENO);
  const ssize_t bytes = pread(messages, text, sizeof text - 1, 0);
  text[bytes > 0 ? bytes : 0] = '\0';
  close(before), close(messages);
  check(result == wanted, "%s is option %d", argument, result);
  check_text(argument, text, message);
}

static void check_options(void) {
  check(optopt == '?', "optopt is %d at the begin", optopt);
  check_option(0, "--fob", 300, "");
  check(optopt == 0, "optopt is %d after a call without an error", optopt);
  check_option(1, "-fob", '?', "program: option '-fob' is ambiguous; possibilities: '-fobx' '-foby'\n");
  check_option(1, "-fobx", 300, "");
  check_option(0, "--g=1", '?', "program: option '--g=1' is ambiguous; possibilities: '--gone' '--give'\n");
  check_option(0, "--none=1", '?', "program: unrecognized option '--none=1'\n");
}

static void check_select(void) {
  int ends[2];
  if (pipe(ends) != 0) exit(2);
  const int before = dup(STDIN_FILENO);
  dup2(ends[0], STDIN_FILENO);  // for which Clump calls poll()
  fd_set set;
  FD_ZERO(&set);
  FD_SET(STDIN_FILENO, &set);
  struct timeval time = {0, 1000000};
  check(write(ends[1], "1", 1) == 1, "write: %s", strerror(errno));
  const int result = select(1, &set, NULL, NULL, &time);
  check(result == 1, "select() with 1,000,000 microseconds is %d: %s", result, strerror(errno));
  dup2(before, STDIN_FILENO);
  close(before), close(ends[0]), close(ends[1]);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  make_folder();
  check_numbers();
  check_time();
  check_glob();
  check_options();
  check_select();
  return end();
}
