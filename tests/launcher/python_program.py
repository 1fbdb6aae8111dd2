"""What the ranks of python_test.py run: calls of MPI by ctypes, so that no mpi4py has to be installed."""
import ctypes
import os
import sys
import threading
import time

MPI = ctypes.CDLL("libmpi_abi.so.1")
WORLD, INT, ANY, MULTIPLE = ctypes.c_void_p(0x101), ctypes.c_void_p(0x209), -1, 4096


def number_of(call):
    number = ctypes.c_int()
    call(WORLD, ctypes.byref(number))
    return number.value


class Solver:
    def receive(self, source):
        value = ctypes.c_int()
        status = (ctypes.c_int * 8)()
        MPI.MPI_Recv(ctypes.byref(value), 1, INT, source, 7, WORLD, status)
        return value.value


def send(value, target):
    MPI.MPI_Send(ctypes.byref(ctypes.c_int(value)), 1, INT, target, 7, WORLD)


def rest():
    time.sleep(600)


def circle():
    Solver().receive(1 - rank)


def thread():
    """The rank's main thread ends up in a package's function, which is not what a report names."""
    other = threading.Thread(target=circle)
    other.start()
    other.join()


def late():
    MPI.MPI_Barrier(WORLD) if rank == 0 else rest()


def fault():
    if rank == 1:
        ctypes.string_at(8)
    MPI.MPI_Barrier(WORLD)


def leaves():
    if rank == 1:
        os._exit(3)
    MPI.MPI_Barrier(WORLD)


def keep():
    MPI.MPI_Comm_dup(WORLD, ctypes.byref(ctypes.c_void_p()))


def keeps():
    keep()


def order():
    """Right only as long as rank 1 comes first."""
    if rank != 0:
        return send(rank, 0)
    first = [Solver().receive(ANY) for _ in range(2)][0]
    if first != 1:
        raise RuntimeError(f"the first message is of rank {first}")


MPI.MPI_Init_thread(None, None, MULTIPLE, ctypes.byref(ctypes.c_int()))
rank = number_of(MPI.MPI_Comm_rank)
globals()[sys.argv[1]]()
MPI.MPI_Finalize()
