"""What ``import kvikio`` finds where ``waybill.as_kvikio`` has put this folder on the path: ``waybill.kvikio`` under that name."""

from waybill._alias import install

install()
