#include "callbacks.h"

#include <utility>

#include "pool.h"

namespace clump::facade {

namespace {

constexpr int kOperations = 256;
constexpr int kErrorHandlers = 64;

template <int kNumber>
void operate(void* in, void* in_and_out, int* count, MPI_Datatype* type);
template <int kNumber>
void operate_large(void* in, void* in_and_out, MPI_Count* count, MPI_Datatype* type);
template <typename Handle, int kNumber>
void handle_error(StandardOf<Handle>* handle, int* error_code, ...);

template <int... kNumbers>
constexpr auto operations(std::integer_sequence<int, kNumbers...>) {
  return Functions<UserFunction, MPI_User_function*, kOperations>{{operate<kNumbers>...}};
}
template <int... kNumbers>
constexpr auto large_operations(std::integer_sequence<int, kNumbers...>) {
  return Functions<UserFunctionLarge, MPI_User_function_c*, kOperations>{{operate_large<kNumbers>...}};
}
template <typename Handle, int... kNumbers>
constexpr auto error_handlers(std::integer_sequence<int, kNumbers...>) {
  return Functions<ErrorFunction<Handle>, void (*)(StandardOf<Handle>*, int*, ...), kErrorHandlers>{
      {handle_error<Handle, kNumbers>...}};
}

constexpr auto kOperate = operations(std::make_integer_sequence<int, kOperations>());
constexpr auto kOperateLarge = large_operations(std::make_integer_sequence<int, kOperations>());
template <typename Handle>
constexpr auto kHandleError = error_handlers<Handle>(std::make_integer_sequence<int, kErrorHandlers>());

constinit Pool<UserFunction, MPI_User_function*, kOperations> operation_pool(kOperate.all);
constinit Pool<UserFunctionLarge, MPI_User_function_c*, kOperations> large_operation_pool(kOperateLarge.all);
template <typename Handle>
constinit Pool<ErrorFunction<Handle>, void (*)(StandardOf<Handle>*, int*, ...), kErrorHandlers> error_pool(
    kHandleError<Handle>.all);

template <int kNumber>
void operate(void* in, void* in_and_out, int* count, MPI_Datatype* type) {
  Datatype own = program<Datatype>(*type);
  operation_pool[kNumber](in, in_and_out, count, &own);
}

template <int kNumber>
void operate_large(void* in, void* in_and_out, MPI_Count* count, MPI_Datatype* type) {
  Datatype own = program<Datatype>(*type);
  large_operation_pool[kNumber](in, in_and_out, count, &own);
}

template <typename Handle, int kNumber>
void handle_error(StandardOf<Handle>* handle, int* error_code, ...) {
  Handle own = program<Handle>(*handle);
  int code = program_code(*error_code);
  const ResultsOfHandler results;
  SpawnCodesOfHandler spawn_codes;
  spawn_codes.begin();
  error_pool<Handle>[kNumber](&own, &code);
  spawn_codes.end();
  *error_code = standard_code(code);
}

}  // namespace

MPI_User_function* standard(UserFunction function) {
  return function == nullptr ? nullptr : operation_pool.standard_of(function);
}
MPI_User_function_c* standard(UserFunctionLarge function) {
  return function == nullptr ? nullptr : large_operation_pool.standard_of(function);
}
MPI_Comm_errhandler_function* standard(ErrorFunction<Comm> function) {
  return function == nullptr ? nullptr : error_pool<Comm>.standard_of(function);
}
MPI_Win_errhandler_function* standard(ErrorFunction<Win> function) {
  return function == nullptr ? nullptr : error_pool<Win>.standard_of(function);
}
MPI_File_errhandler_function* standard(ErrorFunction<File> function) {
  return function == nullptr ? nullptr : error_pool<File>.standard_of(function);
}
MPI_Session_errhandler_function* standard(ErrorFunction<Session> function) {
  return function == nullptr ? nullptr : error_pool<Session>.standard_of(function);
}

}  // namespace clump::facade
