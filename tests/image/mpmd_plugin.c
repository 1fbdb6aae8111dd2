/* A plugin that asks whoever loaded it. */
const char* name_of_program(void);
const char* ask(void) { return name_of_program(); }
