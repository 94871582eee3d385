"""Starts kernels with jupyter_client, in turns, and prints how long each took until it was ready: one JSON object.

Arguments: how many turns, then the names of the kernelspecs.
"""

import json
import subprocess
import sys
import time

from jupyter_client.manager import KernelManager

FLUSH = 0.2  # how long wait_for_ready listens for further output once the kernel is ready: the same for every kernel


def start(name):
    manager = KernelManager(kernel_name=name)
    began = time.perf_counter()
    manager.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    took = time.perf_counter() - began - FLUSH
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    return took * 1000


def main():
    turns, names = int(sys.argv[1]), sys.argv[2:]
    times = {name: [] for name in names}
    for turn in range(turns + 1):
        for k in range(len(names)):
            name = names[(turn + k) % len(names)]
            took = start(name)
            if turn > 0:  # the first turn fills caches
                times[name].append(took)
    print(json.dumps(times))


main()
