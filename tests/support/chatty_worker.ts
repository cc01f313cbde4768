/** The service as it is, but each of its actions tells 1,500 times how far it is, and then succeeds. */

import type { ToAuthority, ToService } from "../../lib/authority/bridge.ts";
import { startService } from "../../lib/process/service/service.ts";

const port = self as unknown as Pick<Worker, "postMessage" | "addEventListener">;
let receive: ((message: ToService) => void) | undefined;

function send(message: ToAuthority): void {
  if (message.type !== "action") return port.postMessage(message);
  void tell(message.id);
}

async function tell(id: number): Promise<void> {
  for (let n = 1; n <= 1_500; n++) {
    receive!({ type: "action_progress", id, text: `${n} of 1500` });
    // As a tool would: over many turns of the event loop, so that none of it is dropped.
    await new Promise((resolve) => setTimeout(resolve));
  }
  receive!({ type: "action_result", id, result: { status: "ok", output: "all done" } });
}

port.addEventListener("message", async (event) => {
  const message = (event as MessageEvent<ToService>).data;
  if (message.type === "boot") receive = await startService(message.boot, send);
  else receive!(message);
});
