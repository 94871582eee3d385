// What a page does with its application: fetch, and a WebSocket with small and large messages. It reports what came of it to the application.
"use strict";

function once(socket, name) {
  return new Promise((resolve, reject) => {
    socket.addEventListener(name, resolve, { once: true });
    socket.addEventListener("close", (e) => reject(new Error(`closed with ${e.code}`)), { once: true });
  });
}

async function echo(socket, message) {
  const answer = once(socket, "message");
  socket.send(message);
  return (await answer).data;
}

function same(a, b) {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

async function work() {
  const data = await (await fetch("data")).json();
  const socket = new WebSocket(`ws://${location.host}/echo`);
  socket.binaryType = "arraybuffer";
  await once(socket, "open");
  const large = new Uint8Array(5 << 20).map((_, i) => (i * 31) % 251);
  return {
    origin: location.origin,
    data: data.tea,
    small: await echo(socket, "µ"),
    large: same(new Uint8Array(await echo(socket, large)), large),
    again: await echo(socket, "still open"),
  };
}

work().catch((e) => ({ error: String(e) })).then((result) => fetch("result", { method: "POST", body: JSON.stringify(result) }));
