"""scaleprof.h from Python by ctypes, as a program would use it: test_marks.py knows what it leaves."""
import ctypes
import sys
import threading

scaleprof = ctypes.CDLL(sys.argv[1])
scaleprof.scaleprof_step_begin.argtypes = [ctypes.c_int64]
scaleprof.scaleprof_counter.argtypes = [ctypes.c_char_p, ctypes.c_double]
scaleprof.scaleprof_communicator.restype = ctypes.c_uint32
scaleprof.scaleprof_collective_begin.argtypes = [ctypes.c_char_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_int64]
scaleprof.scaleprof_collective_begin.restype = ctypes.c_uint64
scaleprof.scaleprof_collective_end.argtypes = [ctypes.c_uint64]

group = scaleprof.scaleprof_communicator(b"pair", 1, 2)
for step in (10, 11):
    scaleprof.scaleprof_step_begin(step)
    scaleprof.scaleprof_range_begin(b"forward")
    scaleprof.scaleprof_range_begin(b"layer")
    scaleprof.scaleprof_range_end()
    scaleprof.scaleprof_range_end()
    token = scaleprof.scaleprof_collective_begin(b"allreduce", group, -1, 4096)
    scaleprof.scaleprof_counter(b"loss", 0.5)
    other = threading.Thread(target=scaleprof.scaleprof_collective_end, args=(token,))
    other.start()
    other.join()
    scaleprof.scaleprof_step_end()
sys.exit(0 if scaleprof.scaleprof_recording() else 3)
