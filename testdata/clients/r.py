"""R through the same door."""
from kernel import Kernel, equal, main


def whole_life():
    with Kernel("kl-stats") as k:
        equal(k.run("cat(6 * 7)")[0].strip(), "42")
        library = k.run("cat(.libPaths()[1])")[0]
        assert "/envs/r/stats/" in library, library

        mid = k.begin("cat('now\\n'); flush(stdout()); Sys.sleep(60)", "now")
        k.manager.interrupt_kernel()
        k.reply(mid)
        equal(k.run("cat('alive')")[0].strip(), "alive")

        k.run("x <- 1")
        k.manager.restart_kernel()
        k.ready()
        equal(k.run("cat(exists('x'))")[0].strip(), "FALSE")


if __name__ == "__main__":
    main(globals())
