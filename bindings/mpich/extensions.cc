// What MPICH has beside the standard's functions: its extensions, MPIX_X, of which the questions for support
// of devices have answers; and the function behind MPI_DUP_FN.
#include "missing.h"

using namespace clump::facade;  // NOLINT: the functions below are of no namespace

/// MPI_DUP_FN and its kin in the program's header.
extern "C" CLUMP_PUBLIC int MPIR_Dup_fn(Comm, int, void*, void* value, void* copy, int* flag) {
  *flag = 1;
  *static_cast<void**>(copy) = value;
  return MPI_SUCCESS;
}

/// Headers of this family have versions from 3.1 to 5.0.
CLUMP_ENTRY(int, MPI_Get_version, (int* version, int* subversion)) {
  return program_code(abi::Get_version()(version, subversion));
}

CLUMP_ENTRY(int, MPIX_Query_cuda_support, ()) { return 0; }
CLUMP_ENTRY(int, MPIX_Query_hip_support, ()) { return 0; }
CLUMP_ENTRY(int, MPIX_Query_ze_support, ()) { return 0; }
CLUMP_ENTRY(int, MPIX_GPU_query_support, (int, int* is_supported)) {
  if (is_supported != nullptr) *is_supported = 0;
  return MPI_SUCCESS;
}

CLUMP_MISSING(MPIX_Allreduce_enqueue)
CLUMP_MISSING(MPIX_Allreduce_enqueue_c)
CLUMP_MISSING(MPIX_Async_get_state)
CLUMP_MISSING(MPIX_Async_spawn)
CLUMP_MISSING(MPIX_Async_start)
CLUMP_MISSING(MPIX_Comm_agree)
CLUMP_MISSING(MPIX_Comm_create_errhandler_x)
CLUMP_MISSING(MPIX_Comm_failure_ack)
CLUMP_MISSING(MPIX_Comm_failure_get_acked)
CLUMP_MISSING(MPIX_Comm_get_failed)
CLUMP_MISSING(MPIX_Comm_get_stream)
CLUMP_MISSING(MPIX_Comm_revoke)
CLUMP_MISSING(MPIX_Comm_shrink)
CLUMP_MISSING(MPIX_Comm_test_threadcomm)
CLUMP_MISSING(MPIX_File_create_errhandler_x)
CLUMP_MISSING(MPIX_Grequest_class_allocate)
CLUMP_MISSING(MPIX_Grequest_class_create)
CLUMP_MISSING(MPIX_Grequest_start)
CLUMP_MISSING(MPIX_Info_set_hex)
CLUMP_MISSING(MPIX_Irecv_enqueue)
CLUMP_MISSING(MPIX_Irecv_enqueue_c)
CLUMP_MISSING(MPIX_Isend_enqueue)
CLUMP_MISSING(MPIX_Isend_enqueue_c)
CLUMP_MISSING(MPIX_Recv_enqueue)
CLUMP_MISSING(MPIX_Recv_enqueue_c)
CLUMP_MISSING(MPIX_Request_is_complete)
CLUMP_MISSING(MPIX_Send_enqueue)
CLUMP_MISSING(MPIX_Send_enqueue_c)
CLUMP_MISSING(MPIX_Session_create_errhandler_x)
CLUMP_MISSING(MPIX_Start_progress_thread)
CLUMP_MISSING(MPIX_Stop_progress_thread)
CLUMP_MISSING(MPIX_Stream_comm_create)
CLUMP_MISSING(MPIX_Stream_comm_create_multiplex)
CLUMP_MISSING(MPIX_Stream_create)
CLUMP_MISSING(MPIX_Stream_free)
CLUMP_MISSING(MPIX_Stream_irecv)
CLUMP_MISSING(MPIX_Stream_irecv_c)
CLUMP_MISSING(MPIX_Stream_isend)
CLUMP_MISSING(MPIX_Stream_isend_c)
CLUMP_MISSING(MPIX_Stream_progress)
CLUMP_MISSING(MPIX_Stream_recv)
CLUMP_MISSING(MPIX_Stream_recv_c)
CLUMP_MISSING(MPIX_Stream_send)
CLUMP_MISSING(MPIX_Stream_send_c)
CLUMP_MISSING(MPIX_Threadcomm_finish)
CLUMP_MISSING(MPIX_Threadcomm_free)
CLUMP_MISSING(MPIX_Threadcomm_init)
CLUMP_MISSING(MPIX_Threadcomm_start)
CLUMP_MISSING(MPIX_Type_iov)
CLUMP_MISSING(MPIX_Type_iov_len)
CLUMP_MISSING(MPIX_Wait_enqueue)
CLUMP_MISSING(MPIX_Waitall_enqueue)
CLUMP_MISSING(MPIX_Win_create_errhandler_x)
