"""lit configuration: `lit build/test` runs every test, long ones on samples of their cases.

`-D quick=1` takes 10 minutes on two cores, `-D all=1` runs every case, which takes hours.
"""

import os
import shutil
import sys

import lit.formats

config.name = "sp-mlir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt", "lit.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_root, "test")

path = os.pathsep.join([config.tools_dir, config.llvm_tools_dir, config.environment.get("PATH", "")])
config.environment["PATH"] = path
config.environment["PYTHONPATH"] = os.path.join(config.source_root, "python")

python = os.path.join(config.build_root, "venv", "bin", "python")
if not os.path.exists(python):
    python = os.path.join(config.source_root, "build", "venv", "bin", "python")
if os.path.exists(python):
    config.available_features.add("jax")
    config.substitutions.append(("%python", python))
else:
    config.substitutions.append(("%python", sys.executable))

cuda = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin")
if shutil.which("nvcc", path=os.pathsep.join([cuda, path])):
    config.available_features.add("nvcc")
    config.environment["CUDA_HOME"] = os.path.dirname(cuda)
# What is compiled for GPUs is kept from run to run, apart from the user's.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")

# NCCL's double is built where CUDA's and NCCL's headers are.
if os.path.exists(os.path.join(config.test_exec_root, "Runtime", "fake-nccl")):
    config.available_features.add("nccl")
# Likewise the driver's, where CUDA's headers are.
if os.path.exists(os.path.join(config.test_exec_root, "Runtime", "fake-cuda")):
    config.available_features.add("fake-cuda")
if shutil.which("mpirun"):
    config.available_features.add("mpi")

# Every sp-opt run also checks that its input prints and parses back unchanged.
config.substitutions.append((r"\bsp-opt\b", "sp-opt --verify-roundtrip"))
# What a test script is given that has a long list of cases.
config.sample = "".join(f" --{name}" for name in ("quick", "all") if lit_config.params.get(name))
if lit_config.params.get("quick"):
    config.available_features.add("quick")
# The build has sanitizers: what is compiled in a test itself has none.
if lit_config.params.get("sanitizer"):
    config.available_features.add("sanitizer")
