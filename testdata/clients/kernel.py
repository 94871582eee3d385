"""A stock Jupyter client and the kernel that it started."""
import os
import subprocess
import sys
import time
import uuid

import psutil
from jupyter_client.manager import KernelManager
from jupyter_core.paths import jupyter_runtime_dir

LAUNCHER = os.environ["KERNEL_LAUNCH"]
NOTEBOOKS = os.environ["NOTEBOOKS"]


def equal(got, want, what=""):
    if got != want:
        raise AssertionError(f"{what}: got {got!r}, want {want!r}")


def command(*args):
    """The launcher's command line, beside the running kernels."""
    p = subprocess.run([LAUNCHER, *args], capture_output=True, text=True, timeout=90, cwd=NOTEBOOKS)
    equal(p.returncode, 0, f"{args}\n{p.stdout}\n{p.stderr}")
    return p.stdout


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)


def gone(processes):
    return not [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


class Kernel:
    def __init__(self, spec="kl-default", **start):
        os.makedirs(jupyter_runtime_dir(), mode=0o700, exist_ok=True)
        self.manager = KernelManager(kernel_name=spec, connection_file=os.path.join(jupyter_runtime_dir(), f"kernel-{uuid.uuid4()}.json"))
        self.manager.start_kernel(cwd=NOTEBOOKS, **start)
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.ready()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.stop_channels()
        if self.manager.has_kernel:
            self.manager.shutdown_kernel(now=True)

    def ready(self):
        try:
            self.client.wait_for_ready(timeout=60)
        except BaseException:
            self.manager.shutdown_kernel(now=True)
            raise

    @property
    def pid(self):
        return self.manager.provisioner.pid

    def tree(self):
        p = psutil.Process(self.pid)
        return [p, *p.children(recursive=True)]

    def run(self, code, timeout=60, stdin=None):
        """The text that the cell wrote, and its exception's name, or ''."""
        out, error = [], []

        def hook(m):
            kind, content = m["msg_type"], m["content"]
            if kind == "stream":
                out.append(content["text"])
            elif kind == "error":
                error.append(content["ename"])
                self.traceback = "\n".join(content["traceback"])

        extra = {}
        if stdin is not None:
            extra = {"allow_stdin": True, "stdin_hook": lambda m: self.client.input(stdin)}
        reply = self.client.execute_interactive(code, timeout=timeout, output_hook=hook, **extra)
        if reply["content"]["status"] == "aborted":  # a kernel aborts what arrives just after an error
            return self.run(code, timeout, stdin)
        return "".join(out), "".join(error)

    def begin(self, code, sign):
        """Start a cell that writes sign when it is under way."""
        mid = self.client.execute(code, stop_on_error=False)
        while True:
            m = self.client.get_iopub_msg(timeout=30)
            if m["parent_header"].get("msg_id") == mid and m["msg_type"] == "stream" and sign in m["content"]["text"]:
                return mid

    def reply(self, mid, timeout=30):
        """The content of its reply, once the kernel is idle: IRkernel aborts what arrives between the two, and never says idle for that."""
        return self.rest(mid, timeout)[0]

    def rest(self, mid, timeout=30):
        """The content of its reply, and the text that it still wrote."""
        end = time.monotonic() + timeout

        def answers(get):
            while True:
                m = get(timeout=max(0.1, end - time.monotonic()))
                if m["parent_header"].get("msg_id") == mid:
                    yield m

        content, text = next(answers(self.client.get_shell_msg))["content"], ""
        for m in answers(self.client.get_iopub_msg):
            if m["msg_type"] == "stream":
                text += m["content"]["text"]
            elif m["content"].get("execution_state") == "idle":
                return content, text


def main(scenarios):
    """Run the scenario that is named on the command line."""
    scenarios[sys.argv[1]]()
