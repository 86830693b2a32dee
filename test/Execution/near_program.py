"""StableHLO programs as the hunter of near-attentions changes them: values, where they stand, what they are.

A *place* is a value of `@main`, or of a loop in it, behind which an operation may be inserted. Its role
says what it is to an attention: see near_roles.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jax._src.interpreters import mlir
from jaxlib.mlir import ir

from near_roles import Roles

FLOATS = {"f64": "float64", "f32": "float32", "bf16": "bfloat16", "f16": "float16"}
COMPARED = ("EQ", "NE", "GE", "GT", "LE", "LT")
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum")
CONTEXT = mlir.make_ir_context()


@dataclass(frozen=True)
class Place:
    """The value with this number, in the order of the text.

    dtype: bool, or a float; loop: 0 outside; counter: the type of the number of a loop's turn.
    """

    number: int
    role: str
    shape: tuple[int, ...]
    dtype: str
    loop: int
    uses: int
    counter: str = ""

    def meets(self, other: Place) -> bool:
        """Whether an operation behind this place may read the other one, too, broadcast if need be."""
        return (
            other.number < self.number
            and (other.loop, other.dtype, len(other.shape)) == (self.loop, self.dtype, len(self.shape))
            and all(theirs in (1, own) for theirs, own in zip(other.shape, self.shape, strict=True))
        )


class Program:
    """A module whose calls are inlined; changing it is for once."""

    def __init__(self, text: str) -> None:
        with CONTEXT, ir.Location.unknown():
            self.module = ir.Module.parse(text)
            self.main = next(op for op in self.module.body.operations if op.sym_name.value == "main")
            self.values = list(results(self.main.regions[0].blocks[0]))

    def text(self) -> str:
        """As sp-compile reads it."""
        return self.module.operation.get_asm(enable_debug_info=False)

    def arguments(self) -> int:
        """How many `@main` takes."""
        return len(self.main.arguments)

    def places(self) -> list[Place]:
        """Where operations may be inserted: floats, and booleans."""
        with CONTEXT, ir.Location.unknown():
            roles = Roles(self.values)
            loops = {self.main: 0}
            return [
                Place(
                    number,
                    roles.of(value),
                    shape,
                    dtype,
                    loops.setdefault(value.owner.parent, len(loops)),
                    len(list(value.uses)),
                    counter_of(value)[1],
                )
                for number, value in enumerate(self.values)
                for shape, dtype in [kind_of(value)]
                if dtype and any(True for _ in value.uses)
            ]

    def show(self, places: Sequence[Place]) -> str:
        """The program with these places as its only results; of a loop, its last turn's."""
        with CONTEXT, ir.Location.unknown():
            shown = [self.values[place.number] for place in places]
            owners = [value.owner for value in shown]
            for loop in {owner.parent for owner in owners if owner.parent != self.main}:
                held = [at for at, owner in enumerate(owners) if owner.parent == loop]
                own = [at for at, owner in enumerate(owners) if owner == loop]
                numbers = [shown[at].result_number for at in own]
                outcomes, carried = carry(loop, [shown[at] for at in held])
                for at, value in [
                    *zip(held, carried, strict=True),
                    *((at, outcomes[n]) for at, n in zip(own, numbers, strict=True)),
                ]:
                    shown[at] = value
                    owners[at] = value.owner
            block = self.main.regions[0].blocks[0]
            end = list(block.operations)[-1]
            ir.Operation.create("func.return", operands=shown, ip=ir.InsertionPoint(end))
            end.operation.erase()
            inputs = [each.type for each in block.arguments]
            self.main.attributes["function_type"] = ir.TypeAttr.get(
                ir.FunctionType.get(inputs, [each.type for each in shown])
            )
            if "res_attrs" in self.main.attributes:
                del self.main.attributes["res_attrs"]
            return self.text()

    def insert(self, place: Place, others: Sequence[Place], turn: bool, text: str, use: int | None) -> str:
        """The program with a function of the place behind it.

        text: a module whose `@main` is the function, of other places too, of the loop's turn, and of more
        arrays, which become arguments; use: the only one that is changed, None for all.
        """
        with CONTEXT, ir.Location.unknown():
            value = self.values[place.number]
            added = ir.Module.parse(re.sub(r"@(\w+)", r"@near_\1", text))
            inserted = next(op for op in added.body.operations if op.sym_name.value == "near_main")
            read = [self.values[each.number] for each in (place, *others)]
            if turn:
                read.append(counter_of(value)[0])
            read += self._take(list(inserted.type.inputs)[len(read) :])
            for function in added.body.operations:
                function.attributes["sym_visibility"] = ir.StringAttr.get("private")
                for name in ("arg_attrs", "res_attrs"):
                    if name in function.attributes:
                        del function.attributes[name]
                self.module.body.append(function.operation.clone(ip=False))
            uses = [(each.owner, each.operand_number) for each in value.uses]
            if len(inserted.type.results) != 1 or inserted.type.results[0] != value.type:
                raise ValueError(f"expected a {value.type} but got {inserted.type}")
            call = ir.Operation.create(
                "func.call",
                results=[value.type],
                operands=read,
                attributes={"callee": ir.FlatSymbolRefAttr.get("near_main")},
                ip=ir.InsertionPoint.after(value.owner),
            )
            for number, (owner, operand) in enumerate(uses):
                if use is None or number == use:
                    owner.operands[operand] = call.result
            self.module.operation.verify()
            return self.text()

    def products(self, places: list[Place]) -> list[Place]:
        """Those that are contractions."""
        with CONTEXT, ir.Location.unknown():
            made = [self.values[place.number].owner.operation for place in places]
            pairs = zip(places, made, strict=True)
            return [place for place, op in pairs if op.name == "stablehlo.dot_general"]

    def exponents(self, places: list[Place]) -> list[Place]:
        """Those of which exponentials are made."""
        with CONTEXT, ir.Location.unknown():
            return [
                place
                for place in places
                if any(use.owner.name == "stablehlo.exponential" for use in self.values[place.number].uses)
            ]

    def alternatives(self, place: Place) -> list[str]:
        """Operations that may stand there instead."""
        with CONTEXT, ir.Location.unknown():
            op = self.values[place.number].owner
            name = op.operation.name.removeprefix("stablehlo.")
            if name == "compare":
                return [
                    each for each in COMPARED if each != str(op.comparison_direction).split()[-1].rstrip(">")
                ]
            if name in ("subtract", "divide"):
                return ["swapped", *(each for each in BINARY if each != name)]
            return (
                [each for each in BINARY if each != name] if name in BINARY and place.dtype != "bool" else []
            )

    def replace(self, place: Place, alternative: str) -> str:
        """The program with another operation there."""
        with CONTEXT, ir.Location.unknown():
            value = self.values[place.number]
            op = value.owner
            if alternative in COMPARED:
                op.attributes["comparison_direction"] = ir.Attribute.parse(
                    f"#stablehlo<comparison_direction {alternative}>"
                )
                return self.text()
            operands = list(op.operands)
            swapped = alternative == "swapped"
            other = ir.Operation.create(
                op.operation.name if swapped else f"stablehlo.{alternative}",
                results=[value.type],
                operands=operands[::-1] if swapped else operands,
                ip=ir.InsertionPoint(op),
            )
            value.replace_all_uses_with(other.result)
            op.operation.erase()
            self.module.operation.verify()
            return self.text()

    def _take(self, types: list[ir.Type]) -> list[ir.Value]:
        """More arguments of `@main`."""
        block = self.main.regions[0].blocks[0]
        taken = [block.add_argument(each, ir.Location.unknown()) for each in types]
        kind = self.main.type
        self.main.attributes["function_type"] = ir.TypeAttr.get(
            ir.FunctionType.get([*kind.inputs, *types], list(kind.results))
        )
        if "arg_attrs" in self.main.attributes:
            own = list(ir.ArrayAttr(self.main.attributes["arg_attrs"]))
            self.main.attributes["arg_attrs"] = ir.ArrayAttr.get(
                [*own, *(ir.DictAttr.get({}) for _ in types)]
            )
        return taken


def functions_of(text: str) -> Iterator[tuple[str, str]]:
    """Name and text of functions with a softmax that none calls, as `@main` beside those they may call."""
    with CONTEXT, ir.Location.unknown():
        whole = ir.Module.parse(text)
        functions = [op for op in whole.body.operations if op.operation.name == "func.func"]
        names = [op.sym_name.value for op in functions if "stablehlo.exponential" in str(op)]
        for name in names:
            if f"call @{name}(" in text or (name != "main" and "@main(" in text):
                continue
            module = ir.Module.parse(text)
            for op in module.body.operations:
                own = op.operation.name == "func.func" and op.sym_name.value == name
                op.attributes["sym_visibility"] = ir.StringAttr.get("public" if own else "private")
                if own:
                    op.attributes["sym_name"] = ir.StringAttr.get("main")
            yield name, str(module)


def carry(loop: ir.OpView, held: list[ir.Value]) -> tuple[list[ir.Value], list[ir.Value]]:
    """A loop's results, and what comes out of it for values that it holds; the loop is made anew."""
    before = ir.InsertionPoint(loop)
    zeros = [
        ir.Operation.create(
            "stablehlo.constant",
            results=[value.type],
            attributes={"value": ir.DenseElementsAttr.get_splat(value.type, zero(value.type.element_type))},
            ip=before,
        ).result
        for value in held
    ]
    wider = ir.Operation.create(
        "stablehlo.while",
        results=[each.type for each in (*loop.results, *held)],
        operands=[*loop.operands, *zeros],
        regions=2,
        ip=before,
    )
    for region, old in zip(wider.regions, loop.regions, strict=True):
        old.blocks[0].append_to(region)
        for value in held:
            region.blocks[0].add_argument(value.type, ir.Location.unknown())
    end = list(wider.regions[1].blocks[0].operations)[-1]
    ir.Operation.create("stablehlo.return", operands=[*end.operands, *held], ip=ir.InsertionPoint(end))
    end.operation.erase()
    own = len(loop.results)
    for old, new in zip(loop.results, list(wider.results)[:own], strict=True):
        old.replace_all_uses_with(new)
    loop.operation.erase()
    return list(wider.results)[:own], list(wider.results)[own:]


def zero(kind: ir.Type) -> ir.Attribute:
    """Nothing, of a float or an integer type."""
    return ir.IntegerAttr.get(kind, 0) if isinstance(kind, ir.IntegerType) else ir.FloatAttr.get(kind, 0.0)


def results(block: ir.Block) -> Iterator[ir.Value]:
    """Of the operations of `@main` and of the loops in it, not of loops in those."""
    for op in block.operations:
        yield from op.results
        if op.operation.name == "stablehlo.while":
            for inner in op.regions[1].blocks[0].operations:
                yield from inner.results


def counter_of(value: ir.Value) -> tuple[ir.Value | None, str]:
    """The number of the turn of the loop that holds a value, and its type."""
    if value.owner.parent.name == "func.func":
        return None, ""
    for argument in value.owner.parent.regions[1].blocks[0].arguments:
        if str(argument.type) in ("tensor<i32>", "tensor<i64>"):
            return argument, "int32" if "i32" in str(argument.type) else "int64"
    return None, ""


def kind_of(value: ir.Value) -> tuple[tuple[int, ...], str]:
    """Shape and type; the type is empty where nothing is inserted."""
    if not isinstance(value.type, ir.RankedTensorType):
        return (), ""
    kind = ir.RankedTensorType(value.type)
    name = str(kind.element_type)
    return tuple(kind.shape), "bool" if name == "i1" else FLOATS.get(name, "")
