"""Puts the tools and the runtime library of a build into the wheel, where there is one."""

import os
import shutil
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

# SPMLIR_HOME names a build elsewhere.
HOME = Path(os.environ.get("SPMLIR_HOME", Path(__file__).resolve().parent.parent / "build"))
FILES = ["bin/sp-compile", "bin/sp-run", "bin/sp-interpret", "lib/libsprt.so"]
BUILT = all((HOME / file).exists() for file in FILES)


class BuildWithTools(build_py):
    """Copies the tools beside the modules."""

    def run(self):
        super().run()
        for file in FILES if BUILT else ():
            target = Path(self.build_lib) / "spmlir" / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(HOME / file, target)


class PlatformDistribution(Distribution):
    """A distribution that holds native code is for one platform."""

    def has_ext_modules(self):
        return BUILT


class PlatformWheel(bdist_wheel):
    """The native code is no Python extension: any Python of the platform will do."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(
    cmdclass={"build_py": BuildWithTools, "bdist_wheel": PlatformWheel},
    distclass=PlatformDistribution,
)
