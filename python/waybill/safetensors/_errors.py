"""SafetensorError: the file is no safetensors file, or not the one that was meant."""

from __future__ import annotations

import functools
import sys
from typing import Any

from ..errors import FormatError


class SafetensorError(FormatError):
    """The file, its header or the index of a checkpoint is not as the format wants it, or a tensor is not there.

    Where the package safetensors is loaded, what is raised is its ``SafetensorError`` too.
    """

    code = "bad-format"

    def __reduce__(self) -> Any:
        return bad, self.args


@functools.cache
def _joined(theirs: type[BaseException]) -> type[SafetensorError]:
    return type("SafetensorError", (SafetensorError, theirs), {"__doc__": SafetensorError.__doc__, "__module__": __name__})


def bad(text: str) -> SafetensorError:
    """The exception to raise. Whoever catches safetensors' own has imported that package, so it need not be imported here."""
    theirs = getattr(sys.modules.get("safetensors"), "SafetensorError", None)
    return SafetensorError(text) if theirs is None else _joined(theirs)(text)
