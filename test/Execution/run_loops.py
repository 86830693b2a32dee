"""Random loops that read and write rows of stacks, against the interpreter."""

from __future__ import annotations

from random import Random

import draw
import harness
import loops


def main() -> int:
    """So many of them, one in five with --quick."""
    parser = harness.arguments(__doc__)
    parser.add_argument("--count", type=int, default=40, help="loops to draw")
    args = parser.parse_args()
    tools = harness.Tools(args.build, args.work)
    cases = []
    for number in range(max(1, args.count // 5) if args.quick else args.count):
        random = Random(f"{args.seed} {number}")
        loop, arguments = loops.drawn(random)
        program = tools.program(f"loop-{number}", loop, *arguments, key=str(args.seed))
        mesh = f"--mesh=sp={random.choice((1, 1, 2))},tp={random.choice((1, 1, 2))}"
        case = harness.Case(program, (mesh, *draw.memory(random)))
        cases.append(case.emulated(number) if random.random() < 0.1 else case)
    return harness.hold_all(tools, cases, args)


if __name__ == "__main__":
    raise SystemExit(main())
