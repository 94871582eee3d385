"""What jupyter_client and nbclient do with a kernel, one function for each scenario."""
import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import time
import uuid

import nbformat
import psutil
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient

from kernel import LAUNCHER, NOTEBOOKS, Kernel, command, equal, gone, main, wait_until


def kernelspec():
    spec = KernelSpecManager().get_kernel_spec("kl-default")
    equal(spec.argv, [LAUNCHER, "--env", "default", "-f", "{connection_file}"])
    equal(spec.language, "python")
    assert any(n.startswith("logo-") for n in os.listdir(spec.resource_dir)), os.listdir(spec.resource_dir)


def execute(k):
    equal(k.run("print(6 * 7)"), ("42\n", ""))
    equal(k.run("1 / 0")[1], "ZeroDivisionError")
    kinds = []
    k.client.execute_interactive("from IPython.display import HTML, display; display(HTML('<b>x</b>'))", timeout=30, output_hook=lambda m: kinds.append(m["msg_type"]))
    assert "display_data" in kinds, kinds
    equal(k.run("import os; print(os.getcwd())")[0].strip(), NOTEBOOKS)
    k.run("open('made.txt', 'w').write('x')")
    assert os.path.exists(os.path.join(NOTEBOOKS, "made.txt"))


def input_of_the_cell(k):
    equal(k.run("print('got', input('? '))", stdin="tea")[0], "got tea\n")


def comm(k):
    k.run("get_ipython().kernel.comm_manager.register_target('echo', lambda comm, m: comm.on_msg(lambda m: comm.send(m['content']['data'])))")
    name = uuid.uuid4().hex
    for kind, content in (("comm_open", {"comm_id": name, "target_name": "echo", "data": {}}), ("comm_msg", {"comm_id": name, "data": {"a": 1}})):
        k.client.shell_channel.send(k.client.session.msg(kind, content))
    while (m := k.client.get_iopub_msg(timeout=20))["msg_type"] != "comm_msg":
        pass
    equal(m["content"]["data"], {"a": 1})


def fifty_megabytes():
    with Kernel() as k:
        out, error = k.run("import sys\nfor i in range(50): sys.stdout.write('x' * 999_999 + '\\n')", timeout=120)
        equal((len(out), error), (50_000_000, ""))


def control_while_busy(k):
    mid = k.begin("import time; print('now', flush=True); time.sleep(60)", "now")
    k.client.control_channel.send(k.client.session.msg("kernel_info_request", {}))
    k.client.get_control_msg(timeout=30)
    k.manager.interrupt_kernel()
    equal(k.reply(mid).get("ename"), "KeyboardInterrupt", "the answer came while the cell ran")


def each_descendant(k):
    for p in k.tree():
        try:
            p.send_signal(signal.SIGINT)
        except psutil.Error:
            pass


def interrupt(k):
    """By the client, of the process group, and, as some editors do, of every descendant."""
    for send in (k.manager.interrupt_kernel, lambda: os.killpg(os.getpgid(k.pid), signal.SIGINT), lambda: each_descendant(k)):
        mid = k.begin("import time; print('now', flush=True); time.sleep(60)", "now")
        send()
        equal(k.reply(mid).get("ename"), "KeyboardInterrupt")
        equal(k.run("print('alive')")[0], "alive\n")


# By a handler: an exception may come anywhere, behind the sign and before a try as well.
COUNT = """import signal, time
n, end = 0, time.time() + 60
def count(*_):
    global n, end
    n += 1
    end = min(end, time.time() + 1)
signal.signal(signal.SIGINT, count)
print('now', flush=True)
while time.time() < end: time.sleep(.05)
signal.signal(signal.SIGINT, signal.default_int_handler)
print(n)"""


def interrupt_exactly_once(k):
    for send in (k.manager.interrupt_kernel, lambda: each_descendant(k)):
        mid = k.begin(COUNT, "now")
        send()
        equal(k.rest(mid, timeout=90)[1].strip(), "1", send)
    k.manager.interrupt_kernel()
    time.sleep(0.3)
    equal(k.run("print(1)")[0], "1\n", "an idle kernel is not hurt")


def interrupt_reaches_children(k):
    mid = k.begin("import subprocess; p = subprocess.Popen(['sleep', '61']); print('now', flush=True); p.wait()", "now")
    sleep = [p for p in k.tree() if p.name() == "sleep"]
    equal(len(sleep), 1)
    k.manager.interrupt_kernel()
    k.reply(mid)
    wait_until(lambda: gone(sleep), 5, "the cell's child ends")


def restart():
    with Kernel() as k:
        for now in (False, True):
            port = k.manager.shell_port
            k.run("x = 1")
            before = k.tree()
            k.manager.restart_kernel(now=now)
            k.ready()
            equal(k.manager.shell_port, port)
            equal(k.run("x")[1], "NameError")
            wait_until(lambda: gone(before), 5, "the old kernel ends")


def shutdown():
    for now in (False, True):
        with Kernel() as k:
            k.run("import subprocess; subprocess.Popen(['sleep', '300'], start_new_session=True)")
            all = k.tree()
            assert any(p.name() == "sleep" for p in all)
            k.client.stop_channels()
            k.manager.shutdown_kernel(now=now)
            wait_until(lambda: gone(all), 2, f"nothing is left (now={now})")
    equal(json.loads(command("kernel", "list", "--json"))["items"], [])


def death_is_seen():
    with Kernel() as k:
        k.client.execute("import os; os.kill(os.getpid(), 9)")
        wait_until(lambda: not k.manager.is_alive(), 5, "the client sees that the kernel has died")


def ends_with_its_server():
    code = "import sys, time; sys.path.insert(0, sys.argv[1]); from kernel import Kernel; k = Kernel(); print(k.pid, flush=True); time.sleep(300)"
    server = subprocess.Popen([sys.executable, "-c", code, os.path.dirname(os.path.abspath(__file__))], stdout=subprocess.PIPE, text=True)
    launcher = psutil.Process(int(server.stdout.readline()))
    all = [launcher, *launcher.children(recursive=True)]
    assert len(all) >= 4, all
    server.kill()
    server.wait()
    wait_until(lambda: gone(all), 10, "the kernel ends with the process that started it")


def output_of_the_kernel():
    path = os.path.join(NOTEBOOKS, f"kernel-{os.getpid()}.log")
    with open(path, "w+") as log, Kernel(stdout=log, stderr=log) as k:
        k.run("import os; os.write(1, b'seen \\x1b]0;title\\x07 end\\n')")
        wait_until(lambda: "end" in open(path).read(), 5, "what the kernel writes arrives")
    text = open(path).read()
    assert "\x1b" not in text and "\x07" not in text, text


def eight_at_once():
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        all = list(pool.map(lambda _: Kernel(), range(8)))
        try:
            equal(list(pool.map(lambda k: k.run("print(1)")[0], all)), ["1\n"] * 8)
            listed = json.loads(command("kernel", "list", "--json"))["items"]
            equal({k["pid"] for k in listed}, {k.pid for k in all})
            equal({k["environment"] for k in listed}, {"default"})
        finally:
            list(pool.map(lambda k: k.__exit__(), all))


def notebook():
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("a = 20"), nbformat.v4.new_code_cell("print(a + 1)\na * 2")])
    NotebookClient(nb, kernel_name="kl-default", timeout=60, resources={"metadata": {"path": NOTEBOOKS}}).execute()
    equal(nb.cells[1].outputs[0]["text"], "21\n")
    equal(nb.cells[1].outputs[1]["data"]["text/plain"], "40")


def conversation():
    with Kernel() as k:
        for scenario in (execute, input_of_the_cell, comm, control_while_busy):
            scenario(k)


def interrupts():
    with Kernel() as k:
        for scenario in (interrupt, interrupt_exactly_once, interrupt_reaches_children):
            scenario(k)


def commands():
    """What the command line says and does to a kernel that a client runs."""
    with Kernel() as k:
        [mine] = json.loads(command("kernel", "list", "--json"))["items"]
        equal((mine["pid"], mine["state"], mine["network"], mine["folder"], mine["stale"], mine["verdict"]), (k.pid, "running", "allowlist", NOTEBOOKS, False, None))
        assert mine["id"] in command("kernel", "list") and mine["id"] in command("status")
        equal(json.loads(command("kernel", "show", mine["id"], "--json"))["connection_file"], k.manager.connection_file)
        mid = k.begin("import time; print('now', flush=True); time.sleep(60)", "now")
        command("kernel", "interrupt", mine["id"])
        equal(k.reply(mid).get("ename"), "KeyboardInterrupt")
        k.run("x = 1")
        equal(json.loads(command("kernel", "restart", mine["id"], "--json"))["state"], "running")
        equal(json.loads(command("kernel", "show", mine["id"], "--json"))["state"], "running")
        k.ready()
        equal(k.run("x")[1], "NameError")
        command("kernel", "stop", mine["id"])
        wait_until(lambda: not k.manager.is_alive(), 10, "the kernel ends")
        equal(json.loads(command("kernel", "list", "--json"))["items"], [])


if __name__ == "__main__":
    main(globals())
