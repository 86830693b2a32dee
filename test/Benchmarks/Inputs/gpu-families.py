"""Which smoke rows kernels go by, of those that a GPU runs: gpu-families.py NAME..., as in models.py."""

import sys

import families
import models

kernels = [each.entry() for each in models.plan(False).artifacts if each.kind == "kernels"]
for name in sys.argv[1:]:
    kernel = next(each for each in kernels if each["name"] == name)
    by_mask = {mask: families.of(kernel, mask, mask == "window", kernels) for mask in ("full", "window")}
    print(name, *(f"{mask}: {', '.join(names)};" for mask, names in by_mask.items()))
