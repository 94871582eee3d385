"""A small web application in a kernel's own event loop, where the servers of Bokeh and Panel are as well."""
import asyncio
import json

import tornado.web
import tornado.websocket

reported = asyncio.get_running_loop().create_future()


class Data(tornado.web.RequestHandler):
    def get(self):
        self.write({"tea": "hot"})


class Echo(tornado.websocket.WebSocketHandler):
    def on_message(self, message):
        self.write_message(message, binary=isinstance(message, bytes))


class Result(tornado.web.RequestHandler):
    """What the page says, for whoever waits for it."""

    def post(self):
        if not reported.done():
            reported.set_result(json.loads(self.request.body))

    async def get(self):
        self.write(await reported)


def serve(port, folder):
    tornado.web.Application([
        ("/data", Data), ("/echo", Echo), ("/result", Result),
        ("/(.*)", tornado.web.StaticFileHandler, {"path": folder, "default_filename": "index.html"}),
    ], websocket_max_message_size=16 << 20).listen(port, "127.0.0.1")
