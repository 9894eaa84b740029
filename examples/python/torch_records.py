"""Trains nothing, but reads as a training loop does: shuffled batches of fixed-size records, by two worker processes.

python torch_records.py FILE
"""

import os
import sys

import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler

from waybill.torch import Records

if len(sys.argv) != 2:
    sys.exit("usage: python torch_records.py FILE")

SHAPE = (3, 32, 32)
COUNT = os.path.getsize(sys.argv[1]) // (3 * 32 * 32)  # what is left over at the end is left alone


def main() -> None:
    records = Records(sys.argv[1], SHAPE, torch.uint8, count=COUNT)
    sampler = BatchSampler(RandomSampler(records), batch_size=256, drop_last=False)
    loader = DataLoader(records, sampler=sampler, batch_size=None, num_workers=2)
    print(len(records), "records in", sum(1 for _ in loader), "batches, each one transfer")

    device = "cuda" if torch.cuda.is_available() else "cpu"
    batch = Records(sys.argv[1], SHAPE, torch.uint8, count=COUNT, device=device)
    print(tuple(batch[[7, 3, 9, 10]].shape), "on", device, "by", batch.receipt.path, "in", len(batch.receipt.results), "ranges")


if __name__ == "__main__":
    main()
