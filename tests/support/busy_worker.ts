/** Says that it started, and then never lets go of its thread. */

const port = self as unknown as Pick<Worker, "postMessage" | "addEventListener">;

port.addEventListener("message", () => {
  port.postMessage({ type: "started", model: "none", modelReason: "busy", interrupted: 0 });
  setTimeout(() => {
    while (true);
  });
});
