int number;
int count(void) { return ++number; }
