int counted;
int count(void) { return ++counted; }
