// Wide characters on stdout: wprintf, putwc, fputws, std::wcout, in the rank's locale; and what a rank asks
// about its streams. For: programs whose messages are not English. Half of the ranks print bytes.
#include <stdio_ext.h>
#include <unistd.h>

#include <clocale>
#include <cwchar>
#include <iostream>
#include <string>

#include "check.h"

namespace {

char name[64];

void print_wide() {
  check(std::fwide(stdout, 0) == 0 && std::fwide(stdout, 1) > 0 && std::fwide(stdout, -1) > 0, "fwide");
  check(std::wprintf(L"w\u00e4 %d %ls\n", check_rank, L"\u20ac") == 7, "wprintf");
  check(std::fwprintf(stdout, L"%s;", "\xc3\xa9") == 2, "fwprintf");
  check(std::putwc(L'\u00fc', stdout) == L'\u00fc' && std::putwchar(L'\n') == L'\n', "putwc");
  check(std::fputws(L"part", stdout) >= 0 && __fpending(stdout) > 0, "__fpending");
  check(std::fputws(L" and rest\n", stdout) >= 0, "fputws");
  std::wcout << L"wcout \u00df " << check_rank << std::endl;
  check(std::wprintf(L"%5000ls\n", L"\u00e4") == 5001, "wprintf of 5000 characters");
  std::setlocale(LC_ALL, "C");
  check(std::fflush(stdout) == 0 && !std::ferror(stdout), "fflush");
  const std::string rank = std::to_string(check_rank);
  check_contents(
      name, ("w\xc3\xa4 " + rank + " \xe2\x82\xac\n\xc3\xa9;\xc3\xbc\npart and rest\nwcout \xc3\x9f " + rank +
             "\n" + std::string(4999, ' ') + "\xc3\xa4\n")
                .c_str());
}

void print_bytes() {
  std::printf("narrow %d\n", check_rank);
  check(std::fwide(stdout, 0) < 0 && std::fwide(stdout, 1) < 0, "fwide after printf");
  check(std::wprintf(L"lost\n") < 0 && std::fputwc(L'x', stdout) == WEOF, "wide characters after bytes");
  std::fflush(stdout);
  std::wcout << L"wcout" << std::endl;  // by putwc(), which does not mind
  std::printf("never seen");
  __fpurge(stdout);
  std::printf("rest\n");
  std::fflush(stdout);
  check_contents(name, ("narrow " + std::to_string(check_rank) + "\nwcout\nrest\n").c_str());
}

}  // namespace

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  check(std::setlocale(LC_ALL, "C.UTF-8") != nullptr, "no locale C.UTF-8");
  std::snprintf(name, sizeof name, "wide.%d.%d", check_job, check_rank);
  check(std::freopen(name, "w", stdout) == stdout, "freopen");
  MPI_Barrier(MPI_COMM_WORLD);
  check_rank % 2 != 0 ? print_wide() : print_bytes();
  unlink(name);
  return check_end();
}
