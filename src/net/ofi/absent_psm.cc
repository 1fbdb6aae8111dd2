// Stands in for libpsm_infinipath.so.1, and for libpsm2.so.2, on hosts without their adapters (library.cc).
// The functions of absent_psm.txt are further names of the first one here.
extern "C" {

int psm_absent();
int psm_absent() { return 5; }  // PSM_INIT_NOT_INIT, PSM2_INIT_NOT_INIT

const char* psm_error_get_string();
const char* psm_error_get_string() { return "this host has no adapter for PSM"; }
const char* psm2_error_get_string();
const char* psm2_error_get_string() { return psm_error_get_string(); }

}  // extern "C"
