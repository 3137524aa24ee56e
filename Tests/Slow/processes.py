"""Processes, for checks that kill them."""
import os


def children(process):
    """Returns the processes that `process` has started."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = open(f"/proc/{name}/stat").read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[0] != "Z" and int(fields[1]) == process:
            found.append(int(name))
    return found
