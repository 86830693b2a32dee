"""Near-attentions whose gradients are their own: a JAX function changed before it is differentiated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.extend.core import Literal

from near_changes import Change
from near_program import Place

CALLS = {"pjit": "jaxpr", "jit": "jaxpr", "closed_call": "call_jaxpr", "custom_jvp_call": "call_jaxpr"}
EXPONENTIALS = ("exp", "exp2")


@dataclass
class Walk:
    """Evaluates a function an operation at a time; visit: takes the number, role and value of each result."""

    visit: Callable[[int, str, Any], Any]
    number: int = 0

    def run(
        self, jaxpr: Any, constants: Sequence[Any], inputs: Sequence[tuple[Any, str]]
    ) -> list[tuple[Any, str]]:
        """Results with their roles, of inputs with theirs."""
        values = dict(zip(jaxpr.constvars, ((each, "terms") for each in constants), strict=True))
        values |= dict(zip(jaxpr.invars, inputs, strict=True))

        def read(name: Any) -> tuple[Any, str]:
            return (name.val, "terms") if isinstance(name, Literal) else values[name]

        for equation in jaxpr.eqns:
            read_ = [read(name) for name in equation.invars]
            primitive = equation.primitive
            if primitive.name in CALLS:
                inner = equation.params[CALLS[primitive.name]]
                made = self.run(inner.jaxpr, inner.consts, read_)
            else:
                role = role_of(primitive.name, [each for _, each in read_])
                made = self._apply(equation, [value for value, _ in read_], role)
            values |= dict(zip(equation.outvars, made, strict=True))
        return [read(name) for name in jaxpr.outvars]

    def _apply(self, equation: Any, inputs: list[Any], role: str) -> list[tuple[Any, str]]:
        parameters = equation.primitive.get_bind_params(equation.params)
        made = equation.primitive.bind(*inputs, **parameters)
        results = []
        for value in made if equation.primitive.multiple_results else [made]:
            results.append((self.visit(self.number, role, value), role))
            self.number += 1
        return results


def role_of(primitive: str, inputs: list[str]) -> str:
    """What an operation's result is to an attention, by what it reads."""
    if primitive in EXPONENTIALS and "scores" in inputs:
        return "weights"
    if primitive == "dot_general":
        return "far" if {"weights", "far"} & set(inputs) else "scores"
    return next((role for role in ("far", "weights", "scores") if role in inputs), "terms")


def places(function: Callable[..., Any], arguments: tuple) -> dict[Place, np.ndarray]:
    """Values in a function, with what they are; nothing behind the second product."""
    found = {}

    def visit(number: int, role: str, value: Any) -> Any:
        name = str(value.dtype)
        if (
            name in ("bool", "float32", "float64")
            and role != "far"
            and not isinstance(value, jax.core.Tracer)
        ):
            found[Place(number, role, value.shape, name, 0, 1)] = np.asarray(value).astype("f8").ravel()
        return value

    jaxpr = jax.make_jaxpr(function)(*arguments)
    Walk(visit).run(jaxpr.jaxpr, jaxpr.consts, [(jax.numpy.asarray(each), "terms") for each in arguments])
    return found


def changed(function: Callable[..., Any], place: Place, change: Change) -> Callable[..., Any]:
    """The function with a change, whose arrays are more arguments at the end."""

    def changed_(*arguments: Any) -> Any:
        own = len(arguments) - len(change.arrays)
        jaxpr = jax.make_jaxpr(function)(*arguments[:own])

        def visit(number: int, role: str, value: Any) -> Any:
            return change.function(value, *arguments[own:]) if number == place.number else value

        inputs = [(each, "terms") for each in arguments[:own]]
        return Walk(visit).run(jaxpr.jaxpr, jaxpr.consts, inputs)[0][0]

    return changed_
