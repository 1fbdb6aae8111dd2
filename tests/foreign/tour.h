// What the C++ program, its shared library and its plugin share.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace tour {

/// A static object with a constructor and a destructor, in each of the three files.
class Registry {
 public:
  explicit Registry(std::string name);
  ~Registry();
  void add(const std::string& entry) { entries_.push_back(entry); }
  const std::vector<std::string>& entries() const { return entries_; }

 private:
  std::string name_;
  std::vector<std::string> entries_;
};

class Surprise : public std::runtime_error {
 public:
  Surprise(const std::string& what, int rank) : std::runtime_error(what), rank(rank) {}
  int rank;
};

extern Registry library_registry;   // in the library
extern int library_count;           // constructed so far by this rank, in all three files
void throw_from_library(int rank);  // throws Surprise

}  // namespace tour
