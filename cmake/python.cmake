# The Python module waybill._core.
