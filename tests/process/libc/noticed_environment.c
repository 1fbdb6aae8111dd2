// What the C library reads from the environment by itself, in functions that want a process: wordexp(), tempnam().
// Right: each rank gets what it has set.
#include "check.h"

#include <wordexp.h>

static void expect(const char* words, const char* wanted) {
  wordexp_t found;
  if (wordexp(words, &found, 0) != 0) {
    check(0, "wordexp(\"%s\") fails", words);
    return;
  }
  check_text(words, found.we_wordv[0], wanted);
  wordfree(&found);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  make_folder();
  char value[16];
  snprintf(value, sizeof value, "of_rank_%d", rank);
  setenv("CLUMP_TEST_VALUE", value, 1);
  setenv("HOME", folder, 1);
  setenv("TMPDIR", folder, 1);
  step();
  expect("$CLUMP_TEST_VALUE", value);
  expect("$(echo $CLUMP_TEST_VALUE)", value);
  expect("~", folder);
  char* const name = tempnam(NULL, "prefix");
  check(name != NULL && strncmp(name, folder, strlen(folder)) == 0, "tempnam gives %s, which is not in %s",
        name != NULL ? name : "nothing", folder);
  free(name);
  return end();
}
