#include "probe.h"

int imported = 7;

int imported_in_its_library(void) { return imported; }
