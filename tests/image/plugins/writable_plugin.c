#include "writable_code.h"
WRITABLE_CODE(code_of_plugin);
