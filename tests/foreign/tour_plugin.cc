#include "tour.h"

namespace {

tour::Registry plugin_registry("plugin");
int calls = 0;
thread_local int calls_of_thread = 100;

}  // namespace

extern "C" int plugin_call(int rank) {
  plugin_registry.add("rank " + std::to_string(rank));
  tour::library_registry.add("plugin of rank " + std::to_string(rank));
  ++calls_of_thread;
  return ++calls;
}

extern "C" int plugin_entries() { return static_cast<int>(plugin_registry.entries().size()); }
extern "C" int plugin_calls_of_thread() { return calls_of_thread; }
extern "C" void plugin_throw(int rank) { throw tour::Surprise("from the plugin", rank); }
