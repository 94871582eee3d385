//go:build linux

package sandbox

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// pythonWork is what notebooks do besides computing. It is a file: spawn and forkserver import it again.
const pythonWork = `
import asyncio, concurrent.futures, multiprocessing, os, pty, shutil, socket, sqlite3, subprocess, sys, tempfile, threading
from multiprocessing import shared_memory

def double(n):
    return 2 * n

def processes(method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(double, [1, 2]) == [2, 4], method

async def conversation():
    child = await asyncio.create_subprocess_exec("/bin/echo", "hi", stdout=-1)
    assert (await child.communicate())[0] == b"hi\n"
    server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    assert await reader.read() == b""
    server.close()

def terminal():
    child, fd = pty.fork()
    if child == 0:
        os.execv("/bin/echo", ["echo", "typed"])
    assert b"typed" in os.read(fd, 100)
    assert os.waitpid(child, 0)[1] == 0

def files(d):
    with open(d + "/a", "w") as f:
        f.write("x")
    os.chmod(d + "/a", 0o750)
    shutil.copy2(d + "/a", d + "/b")
    assert os.stat(d + "/b").st_mode & 0o777 == 0o750
    os.mkdir(d + "/sticky")
    os.chmod(d + "/sticky", 0o1777)
    shutil.copytree(d, d + "-copy")
    with tempfile.TemporaryFile(dir=d) as f:
        f.write(b"x")
    db = sqlite3.connect(d + "/db")
    db.execute("pragma journal_mode=wal")
    db.execute("create table t(a)")
    db.commit()

if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        processes(method)
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        assert list(pool.map(double, [3])) == [6]
    with multiprocessing.Manager() as m:
        assert m.list([1])[0] == 1
    s = shared_memory.SharedMemory(create=True, size=64)
    s.close(); s.unlink()
    assert subprocess.run("cat | cat", shell=True, input=b"x", capture_output=True).stdout == b"x"
    threads = [threading.Thread(target=double, args=(1,)) for _ in range(8)]
    [t.start() for t in threads]; [t.join() for t in threads]
    asyncio.run(conversation())
    a, b = socket.socketpair()
    a.send(b"x"); assert b.recv(1) == b"x"
    assert "lo" in [name for _, name in socket.if_nameindex()]
    terminal()
    files(sys.argv[1])
    print("all done")
`

func TestOrdinaryPythonGoesOn(t *testing.T) {
	w := newWorld(t)
	w.write(w.work+"/work.py", pythonWork)
	w.write(w.work+"/d/x", "")
	out := w.inside("run", "/usr/bin/python3", w.work+"/work.py", w.work+"/d")
	require.Equal(t, "all done\nok\n", out)
}

func TestOrdinaryToolsGoOn(t *testing.T) {
	w := newWorld(t)
	for what, script := range map[string]string{
		"git":  "git init -q repo && cd repo && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git clone -q . ../clone && test -d ../clone/.git",
		"tar":  "mkdir -p from/sub && echo x > from/sub/f && chmod 751 from/sub/f && tar cf a.tar from && mkdir to && tar xpf a.tar -C to && test -x to/from/sub/f",
		"cp":   "mkdir -p tree/sub && cp -a tree tree2 && test -d tree2/sub",
		"venv": "/usr/bin/python3 -m venv --without-pip env && env/bin/python -c pass",
	} {
		require.Equal(t, "ok\n", w.inside("run", "/bin/sh", "-ec", script), what)
	}
}

// cp passes the set-gid bit of a folder to mkdir. The kernel leaves it out, so the copy goes on; cp -p says what it could not do.
func TestCopyingASetGidFolder(t *testing.T) {
	w := newWorld(t)
	w.write(w.work+"/shared/f", "")
	require.NoError(t, exec.Command("chmod", "2775", w.work+"/shared").Run())
	require.Equal(t, "ok\n", w.inside("run", "/bin/cp", "-r", "shared", "copy"))
	require.FileExists(t, w.work+"/copy/f")
	out := w.inside("run", "/bin/cp", "-rp", "shared", "copy2")
	require.Contains(t, out, "Operation not permitted")
	require.FileExists(t, w.work+"/copy2/f")
}

func TestOrdinaryRGoesOn(t *testing.T) {
	program := installed(t, "/usr/bin/Rscript")
	w := newWorld(t)
	w.write(w.work+"/work.R", `
library(parallel)
stopifnot(identical(mclapply(1:4, function(i) 2 * i, mc.cores = 2)[[4]], 8))
cl <- makeCluster(2); stopifnot(identical(parLapply(cl, 1:2, function(i) i + 1)[[2]], 3)); stopCluster(cl)
stopifnot(identical(system("echo hi", intern = TRUE), "hi"))
pdf(tempfile()); plot(1); invisible(dev.off())
cat("all done\n")
`)
	require.Equal(t, "all done\nok\n", w.inside("run", program, w.work+"/work.R"))
}

func TestOrdinaryNodeGoesOn(t *testing.T) {
	program := installed(t, "/usr/bin/node")
	w := newWorld(t)
	w.write(w.work+"/work.js", `
const { execSync } = require('child_process'), { Worker } = require('worker_threads'), fs = require('fs'), net = require('net');
if (execSync('echo hi').toString() !== 'hi\n') throw 'child';
new Worker('require("worker_threads").parentPort.postMessage(1)', { eval: true }).on('message', () => {
  const server = net.createServer(c => c.end()).listen(0, '127.0.0.1', () =>
    net.connect(server.address().port).on('close', () => { server.close(); fs.readFile(__filename, () => console.log('all done')); }).resume());
});
`)
	require.Equal(t, "all done\nok\n", w.inside("run", program, w.work+"/work.js"))
}

func installed(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	require.NoError(t, err, "make test installs it")
	return path
}

func TestDebuggersNeedTheSwitch(t *testing.T) {
	program := installed(t, "/usr/bin/gdb")
	w := newWorld(t)
	debug := []string{program, "-batch", "-iex", "set debuginfod enabled off", "-ex", "run", "/bin/true"}
	require.NotContains(t, w.inside("run", debug...), "exited normally")
	w.policy.Debug = true
	require.Contains(t, w.inside("run", debug...), "exited normally")
}
