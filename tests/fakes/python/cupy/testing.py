"""CuPy's assertions, by NumPy's."""

import numpy


def assert_array_equal(one, other):
    numpy.testing.assert_array_equal(numpy.asarray(one).view(numpy.ndarray), numpy.asarray(other).view(numpy.ndarray))
