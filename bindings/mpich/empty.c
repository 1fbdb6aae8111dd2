/* In the place of a library for another language, of which a program in C needs nothing. */
