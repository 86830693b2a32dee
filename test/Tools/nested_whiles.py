"""nested_whiles.py DEPTH: a model of that many whiles inside each other, whose trips an argument says."""

import sys

PAIR = "tensor<i32>, tensor<4xf32>"


def nest(depth: int, carried: str) -> tuple[list[str], str]:
    """The lines of a loop with `depth` - 1 others in its body, and what it makes of `carried`."""
    if depth == 0:
        return [f"%r = stablehlo.add {carried}, {carried} : tensor<4xf32>"], "%r"
    inner, result = nest(depth - 1, f"%x{depth}")
    lines = [
        f"%w{depth}:2 = stablehlo.while(%i{depth} = %zero, %x{depth} = {carried}) : {PAIR}",
        "cond {",
        f"%c{depth} = stablehlo.compare LT, %i{depth}, %trips : (tensor<i32>, tensor<i32>) -> tensor<i1>",
        f"stablehlo.return %c{depth} : tensor<i1>",
        "} do {",
        *inner,
        f"%n{depth} = stablehlo.add %i{depth}, %one : tensor<i32>",
        f"stablehlo.return %n{depth}, {result} : {PAIR}",
        "}",
    ]
    return lines, f"%w{depth}#1"


lines, result = nest(int(sys.argv[1]), "%arg0")
print("func.func public @main(%arg0: tensor<4xf32>, %trips: tensor<i32>) -> tensor<4xf32> {")
print("%zero = stablehlo.constant dense<0> : tensor<i32>\n%one = stablehlo.constant dense<1> : tensor<i32>")
print("\n".join(lines), f"\nreturn {result} : tensor<4xf32>\n}}")
