// The program's functions: what C calls instead, with the arguments that Fortran expects.
//
// Functions that get a state (attributes, generalised requests, data representations) carry the program's
// function in it. Operations and error handlers get none, so there is a fixed number of C functions for them.
// The same Fortran procedure always gets the same one. A procedure of `use mpi_f08` gets its arguments as one
// of mpif.h does.
#pragma once

#include "entry.h"

namespace clump::fortran {

using Address = MPI_Aint;

using UserFunction = void(void* in, void* in_and_out, Integer* length, Integer* datatype);
using UserFunctionLarge = void(void* in, void* in_and_out, MPI_Count* length, Integer* datatype);
using ErrorFunction = void(Integer* handle, Integer* code);
using CopyFunction = void(Integer* handle, Integer* keyval, Address* state, Address* in, Address* out,
                          Logical* flag, Integer* error);
using DeleteFunction = void(Integer* handle, Integer* keyval, Address* value, Address* state, Integer* error);
/// Of MPI_KEYVAL_CREATE, where values are default INTEGERs.
using OldCopyFunction = void(Integer* handle, Integer* keyval, Integer* state, Integer* in, Integer* out,
                             Logical* flag, Integer* error);
using OldDeleteFunction = void(Integer* handle, Integer* keyval, Integer* value, Integer* state,
                               Integer* error);
using QueryFunction = void(Address* state, Integer* status, Integer* error);
using FreeFunction = void(Address* state, Integer* error);
using CancelFunction = void(Address* state, Logical* complete, Integer* error);
using ExtentFunction = void(Integer* datatype, Address* extent, Address* state, Integer* error);
using ConversionFunction = void(void* user, Integer* datatype, Integer* count, void* file,
                                MPI_Offset* position, Address* state, Integer* error);
using ConversionFunctionLarge = void(void* user, Integer* datatype, MPI_Count* count, void* file,
                                     MPI_Offset* position, Address* state, Integer* error);

// What C is given in the place of a procedure. Null: there are too many different ones.
MPI_User_function* operation(UserFunction* function);
MPI_User_function_c* operation_large(UserFunctionLarge* function);
MPI_Comm_errhandler_function* comm_error_handler(ErrorFunction* function);
MPI_Win_errhandler_function* win_error_handler(ErrorFunction* function);
MPI_File_errhandler_function* file_error_handler(ErrorFunction* function);
MPI_Session_errhandler_function* session_error_handler(ErrorFunction* function);

/// Raises the error of a null pointer above.
int too_many(const char* what, int limit);
constexpr int kOperations = 256;
constexpr int kErrorHandlers = 64;

/// What C has as an attribute that Fortran sets: the address of an integer with its value (MPI-5.0
/// section 19.3.7). Equal values share it, and it stays. Null: no memory.
void* attribute_of(Address value);
/// And back: an attribute that C has set is its pointer, as an integer.
Address value_behind(void* attribute);

/// The state of an attribute key. It stays as long as the process lives: attributes of a key may outlive
/// MPI_Comm_free_keyval. So nothing changes it, and keys with the same functions and state share it.
struct Keyval {
  CopyFunction* copy;
  DeleteFunction* erase;
  Address state;
  bool is_old;  ///< the functions are OldCopyFunction and OldDeleteFunction
};
/// The one with these values. Any thread. Null: no memory.
Keyval* keyval_of(CopyFunction* copy, DeleteFunction* erase, Address state, bool is_old);
int copy_comm(MPI_Comm comm, int keyval, void* state, void* in, void* out, int* flag);
int copy_type(MPI_Datatype type, int keyval, void* state, void* in, void* out, int* flag);
int copy_win(MPI_Win win, int keyval, void* state, void* in, void* out, int* flag);
int delete_comm(MPI_Comm comm, int keyval, void* value, void* state);
int delete_type(MPI_Datatype type, int keyval, void* value, void* state);
int delete_win(MPI_Win win, int keyval, void* value, void* state);

/// The state of a generalised request, freed with it.
struct Grequest {
  QueryFunction* query;
  FreeFunction* free;
  CancelFunction* cancel;
  Address state;
};
int query_request(void* state, MPI_Status* status);
int free_request(void* state);
int cancel_request(void* state, int complete);

/// The state of a data representation. Null functions: MPI_CONVERSION_FN_NULL.
struct Datarep {
  ConversionFunction* read;
  ConversionFunction* write;
  ConversionFunctionLarge* read_large;
  ConversionFunctionLarge* write_large;
  ExtentFunction* extent;
  Address state;
};
int datarep_extent(MPI_Datatype type, MPI_Aint* extent, void* state);
int datarep_read(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state);
int datarep_write(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state);
int datarep_read_large(void* user, MPI_Datatype type, MPI_Count count, void* file, MPI_Offset position,
                       void* state);
int datarep_write_large(void* user, MPI_Datatype type, MPI_Count count, void* file, MPI_Offset position,
                        void* state);

}  // namespace clump::fortran
