/* In the place of the library for C++, of which a program in C needs nothing. */
