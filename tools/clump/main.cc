// clump: what this installation is and can, and what it would do with a program.
#include "command_line.h"

int main(int argc, char** argv) {
  using namespace clump::tools;
  CommandLine line;
  try {
    line.app.parse(argc, argv);
    if (!line.channels && line.info->remaining_size() > 0) throw CLI::ExtrasError(line.info->remaining());
  } catch (const CLI::ParseError& end) {
    return line.app.exit(end) == 0 ? 0 : 2;  // a wrong command line, as for mpiexec
  }

  if (line.channels) return show_channels(line.info->remaining());
  if (line.coverage) return show_coverage();
  if (line.meters) return show_meters();
  if (line.controls) return show_controls();
  if (line.events) return show_events();
  if (line.info->parsed()) {
    if (!line.selection) return show_info(line.missing);
    return line.given_shape->count() == 0 ? show_selection() : show_selection(line.shape);
  }
  if (line.explain->parsed()) return show_explanation(line.program);
  if (line.which->parsed()) return show_which(line.program);
  if (line.tuning->parsed()) return tune(line.how);
  if (line.doctor->parsed()) return show_health();
  return 0;
}
