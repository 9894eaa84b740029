"""The element types of the format, and what each library calls them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ElementType:
    """``bits`` of one element. ``numpy``: NumPy's name; ``ml_dtypes``: that of the package, where NumPy has none. ``torch``:
    PyTorch's. ``packed``: how many elements one of PyTorch's holds. An absent name: the library has no such type."""

    bits: int
    numpy: str | None = None
    ml_dtypes: str | None = None
    torch: str | None = None
    packed: int = 1


# The types of safetensors 0.8 (safetensors/src/tensor.rs). F4 and F6 are packed: an element of ml_dtypes, which takes a whole
# byte, does not fit them.
ELEMENT_TYPES: dict[str, ElementType] = {
    "BOOL": ElementType(8, "bool", torch="bool"),
    "U8": ElementType(8, "uint8", torch="uint8"),
    "I8": ElementType(8, "int8", torch="int8"),
    "U16": ElementType(16, "uint16", torch="uint16"),
    "I16": ElementType(16, "int16", torch="int16"),
    "U32": ElementType(32, "uint32", torch="uint32"),
    "I32": ElementType(32, "int32", torch="int32"),
    "U64": ElementType(64, "uint64", torch="uint64"),
    "I64": ElementType(64, "int64", torch="int64"),
    "F16": ElementType(16, "float16", torch="float16"),
    "BF16": ElementType(16, ml_dtypes="bfloat16", torch="bfloat16"),
    "F32": ElementType(32, "float32", torch="float32"),
    "F64": ElementType(64, "float64", torch="float64"),
    "C64": ElementType(64, "complex64", torch="complex64"),
    "F8_E4M3": ElementType(8, ml_dtypes="float8_e4m3fn", torch="float8_e4m3fn"),
    "F8_E4M3FNUZ": ElementType(8, ml_dtypes="float8_e4m3fnuz", torch="float8_e4m3fnuz"),
    "F8_E5M2": ElementType(8, ml_dtypes="float8_e5m2", torch="float8_e5m2"),
    "F8_E5M2FNUZ": ElementType(8, ml_dtypes="float8_e5m2fnuz", torch="float8_e5m2fnuz"),
    "F8_E8M0": ElementType(8, ml_dtypes="float8_e8m0fnu", torch="float8_e8m0fnu"),
    "F6_E2M3": ElementType(6),
    "F6_E3M2": ElementType(6),
    "F4": ElementType(4, torch="float4_e2m1fn_x2", packed=2),
}
