"""Calls a program whose GPU has a kernel that never ends, and then calls it again."""

import sys

import numpy as np

import spmlir

program = spmlir.Executable(sys.argv[1], timeout=2)
for _ in range(2):
    try:
        program(*(np.zeros(each.shape, each.dtype) for each in program.inputs))
    except spmlir.RunError as error:
        print(error)
