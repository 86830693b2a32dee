"""corpus.py FOLDER: writes the models of all tests into a folder, one a file, as a fuzzer's corpus."""

import re
import sys
from pathlib import Path

TESTS = Path(__file__).parent.parent
SEPARATOR = re.compile(r"^// -----.*\n", re.MULTILINE)
FILE_HEAD = re.compile(r"^(?:#|//)--- (\S+)\n", re.MULTILINE)
COMMENT = re.compile(r"^\s*//.*\n", re.MULTILINE)


def models_of(text: str, is_model: bool) -> list[str]:
    """The models in a test: `-----` parts of a model, or what split-file makes `.mlir` files of."""
    head, *parts = FILE_HEAD.split(text)
    files = [part for name, part in zip(parts[::2], parts[1::2], strict=True) if name.endswith(".mlir")]
    if is_model and not parts:
        files = [head]
    pieces = [COMMENT.sub("", piece) for file in files for piece in SEPARATOR.split(file)]
    return [piece for piece in pieces if piece.strip()]


def main(folder: Path) -> None:
    """Replaces what the folder held."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.mlir"):
        old.unlink()
    for test in sorted([*TESTS.rglob("*.mlir"), *TESTS.rglob("*.test")]):
        if test.is_relative_to(TESTS / "Fuzz"):
            continue
        name = "-".join(test.relative_to(TESTS).with_suffix("").parts)
        for number, model in enumerate(models_of(test.read_text(), test.suffix == ".mlir")):
            (folder / f"{name}-{number}.mlir").write_text(model)


main(Path(sys.argv[1]))
