// Functions of the C library that may hold one of its locks for long: fork() in another rank waits meanwhile
// (fork_locks.h). In other files such functions say so themselves.
#include <grp.h>
#include <iconv.h>
#include <netdb.h>
#include <pwd.h>

#include "base/types.h"
#include "image/fork_locks.h"
#include "image/symbols.h"

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int getaddrinfo(const char* host, const char* service, const addrinfo* hints,
                               addrinfo** result) {
  static constinit Hidden<int(const char*, const char*, const addrinfo*, addrinfo**)> real{"getaddrinfo"};
  const NoFork no_fork;
  return real(host, service, hints, result);
}

CLUMP_HOST_API int getnameinfo(const sockaddr* address, socklen_t bytes, char* host, socklen_t host_room,
                               char* service, socklen_t service_room, int flags) {
  static constinit Hidden<int(const sockaddr*, socklen_t, char*, socklen_t, char*, socklen_t, int)> real{
      "getnameinfo"};
  const NoFork no_fork;
  return real(address, bytes, host, host_room, service, service_room, flags);
}

CLUMP_HOST_API int getpwnam_r(const char* name, passwd* entry, char* text, size_t size, passwd** result) {
  static constinit Hidden<int(const char*, passwd*, char*, size_t, passwd**)> real{"getpwnam_r"};
  const NoFork no_fork;
  return real(name, entry, text, size, result);
}

CLUMP_HOST_API int getpwuid_r(uid_t user, passwd* entry, char* text, size_t size, passwd** result) {
  static constinit Hidden<int(uid_t, passwd*, char*, size_t, passwd**)> real{"getpwuid_r"};
  const NoFork no_fork;
  return real(user, entry, text, size, result);
}

CLUMP_HOST_API int getgrnam_r(const char* name, group* entry, char* text, size_t size, group** result) {
  static constinit Hidden<int(const char*, group*, char*, size_t, group**)> real{"getgrnam_r"};
  const NoFork no_fork;
  return real(name, entry, text, size, result);
}

CLUMP_HOST_API int getgrgid_r(gid_t number, group* entry, char* text, size_t size, group** result) {
  static constinit Hidden<int(gid_t, group*, char*, size_t, group**)> real{"getgrgid_r"};
  const NoFork no_fork;
  return real(number, entry, text, size, result);
}

CLUMP_HOST_API iconv_t iconv_open(const char* to, const char* from) {
  static constinit Hidden<iconv_t(const char*, const char*)> real{"iconv_open"};
  const NoFork no_fork;
  return real(to, from);
}

CLUMP_HOST_API int iconv_close(iconv_t conversion) {
  static constinit Hidden<int(iconv_t)> real{"iconv_close"};
  const NoFork no_fork;
  return real(conversion);
}

}  // extern "C"
