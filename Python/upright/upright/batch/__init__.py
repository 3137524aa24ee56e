"""Transcodes many inputs in chunks, on this machine or on the engine of a cluster.

    python -m upright.batch one.mov two.mov -o s3://bucket/upright -- --size 720p
    python -m upright.ray one.mov two.mov -o s3://bucket/upright --address auto -- --size 720p

The work is done by the program `upright` (plan, run, join), which every machine needs in one version: the one that
the variable UPRIGHT names, or the one on the PATH.
"""

from ._driver import Clip, ClipReport, Driver, Engine, Local, Options
from ._program import ProgramError
from ._store import Store

__all__ = ["Clip", "ClipReport", "Driver", "Engine", "Local", "Options", "ProgramError", "Store"]
