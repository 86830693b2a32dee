"""Launches an attention whose kernel never ends, and then opens it again."""

import ctypes
import sys

from kernels import ERROR_BYTES, Launch, Slice, Tensor

library = ctypes.CDLL(sys.argv[1])
handle = ctypes.c_void_p()
memory = ctypes.create_string_buffer(1 << 16)
tensor = Tensor(ctypes.addressof(memory) // 64 * 64, (ctypes.c_int64 * 3)(512, 32, 8))
launch = Launch(
    *[tensor] * 5, (Slice * 1)(Slice(0, 16, 0, 16, -100, 100, 1, 1, 0)), 1, 1, 4, 4, 16, 16, 1, -1, 1.0
)


def call(function, *arguments):
    error = ctypes.create_string_buffer(ERROR_BYTES)
    if function(*arguments, error, ctypes.c_int64(ERROR_BYTES)):
        print(error.value.decode(), flush=True)


call(library.gpu_attention_open, b"0", sys.argv[2].encode(), ctypes.byref(handle))
call(library.gpu_attention_run, handle, ctypes.byref(launch), 1, (ctypes.c_double * 1)())
library.gpu_attention_close(handle)
call(library.gpu_attention_open, b"0", sys.argv[2].encode(), ctypes.byref(handle))
