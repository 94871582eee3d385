"""Jupyter Server starts, interrupts, restarts and deletes a kernel."""
import json
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request

from jupyter_client.blocking import BlockingKernelClient
from jupyter_core.paths import jupyter_runtime_dir

from kernel import NOTEBOOKS, command, equal, main, wait_until


class Server:
    def __init__(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}/api"
        self.process = subprocess.Popen([
            sys.executable, "-m", "jupyter_server", "--allow-root", f"--ServerApp.port={port}", "--ServerApp.port_retries=0",
            "--IdentityProvider.token=tok", f"--ServerApp.root_dir={NOTEBOOKS}", "--ServerApp.open_browser=False", "--log-level=WARN",
        ])
        wait_until(self.answers, 60, "the server answers")

    def answers(self):
        try:
            return self.ask("GET", "/status")[0] == 200
        except urllib.error.URLError:
            return False

    def ask(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else (b"" if method == "POST" else None)
        r = urllib.request.Request(self.base + path, data, {"Authorization": "token tok", "Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(r, timeout=60) as f:
            text = f.read()
            return f.status, json.loads(text) if text else None

    def close(self):
        self.process.terminate()
        self.process.wait(30)


def kernels():
    return json.loads(command("kernel", "list", "--json"))["items"]


def ready(client):
    """A client without a manager takes a heartbeat that is late by a second for death; a start may take longer on a busy machine."""

    def answers():
        try:
            client.wait_for_ready(timeout=60)
            return True
        except RuntimeError as e:
            if "died" in str(e):
                return False
            raise

    wait_until(answers, 60, "the kernel is ready")


def whole_life():
    server = Server()
    try:
        status, k = server.ask("POST", "/kernels", {"name": "kl-default"})
        equal(status, 201)
        client = BlockingKernelClient(connection_file=os.path.join(jupyter_runtime_dir(), f"kernel-{k['id']}.json"))
        client.load_connection_file()
        client.start_channels()
        ready(client)
        client.execute_interactive("x = 1", timeout=30)

        mid = client.execute("import time; print('now', flush=True); time.sleep(60)", stop_on_error=False)
        while client.get_iopub_msg(timeout=30)["msg_type"] != "stream":
            pass
        equal(server.ask("POST", f"/kernels/{k['id']}/interrupt")[0], 204)
        while (m := client.get_shell_msg(timeout=15))["parent_header"].get("msg_id") != mid:
            pass
        equal(m["content"].get("ename"), "KeyboardInterrupt")

        equal(server.ask("POST", f"/kernels/{k['id']}/restart")[0], 200)
        ready(client)
        equal(client.execute_interactive("x", timeout=30, output_hook=lambda m: None)["content"].get("ename"), "NameError")
        client.stop_channels()
        equal(len(kernels()), 1)

        equal(server.ask("DELETE", f"/kernels/{k['id']}")[0], 204)
        wait_until(lambda: kernels() == [], 10, "the kernel is gone")
    finally:
        server.close()


if __name__ == "__main__":
    main(globals())
