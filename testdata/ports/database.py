"""What psycopg does with a PostgreSQL that is shown on localhost. The PG… variables say where, as for any program that uses libpq."""
import hashlib
import os
import sys
import threading
import time

import psycopg

LINES = "".join(f"{n} {hashlib.sha256(b'%d' % n).hexdigest()}\n" for n in range(60_000))  # 4 MB


def value(c, query, *parameters):
    return c.execute(query, parameters).fetchone()[0]


def reach(port=None):
    """The word for what a connection meets."""
    os.environ["PGPORT"] = str(port or os.environ["PGPORT"])
    try:
        with psycopg.connect() as c:
            return f"select {value(c, 'select 1')}"
    except psycopg.OperationalError as e:
        return "refused" if "Connection refused" in str(e) else str(e)


def encrypted(**how):
    with psycopg.connect(**how) as c:
        return value(c, "select ssl from pg_stat_ssl where pid = pg_backend_pid()")


def copy(c):
    """Lines there and back, as they are."""
    c.execute("create temp table lines (line text)")
    with c.cursor().copy("copy lines from stdin") as there:
        for at in range(0, len(LINES), 1 << 16):
            there.write(LINES[at:at + (1 << 16)])
    with c.cursor().copy("copy lines to stdout") as back:
        return b"".join(map(bytes, back)) == LINES.encode()


def cancel(c):
    """A query that would take an hour is cancelled once the server has it, and the connection serves on."""
    met = []

    def wait():
        try:
            c.execute("select pg_sleep(3600)")
        except psycopg.errors.QueryCanceled:
            met.append("cancelled")

    t = threading.Thread(target=wait)
    t.start()
    with psycopg.connect(autocommit=True) as other:
        while not value(other, "select count(*) from pg_stat_activity where pid = %s and wait_event = 'PgSleep'", c.info.backend_pid):
            time.sleep(.01)
    c.cancel()
    t.join()
    return met + [value(c, "select 2")]


def work():
    with psycopg.connect(autocommit=True) as idle, psycopg.connect(autocommit=True) as c:
        idle.execute("listen news")
        copied, cancelled = copy(c), cancel(c)
        c.execute("select pg_notify('news', 'late')")
        news = [n.payload for n in idle.notifies(timeout=60, stop_after=1)]
    return encrypted(), encrypted(sslmode="disable"), copied, cancelled, news


if sys.argv[1:] == ["reach"]:  # else it is a cell
    print(reach())
