#include "tour.h"

#include <iostream>

namespace tour {

int library_count = 0;

Registry::Registry(std::string name) : name_(std::move(name)) { ++library_count; }
Registry::~Registry() {
  if (entries_.size() > 1) std::cerr << "registry " << name_ << " was shared\n";
}

Registry library_registry("library");

void throw_from_library(int rank) { throw Surprise("from the library", rank); }

}  // namespace tour
