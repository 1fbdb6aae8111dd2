int optional(void) { return 1; }
