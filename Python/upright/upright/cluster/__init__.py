"""An agent beside each `upright serve`: many services, one cluster, with its state in NATS JetStream.

    python -m upright.cluster --name a --nats nats://10.0.0.1:4222 --serve http://127.0.0.1:8080 ...

`docs/cluster.md` describes it. The extra `cluster` of this package has what it needs: `pip install upright[cluster]`.
"""

from ._agent import Agent
from ._fence import Fence, Observer
from ._membership import NameTaken
from ._placement import assign, cost_of
from ._records import Desired, Lease, Node
from ._settings import Settings

__all__ = ["Agent", "Desired", "Fence", "Lease", "NameTaken", "Node", "Observer", "Settings", "assign", "cost_of"]
