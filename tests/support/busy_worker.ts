/** Says that it started, and then never lets go of its thread. */

self.addEventListener("message", () => {
  self.postMessage({ type: "started", model: "none", modelReason: "busy", interrupted: 0 });
  setTimeout(() => {
    while (true);
  });
});
