"""What values are to attentions, as far as edges between products and exponentials tell.

`scores` lead from a product to an exponential, `terms` lead to one and come from no product, `weights`
come from an exponential, `slopes` come from an exponential and from a product that does not lead to it,
`cotangents` meet slopes; `far` is what none of these is.
"""

from __future__ import annotations

from typing import Any

from jaxlib.mlir import ir


class Roles:
    """What values are to attentions; edges do not cross products."""

    def __init__(self, values: list[ir.Value]) -> None:
        self.products: dict[Any, set[int]] = {}  # of each value: those it comes from
        self.sources: dict[Any, set[int]] = {}  # the same of exponentials
        self.leads: dict[Any, set[int]] = {}  # exponentials that it leads to
        self.meets: dict[Any, bool] = {}
        exponentials = {}
        for number, value in enumerate(values):
            op = value.owner
            products, sources = set(), set()
            if op.name == "stablehlo.dot_general":
                products = {number}
            elif op.name != "stablehlo.while":
                for operand in op.operands:
                    products |= self.products.get(operand, set())
                    sources |= self.sources.get(operand, set())
                if op.name == "stablehlo.exponential" and value.type.rank >= 2:
                    sources, exponentials[number] = sources | {number}, products
            self.products[value], self.sources[value] = products, sources
        for number in range(len(values) - 1, -1, -1):
            value = values[number]
            leads, meets = set(), self._is_slope(value, exponentials)
            for use in value.uses:
                op = use.owner
                if op.name in ("stablehlo.dot_general", "stablehlo.while", "func.return", "stablehlo.return"):
                    continue
                for result in op.results:
                    leads |= self.leads.get(result, set())
                    meets = meets or self.meets.get(result, False)
                    if op.name == "stablehlo.exponential":
                        leads |= {number for number in self.sources[result] if values[number] == result}
            self.leads[value], self.meets[value] = leads, meets
        self.exponentials = exponentials

    def _is_slope(self, value: ir.Value, exponentials: dict[int, set[int]]) -> bool:
        above = set().union(*(exponentials[each] for each in self.sources[value]))
        return bool(self.sources[value]) and bool(self.products[value] - above)

    def of(self, value: ir.Value) -> str:
        """The role of a value."""
        if self.sources[value]:
            return "slopes" if self._is_slope(value, self.exponentials) else "weights"
        if self.leads[value]:
            return "scores" if self.products[value] else "terms"
        return "cotangents" if self.meets[value] else "far"
