"""waybill.torch: fixed-size records of files as a dataset for PyTorch's DataLoader.

from waybill.torch import Records

records = Records("train.bin", (3, 32, 32), torch.uint8)
loader = DataLoader(records, batch_size=256, shuffle=True, num_workers=4)

batch = Records("train.bin", (3, 32, 32), torch.uint8, device="cuda")[[7, 3, 9]]     # one transfer, on the GPU
"""

from ._records import Records

__all__ = ["Records"]
