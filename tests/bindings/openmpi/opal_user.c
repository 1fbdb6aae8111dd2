/* Uses what Open MPI 4's C++ bindings use of libopen-pal.so.40; with MORE also what they do not. */
extern int opal_class_init_epoch;
int opal_progress(void);

int use_of_opal(void) {
#ifdef MORE
  return opal_progress();
#else
  return opal_class_init_epoch;
#endif
}
