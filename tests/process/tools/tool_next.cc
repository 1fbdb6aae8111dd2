// A tool of the other kind, in C++: it finds what it wraps by dlsym(RTLD_NEXT), as tracers of input and
// output (Darshan) and of threads are, and counts what the C library allocates for the program.
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace {

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

struct Calls {
  std::map<std::string, long> of;
  Calls() { of["constructed"] = 1; }
};
Calls calls;
long allocated;

}  // namespace

extern "C" {

long tool_calls(const char* name) { return calls.of[name]; }
long tool_allocated() { return allocated; }

int MPI_Barrier(MPI_Comm comm) {
  static auto* const real = next<int(MPI_Comm)>("MPI_Barrier");
  ++calls.of["MPI_Barrier"];
  return real(comm);
}

FILE* fopen(const char* path, const char* mode) {
  static auto* const real = next<FILE*(const char*, const char*)>("fopen");
  ++calls.of["fopen"];
  return real(path, mode);
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  ++calls.of["write"];
  return real(descriptor, bytes, count);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                   void* argument) {
  static auto* const real =
      next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  ++calls.of["pthread_create"];
  return real(thread, attributes, function, argument);
}

void* malloc(size_t size) {
  static auto* const real = next<void*(size_t)>("malloc");
  ++allocated;
  return real(size);
}

}  // extern "C"
