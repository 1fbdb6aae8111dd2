/* A library that uses what its program defines. */
int callback(void);
int call_back(void) { return callback(); }
