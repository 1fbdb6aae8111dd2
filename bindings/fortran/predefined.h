// The predefined functions of attributes and data representations, which a program hands over by their names.
#pragma once

#include "callbacks.h"

extern "C" {
CLUMP_PUBLIC clump::fortran::CopyFunction mpi_comm_null_copy_fn_, mpi_comm_dup_fn_, mpi_type_null_copy_fn_,
    mpi_type_dup_fn_, mpi_win_null_copy_fn_, mpi_win_dup_fn_;
CLUMP_PUBLIC clump::fortran::DeleteFunction mpi_comm_null_delete_fn_, mpi_type_null_delete_fn_,
    mpi_win_null_delete_fn_;
CLUMP_PUBLIC clump::fortran::OldCopyFunction mpi_null_copy_fn_, mpi_dup_fn_;
CLUMP_PUBLIC clump::fortran::OldDeleteFunction mpi_null_delete_fn_;
CLUMP_PUBLIC clump::fortran::ConversionFunction mpi_conversion_fn_null_;
CLUMP_PUBLIC clump::fortran::ConversionFunctionLarge mpi_conversion_fn_null_c_;
}
