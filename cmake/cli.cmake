# The program `waybill`.
