import os, py_compile, sys

root, sources = sys.argv[1:]
with open(sources, encoding="utf-8", errors="surrogateescape") as f:
    names = f.read().split("\n")


def work(names):
    for name in names:
        try:
            py_compile.compile(os.path.join(root, name), doraise=True, quiet=2)
        except Exception:
            pass  # a template or a file of another Python


jobs = min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
children = []
for i in range(1, jobs if len(names) > 50 else 1):
    pid = os.fork()
    if pid == 0:
        work(names[i::jobs])
        os._exit(0)
    children.append(pid)
work(names[:: jobs if children else 1])
for pid in children:
    os.waitpid(pid, 0)
