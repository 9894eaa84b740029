"""``kvikio`` as another name of ``waybill.kvikio``, submodules included."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Sequence
from typing import Any

_ALIAS = "kvikio"
_REAL = "waybill.kvikio"
_ZARR = "kvikio.zarr"


class _Loader(importlib.abc.Loader):
    """Loads the module of the real name; both names then stand for one module."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        real = _REAL + spec.name[len(_ALIAS) :]
        # A program that forgot the module wants its look at the installed Zarr again.
        forgotten = [name for name in sys.modules if spec.name == _ZARR and (name == real or name.startswith(real + "."))]
        kept = {name: sys.modules.pop(name) for name in forgotten}
        try:
            module = importlib.import_module(real)
        except ImportError:
            sys.modules.update(kept)
            raise
        self._kept = {name: getattr(module, name, None) for name in ("__name__", "__spec__", "__loader__", "__package__")}
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        for name, value in self._kept.items():  # the import has written those of the alias over them
            setattr(module, name, value)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != _ALIAS and not name.startswith(_ALIAS + "."):
            return None
        try:
            if importlib.util.find_spec(_REAL + name[len(_ALIAS) :]) is None:
                return None
        except ModuleNotFoundError:
            return None
        return importlib.machinery.ModuleSpec(name, _Loader(), is_package=path is None)


def install() -> None:
    """From now on ``import kvikio`` in this process gives ``waybill.kvikio``."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    sys.modules[_ALIAS] = importlib.import_module(_REAL)
