// Walks through a tree by fts and by nftw(FTW_CHDIR), which change the working directory inside the C library,
// with MPI between the entries. Right: each rank finds its own files by the names that are relative to where it
// is, and is back where it began when the walk ends.
#include "check.h"

#include <fts.h>
#include <ftw.h>

enum { kFolders = 4, kFiles = 3 };

static int seen, lost;

static void make_tree(void) {
  char name[128];
  for (int i = 0; i < kFolders; ++i) {
    snprintf(name, sizeof name, "%s/folder%d", folder, i);
    mkdir(name, 0700);
    for (int k = 0; k < kFiles; ++k) {
      snprintf(name, sizeof name, "%s/folder%d/of_rank_%d.%d", folder, i, rank, k);
      close(open(name, O_CREAT | O_WRONLY, 0600));
    }
  }
}

static int visit(const char* path, const struct stat* status, int kind, struct FTW* place) {
  (void)status;
  if (kind != FTW_F) return 0;
  step();
  struct stat found;
  if (stat(path + place->base, &found) != 0) ++lost;
  ++seen;
  return 0;
}

static void by_fts(void) {
  char* paths[] = {folder, NULL};
  FTS* const walk = fts_open(paths, FTS_PHYSICAL, NULL);
  int files = 0;
  lost = 0;
  for (FTSENT* entry = fts_read(walk); entry != NULL; entry = fts_read(walk)) {
    if (entry->fts_info != FTS_F) continue;
    step();
    struct stat found;
    if (stat(entry->fts_accpath, &found) != 0) ++lost;
    ++files;
  }
  fts_close(walk);
  check(files == kFolders * kFiles && lost == 0, "fts: %d files, %d not found", files, lost);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  make_folder();
  make_tree();
  char before[512], after[512];
  check(getcwd(before, sizeof before) != NULL, "getcwd: %s", strerror(errno));
  step();
  by_fts();
  check_text("directory after fts", getcwd(after, sizeof after), before);
  step();
  lost = 0;
  check(nftw(folder, visit, 10, FTW_CHDIR | FTW_PHYS) == 0, "nftw: %s", strerror(errno));
  check(seen == kFolders * kFiles && lost == 0, "nftw: %d files, %d not found", seen, lost);
  check_text("directory after nftw", getcwd(after, sizeof after), before);
  return end();
}
