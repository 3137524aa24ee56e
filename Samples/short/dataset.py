"""Frames of many clips for training, by torch's DataLoader with workers.  dataset.py CLIP..."""
import sys

import upright
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Clips(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        for clip in sys.argv[1 + worker.id::worker.num_workers]:
            for frame in upright.open(clip, format="chw-float", canvas="portrait", size="90x160"):
                yield frame.to_torch()


for batch in DataLoader(Clips(), batch_size=32, num_workers=2):
    print(tuple(batch.shape))
