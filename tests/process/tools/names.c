/* Right: what one rank has been told about users, groups, hosts and the like stays as it is while others ask
 * for something else. The C library keeps such answers in memory that a process has once. Programs ask who
 * runs them, and on which host (banners, licences, scratch folders). */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "expect.h"

static void check_users(void) {
  char line[64], name[16];
  FILE* file = tmpfile();
  snprintf(name, sizeof name, "user%d", rank);
  fprintf(file, "%s:x:%d:%d::/home:/bin/sh\n", name, 1000 + rank, 1000 + rank);
  rewind(file);
  const struct passwd* const mine = fgetpwent(file);
  const struct group* const group = getgrgid(rank % 2 == 0 ? 0 : 1);
  snprintf(line, sizeof line, "%s", group != NULL ? group->gr_name : "");
  MPI_Barrier(MPI_COMM_WORLD);
  expect_text("the user's name", mine != NULL ? mine->pw_name : NULL, name);
  if (group != NULL) expect_text("the group's name", group->gr_name, line);
  fclose(file);
  const struct passwd* const user = getpwuid(rank % 2 == 0 ? 0 : 1);
  snprintf(line, sizeof line, "%s", user != NULL ? user->pw_name : "");
  MPI_Barrier(MPI_COMM_WORLD);
  if (user != NULL) expect_text("the name of the user 0 or 1", user->pw_name, line);
}

/* All ranks step through the list of users in turns, and each sees the whole list. */
static void check_list(void) {
  int seen = 0, most;
  setpwent();
  while (getpwent() != NULL) {
    ++seen;
    if (seen < 3) MPI_Barrier(MPI_COMM_SELF);
  }
  endpwent();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Allreduce(&seen, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  expect_number("users in the list", seen, most);
  setpwent();
  const struct passwd* const first = getpwent();
  char name[64];
  snprintf(name, sizeof name, "%s", first != NULL ? first->pw_name : "");
  for (int i = 0; i < rank; ++i) getpwent();
  MPI_Barrier(MPI_COMM_WORLD);
  setpwent();
  if (first != NULL) expect_text("the first user", getpwent()->pw_name, name);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The first entry of the list of groups, with its members, is that of the file. */
static void check_groups(void) {
  FILE* const file = fopen("/etc/group", "r");
  const struct group* const first = file != NULL ? fgetgrent(file) : NULL;
  if (first == NULL) return;
  char name[64], room[4096];
  snprintf(name, sizeof name, "%s", first->gr_name);
  const gid_t number = first->gr_gid;
  int members = 0, seen = 0;
  while (first->gr_mem[members] != NULL) ++members;
  struct group entry, *result = NULL;
  setgrent();
  expect_number("getgrent_r with too little room", getgrent_r(&entry, room, 1, &result), ERANGE);
  expect_number("getgrent_r", getgrent_r(&entry, room + 1, sizeof room - 1, &result), 0);
  if (result == NULL) return;
  expect_text("the first group", result->gr_name, name);
  expect_number("its number", result->gr_gid, number);
  while (result->gr_mem[seen] != NULL) ++seen;
  expect_number("its members", seen, members);
  endgrent();
  fclose(file);
}

static void check_hosts(void) {
  char name[32];
  snprintf(name, sizeof name, "127.0.0.%d", rank + 1);
  const struct hostent* const host = gethostbyname(name);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_number("the last part of the address", host != NULL ? ((unsigned char*)host->h_addr_list[0])[3] : -1,
                rank + 1);
  const struct ether_addr address = {{1, 2, 3, 4, 5, (unsigned char)rank}};
  const char* const text = ether_ntoa(&address);
  snprintf(name, sizeof name, "1:2:3:4:5:%x", rank);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_text("ether_ntoa", text, name);
  const struct ether_addr* const back = ether_aton(name);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_number("ether_aton", back->ether_addr_octet[5], rank);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  check_users();
  check_list();
  check_groups();
  check_hosts();
  return end();
}
