"""What people do in a notebook that a wall could break. Each piece of work says its result; none of it is told that it is confined."""
import json
import os
import sysconfig
import tempfile

JUPYTER = tempfile.mkdtemp(dir=os.environ["XDG_RUNTIME_DIR"])
os.environ["JUPYTER_PATH"] = JUPYTER

from kernel import LAUNCHER, Kernel, equal, main  # after the path is set, which is read once


def offer(name, *flags):
    """A kernelspec that is kl-default with some flags more."""
    folder = os.path.join(JUPYTER, "kernels", name)
    os.makedirs(folder)
    spec = {"argv": [LAUNCHER, "--env", "default", *flags, "-f", "{connection_file}"], "display_name": name, "language": "python"}
    with open(os.path.join(folder, "kernel.json"), "w") as f:
        json.dump(spec, f)


def works(k, what, code, want):
    out, error = k.run(code, timeout=90)
    assert not error, f"{what}: {k.traceback}\n{out}"
    last = out.strip().splitlines()[-len(want.splitlines()):]  # on a slow machine libraries say before it that they are slow
    equal("\n".join(last), want, f"{what}: {out}")


# Functions that other processes run have to be importable there.
JOBS = """
import os, sqlite3

def square(n):
    return n * n

def put(queue, semaphore):
    with semaphore:
        queue.put(os.getpid())

def count(value, times):
    for _ in range(times):
        with value.get_lock():
            value.value += 1

def fill(name, index):
    from multiprocessing import shared_memory
    block = shared_memory.SharedMemory(name)
    block.buf[index] = index + 1
    block.close()

def insert(path, n):
    db = sqlite3.connect(path, timeout=30)
    for i in range(20):
        with db:
            db.execute("insert into t values (?)", (n * 100 + i,))
    db.close()
"""

# Each way of starting a process has its own: fork copies, spawn starts a program, forkserver asks another process by a socket.
MULTIPROCESSING = """
import multiprocessing, jobs
ctx = multiprocessing.get_context({method!r})
queue, semaphore, value = ctx.Queue(), ctx.Semaphore(1), ctx.Value("i", 0)
some = [ctx.Process(target=jobs.put, args=(queue, semaphore)) for _ in range(3)] + [ctx.Process(target=jobs.count, args=(value, 50)) for _ in range(2)]
for p in some: p.start()
pids = {{queue.get(timeout=30) for _ in range(3)}}
for p in some: p.join(30)
with ctx.Pool(2) as pool: squares = pool.map(jobs.square, range(5))
with ctx.Manager() as manager:
    shared = manager.dict(a=1)
    shared["b"] = 2
    kept = dict(shared)
print(len(pids), [p.exitcode for p in some], value.value, squares, kept)
"""

SHARED_MEMORY = """
import multiprocessing, jobs
from multiprocessing import shared_memory
block = shared_memory.SharedMemory(create=True, size=1 << 20)
some = [multiprocessing.get_context("spawn").Process(target=jobs.fill, args=(block.name, i)) for i in range(2)]
for p in some: p.start()
for p in some: p.join(30)
print(bytes(block.buf[:2]))
block.close(); block.unlink()
"""

POOL = """
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
import jobs
with ProcessPoolExecutor(2) as a, ThreadPoolExecutor(4) as b:
    print(list(a.map(jobs.square, range(4))), list(b.map(jobs.square, range(4))))
"""


def processes():
    with Kernel() as k:
        k.run(f"open('jobs.py', 'w').write({JOBS!r})")
        for method in ("fork", "spawn", "forkserver"):
            works(k, method, MULTIPROCESSING.format(method=method), "3 [0, 0, 0, 0, 0] 100 [0, 1, 4, 9, 16] {'a': 1, 'b': 2}")
        works(k, "shared memory", SHARED_MEMORY, "b'\\x01\\x02'")
        works(k, "executors", POOL, "[0, 1, 4, 9] [0, 1, 4, 9]")


TERMINAL = """
import os, pty, subprocess, sys
master, slave = pty.openpty()
p = subprocess.Popen(["sh", "-c", "test -t 0 && stty size && read line && echo got $line"], stdin=slave, stdout=slave, start_new_session=True)
os.write(master, b"tea\\n")
assert p.wait(30) == 0
os.close(slave)
text = b""
try:
    while True: text += os.read(master, 1024)
except OSError: pass
print(os.ttyname(master).startswith("/dev/p"), b"got tea" in text)
child = subprocess.run([sys.executable, "-c", "import pty; pty.spawn(['sh', '-c', 'test -t 1 && echo inner'])"], capture_output=True, stdin=subprocess.DEVNULL, text=True, timeout=30)
print("inner" in child.stdout)
"""

# WAL shares an index by mmap in the notebook's folder; each connection is a process of its own.
SQLITE = """
import multiprocessing, sqlite3, jobs
db = sqlite3.connect("work.db")
mode = db.execute("pragma journal_mode=wal").fetchone()[0]
db.execute("create table t (n integer primary key)"); db.commit()
some = [multiprocessing.get_context("spawn").Process(target=jobs.insert, args=("work.db", n)) for n in range(3)]
for p in some: p.start()
for p in some: p.join(60)
print(mode, db.execute("select count(*) from t").fetchone()[0], db.execute("pragma wal_checkpoint(truncate)").fetchone()[0])
"""

SUBPROCESS = """
import os, subprocess, sys
print(subprocess.run("echo a | tr a b; exit 3", shell=True, capture_output=True, text=True).stdout.strip(),
      subprocess.run([sys.executable, "-c", "import sys; sys.exit(5)"]).returncode,
      os.popen("uname").read().strip())
"""

ASYNCIO = """
import asyncio
p = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
out, _ = await p.communicate(b"through")
print(out.decode(), p.returncode)
"""

TEMPFILE = """
import os, tempfile
with tempfile.NamedTemporaryFile() as f, tempfile.TemporaryFile() as g, tempfile.TemporaryDirectory() as d:
    f.write(b"x"); g.write(b"y")
    os.symlink(f.name, d + "/link"); os.mkfifo(d + "/pipe"); os.link(f.name, d + "/hard")
    print(os.path.islink(d + "/link"), sorted(os.listdir(d)))
"""

SERVER = """
import http.server, threading, urllib.request
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"hello")
    def log_message(self, *a): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(*(urllib.request.urlopen(f"http://{host}:{server.server_port}/", timeout=20).read().decode() for host in ("127.0.0.1", "localhost")))
server.shutdown()
"""

# What editors and archivers do to a file: a copy beside it, its times and mode, a rename over it.
FILES = """
import fcntl, mmap, os, shutil, stat, tarfile
os.makedirs("out/deep", exist_ok=True)
open("out/a.txt", "w").write("one")
shutil.copy2("out/a.txt", "out/deep/b.txt"); os.chmod("out/deep/b.txt", 0o640); os.utime("out/deep/b.txt", (1, 1))
open("out/a.tmp", "w").write("two"); os.replace("out/a.tmp", "out/a.txt"); os.rename("out/deep/b.txt", "out/c.txt")
with tarfile.open("out.tar.gz", "w:gz") as t: t.add("out")
shutil.unpack_archive("out.tar.gz", "again")
with open("out/a.txt", "r+b") as f:
    fcntl.flock(f, fcntl.LOCK_EX)
    with mmap.mmap(f.fileno(), 0) as m: m[:3] = b"TWO"
print(open("out/a.txt").read(), stat.filemode(os.stat("again/out/c.txt").st_mode), int(os.stat("again/out/c.txt").st_mtime))
shutil.rmtree("again"); shutil.rmtree("out")
"""


def system():
    with Kernel() as k:
        k.run(f"open('jobs.py', 'w').write({JOBS!r})")
        works(k, "a terminal", TERMINAL, "True True\nTrue")
        works(k, "a line for the shell", "!test -t 1 && echo terminal", "terminal")
        works(k, "sqlite", SQLITE, "wal 60 0")
        works(k, "subprocess", SUBPROCESS, "b 5 Linux")
        works(k, "asyncio", ASYNCIO, "through 0")
        works(k, "tempfile", TEMPFILE, "True ['hard', 'link', 'pipe']")
        works(k, "a server", SERVER, "hello hello")
        works(k, "files", FILES, "TWO -rw-r----- 1")


JOBLIB = """
from joblib import Memory, Parallel, delayed
import numpy as np, jobs
big = np.ones(2_000_000)
total = lambda a: float(a.sum())
print(Parallel(2)(delayed(jobs.square)(n) for n in range(5)),
      Parallel(2, prefer="threads")(delayed(jobs.square)(n) for n in range(5)),
      Parallel(2)(delayed(total)(big) for _ in range(2)),
      Memory("cache", verbose=0).cache(jobs.square)(7))
"""

NUMPY = """
import numpy as np, re
a = np.random.default_rng(1).random((900, 900))
ok = np.allclose(a @ np.linalg.inv(a), np.eye(900), atol=1e-6)
np.save("a.npy", a)
threads = int(re.search(r"Threads:\\s+(\\d+)", open("/proc/self/status").read())[1])
print(ok, np.load("a.npy", mmap_mode="r").shape, threads > 2)
"""

MATPLOTLIB = """
import os
cold = not any(n.startswith("fontlist") for _, _, names in os.walk(os.path.expanduser("~")) for n in names)
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
plt.plot([1, 2, 3]); plt.title("µ"); plt.savefig("plot.png"); plt.savefig("plot.pdf")
warm = os.path.exists(os.path.join(matplotlib.get_cachedir(), next(n for n in os.listdir(matplotlib.get_cachedir()) if n.startswith("fontlist"))))
print(cold, warm, open("plot.png", "rb").read(4), open("plot.pdf", "rb").read(4))
"""


def libraries():
    """Those that start processes and threads and keep caches. They come from the tools' own interpreter by a grant: no test has to fetch them."""
    site = sysconfig.get_path("purelib")
    offer("kl-work", "--read", site, "--set-env", "PYTHONPATH=" + site)
    with Kernel("kl-work") as k:
        k.run(f"open('jobs.py', 'w').write({JOBS!r})")
        works(k, "numpy", NUMPY, "True (900, 900) True")
        works(k, "joblib", JOBLIB, "[0, 1, 4, 9, 16] [0, 1, 4, 9, 16] [2000000.0, 2000000.0] 49")
        works(k, "matplotlib", MATPLOTLIB, "True True b'\\x89PNG' b'%PDF'")


R = {
    "fork": ("cat(unlist(parallel::mclapply(1:4, function(n) n * n, mc.cores = 2)))", "1 4 9 16"),
    "socket cluster": ("cl <- parallel::makeCluster(2); cat(unlist(parallel::parLapply(cl, 1:4, function(n) n * n))); parallel::stopCluster(cl)", "1 4 9 16"),
    "png": ("png('plot.png'); plot(1:3); invisible(dev.off()); cat(file.size('plot.png') > 500)", "TRUE"),
    "pdf": ("pdf('plot.pdf'); plot(1:3); invisible(dev.off()); cat(file.size('plot.pdf') > 500)", "TRUE"),
    "system": ("cat(system('echo a | tr a b', intern = TRUE), system2('sh', c('-c', shQuote('exit 4'))))", "b 4"),
    "tempfile": ("f <- tempfile(); saveRDS(1:3, f); cat(sum(readRDS(f)), file.symlink(f, paste0(f, '.link')))", "6 TRUE"),
    "fifo": ("f <- tempfile(); system2('mkfifo', f); cat(system(paste('echo through >', f, '& cat', f), intern = TRUE))", "through"),
    "matrix": ("m <- matrix(rnorm(250000), 500); cat(max(abs(m %*% solve(m) - diag(500))) < 1e-6)", "TRUE"),
    "graphics device of the notebook": ("plot(1:3); cat('drawn')", "drawn"),
}


def r():
    with Kernel("kl-stats") as k:
        for what, (code, want) in R.items():
            works(k, what, code, want)


if __name__ == "__main__":
    main(globals())
