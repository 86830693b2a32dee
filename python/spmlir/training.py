"""A training step as one program, run again and again."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import checkpoints, runtime
from .arrays import as_numpy, key_data
from .compiler import compile
from .executable import Executable
from .exported import Exported, lower

# A step that is done so soon after Ctrl-C is not thrown away.
_PATIENCE_SECONDS = 0.5


class TrainStep:
    """A compiled training step; what it trains stays on the ranks from step to step.

    `train_step` makes it. It belongs to one thread at a time: a call while another thread's
    is under way raises RunError and changes nothing. Ctrl-C lets a step end that takes less
    than another half second, and its state stays; a longer one is ended, and its state is lost.
    Steps after one that was so ended, or failed with a rank, raise RunError.

    exported: the step as StableHLO text with donated state, and the first step's inputs. Its
        results are the state, then the loss.
    program: the same, compiled.
    """

    def __init__(self, exported: Exported, program: Executable, layout: _Layout) -> None:
        """See `train_step`."""
        self.exported = exported
        self.program = program
        self._layout = layout
        initial = list(exported.inputs or ())
        # State that the next step begins with, by argument; without it, what the last one made.
        self._given: dict[int, np.ndarray] = {number: initial[number] for number in layout.state}
        # State, and after how many steps it was that.
        self._gathered = (0, list(self._given.values()))
        self._using = threading.RLock()
        self._session = program.open_session()
        for result, number in enumerate(layout.state):
            self._session.feed(result, number)
        names = self._session.state_names(len(program.inputs))
        self._names = [names[number] for number in layout.state]

    def step(self, *batch: Any) -> float:
        """Run one step and return its loss.

        batch: the arguments that are not state, in their order, of the structure, types and
            shapes that `train_step` saw.
        Raises TypeError for another number or structure, RunError for another type or shape
        and when a rank fails; the state is then what it was unless a rank failed.
        """
        with self._alone():
            inputs: list[np.ndarray | None] = [None] * len(self.program.inputs)
            for number, array in self._given.items():
                inputs[number] = array
            for number, array in zip(self._layout.batch, self._layout.flatten(batch), strict=True):
                inputs[number] = array
            loss = np.empty((), self.program.results[-1].dtype)
            self._session.step(inputs, [None] * len(self._layout.state) + [loss], _PATIENCE_SECONDS)
            self._given = {}
            return float(loss)

    def save(self, folder: str | os.PathLike[str], **metadata: Any) -> None:
        """Write the state as a folder of safetensors with an index, which `load` reads on any mesh.

        metadata: what goes with it, such as `step=500`, as text.
        An earlier checkpoint there is replaced once the new one is whole.
        Raises ValueError for metadata called total_size, which the index has of its own, OSError,
        RunError as `state` does, and ImportError without the package safetensors.
        """
        with self._alone():
            _ = self.state
            arrays = dict(zip(self._names, self._gathered[1], strict=True))
        checkpoints.save(folder, arrays, {name: str(value) for name, value in metadata.items()})

    def load(self, folder: str | os.PathLike[str]) -> dict[str, str]:
        """Go on from the state that `save` wrote under any mesh and plan, bit for bit; returns its metadata.

        Raises CheckpointError for the state of another model, and changes nothing then.
        """
        with self._alone():
            types = [(each.shape, each.dtype) for each in self.program.results[:-1]]
            arrays, metadata = checkpoints.load(folder, dict(zip(self._names, types, strict=True)))
            self._given = dict(zip(self._layout.state, arrays, strict=True))
            self._gathered = (self._session.steps, arrays)
            return metadata

    @property
    def last_run(self) -> dict | None:
        """What the last step did, with the keys of sp-run's report; None before the first one."""
        with self._alone():
            return self._session.report(self.program.ranks) if self._session.steps else None

    def run(
        self, batches: Iterable[Any], progress: bool | Callable[[Mapping[str, Any]], object] = True
    ) -> list[float]:
        """Run a step for each batch and return the losses.

        batches: for each step a tuple of `step`'s arguments, or its only argument where that
            is no tuple.
        progress: a function that is told `step`, `loss`, `seconds`, `tokensPerSecond` (of the largest
            array of integers, else rows of the largest one) and `peakBytes` of a rank after each
            step; True prints them on stderr where that is a terminal.
        Raises what `step` and `progress` raise, and TypeError for another `progress`.
        """
        if not (callable(progress) or isinstance(progress, bool)):
            raise TypeError(f"expected progress to be True, False or a function but got {progress!r}")
        losses: list[float] = []
        tell = progress if callable(progress) else _print if progress and sys.stderr.isatty() else None
        with self._alone():
            for batch in batches:
                arguments = batch if isinstance(batch, tuple) else (batch,)
                losses.append(self.step(*arguments))
                if tell:
                    run = self._session.report(self.program.ranks)
                    tell(
                        {
                            "step": len(losses),
                            "loss": losses[-1],
                            "seconds": run["seconds"],
                            "tokensPerSecond": self._layout.tokens / run["seconds"],
                            "peakBytes": max(run["peakBytesPerRank"]),
                        }
                    )
        return losses

    @property
    def state(self) -> Any:
        """What the last step made of the donated arguments, as NumPy arrays of global shape.

        One argument's tree, or a tuple of trees where a sequence of arguments was donated.
        Typed keys of `jax.random.key` are such keys again.
        Raises RunError where the state is lost, and while another thread trains.
        """
        with self._alone():
            if self._gathered[0] != self._session.steps:
                state = [np.empty(result.shape, result.dtype) for result in self.program.results[:-1]]
                self._session.collect([*state, None])
                self._gathered = (self._session.steps, state)
            return self._layout.unflatten(self._gathered[1])

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """While the block runs no other thread may call; this one may."""
        if not self._using.acquire(blocking=False):
            raise runtime.RunError(
                "expected one thread at a time to train but another one is in a step of this TrainStep; "
                "make one for each thread, or take turns"
            )
        try:
            if not self._session.usable:
                raise runtime.RunError(
                    "a step has failed or was interrupted, and the state is lost with it; "
                    "make another TrainStep from a state that you have"
                )
            yield
        finally:
            self._using.release()


def _print(step: Mapping[str, Any]) -> None:
    rate = f"   {step['tokensPerSecond']:.0f} tokens/s" if step["tokensPerSecond"] else ""
    memory = f"{step['peakBytes'] / 2**20:.1f} MiB a rank"
    print(f"step {step['step']}: {step['loss']:.8g}{rate}   {memory}", file=sys.stderr)


class _Layout:
    """Which of `@main`'s arguments are state and which the batch."""

    def __init__(self, args: tuple, donate: int | Sequence[int]) -> None:
        import jax

        self.donated = (donate,) if isinstance(donate, int) else tuple(donate)
        self._single = isinstance(donate, int)
        known = {n for n in self.donated if isinstance(n, int) and 0 <= n < len(args)}
        if not self.donated or list(self.donated) != sorted(known):
            raise ValueError(
                f"expected donate to number some of {len(args)} arguments, in order, but got {donate!r}"
            )
        self.state: list[int] = []
        self.batch: list[int] = []
        count = 0
        for number, arg in enumerate(args):
            numbers = range(count, count + len(jax.tree.leaves(arg)))
            (self.state if number in self.donated else self.batch).extend(numbers)
            count = numbers.stop
        state = jax.tree.leaves(tuple(args[number] for number in self.donated))
        self._key_kinds = {
            number: jax.random.key_impl(leaf)
            for number, leaf in enumerate(state)
            if key_data(leaf) is not leaf
        }
        self._state_tree = jax.tree.structure(tuple(args[number] for number in self.donated))
        batch = tuple(arg for number, arg in enumerate(args) if number not in self.donated)
        self._batch_tree = jax.tree.structure(batch)
        leaves = [np.asarray(jax.numpy.asarray(key_data(leaf))) for leaf in jax.tree.leaves(batch)]
        self._batch_types = [leaf.dtype for leaf in leaves]
        ids = [leaf.size for leaf in leaves if leaf.ndim and leaf.dtype.kind in "iu"]
        rows = [leaf.size // max(leaf.shape[-1], 1) for leaf in leaves if leaf.ndim > 1]
        self.tokens = max(ids or rows, default=0)

    def flatten(self, batch: tuple) -> list[np.ndarray]:
        """The arrays of a batch, in the order of `@main`'s arguments."""
        import jax

        leaves, tree = jax.tree.flatten(batch)
        if tree != self._batch_tree:
            raise TypeError(f"expected a batch of structure {self._batch_tree} but got {tree}")
        return [
            np.asarray(leaf, dtype) if isinstance(leaf, (bool, int, float)) else as_numpy(leaf)
            for leaf, dtype in zip(leaves, self._batch_types, strict=True)
        ]

    def unflatten(self, state: list[np.ndarray]) -> Any:
        """The donated arguments made of their arrays."""
        import jax

        leaves: list[Any] = list(state)
        for number, kind in self._key_kinds.items():
            leaves[number] = jax.random.wrap_key_data(leaves[number], impl=kind)
        trees = jax.tree.unflatten(self._state_tree, leaves)
        return trees[0] if self._single else trees


def train_step(
    function: Callable[..., Any],
    *args: Any,
    mesh: str | Mapping[str, int] | None = None,
    strategy: str = "auto",
    donate: int | Sequence[int] = 0,
    **named: Any,
) -> TrainStep:
    """Compile a training step whose state stays on the ranks.

    function: a JAX function of `args` that returns `(loss, new_state)`: a scalar float, then
        what each donated argument becomes, of its structure, types and shapes:
        `(loss, new_parameters, new_optimiser_state)` where two are donated.
    args: the state to start from, and a batch to tell types and shapes by.
    mesh, strategy, named: as for `compile`.
    donate: which arguments are the state; a sequence names several, in their order.
    Raises TypeError when `function` is none or returns anything else, or `args` are shapes, ValueError for
    numbers that name no arguments, CompileError with the compiler's diagnostic, and ImportError without JAX.
    """
    import jax

    if not callable(function):
        raise TypeError(
            "expected a JAX function of the state and a batch, which train_step exports itself, "
            f"but got {type(function).__name__}; spmlir.compile takes what is exported or a path"
        )
    if any(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in jax.tree.leaves(args)):
        raise TypeError("expected arrays for the state and the batch but got a jax.ShapeDtypeStruct")
    layout = _Layout(args, donate)
    _check_results(function, args, layout.donated)

    # State before loss: donation then pairs each array with the one that it becomes.
    def state_then_loss(*arguments: Any) -> tuple:
        loss, *state = function(*arguments)
        return *state, loss

    state_then_loss.__name__ = getattr(function, "__name__", "train_step")
    # What JAX calls arguments, and the runtime the arrays of a checkpoint.
    state_then_loss.__signature__ = inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY)
            for name in _argument_names(function, len(args))
        ]
    )
    jitted = jax.jit(state_then_loss, donate_argnums=layout.donated, keep_unused=True)
    exported = lower(jitted, args, {})
    program = compile(exported, mesh=mesh, strategy=strategy, **named)
    return TrainStep(exported, program, layout)


def _argument_names(function: Callable[..., Any], count: int) -> list[str]:
    """What a function calls its first arguments; `argument2` where it gives the third no name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = ()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [each.name for each in parameters if each.kind in kinds][:count]
    for number in range(len(names), count):
        name = f"argument{number}"
        names.append(name + "_" * (name in names))
    return names


def _check_results(function: Callable[..., Any], args: tuple, donated: tuple[int, ...]) -> None:
    import jax

    results = jax.eval_shape(function, *args)
    expected = 1 + len(donated)
    if not isinstance(results, tuple) or len(results) != expected:
        got = f"{len(results)} values" if isinstance(results, tuple) else type(results).__name__
        raise TypeError(f"expected (loss, new_state), {expected} values, from the step but got {got}")
    loss = results[0]
    if getattr(loss, "shape", None) != () or not jax.numpy.issubdtype(loss.dtype, jax.numpy.floating):
        raise TypeError(f"expected the loss to be a scalar float but got {loss}")
    for number, result in zip(donated, results[1:], strict=True):
        before = jax.eval_shape(lambda: args[number])  # noqa: B023
        if jax.tree.structure(before) != jax.tree.structure(result):
            raise TypeError(
                f"expected argument {number} to become {jax.tree.structure(before)} "
                f"but the step returns {jax.tree.structure(result)}"
            )
        for (path, old), new in zip(
            jax.tree_util.tree_leaves_with_path(before), jax.tree.leaves(result), strict=True
        ):
            if (old.shape, old.dtype) != (new.shape, new.dtype):
                raise TypeError(
                    f"expected argument {number}{jax.tree_util.keystr(path)} to stay "
                    f"{old.dtype}{list(old.shape)} but it becomes {new.dtype}{list(new.shape)}"
                )
