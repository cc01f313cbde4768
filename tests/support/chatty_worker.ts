/** The gateway as it is, but each of its actions tells 1,500 times how far it is, and then succeeds. */

import type { AuthorityPeer } from "../../lib/authority/protocol.ts";
import { standInGateway } from "../../lib/authority/testing/stand_in_gateway.ts";
import { type Service, startService } from "../../lib/process/service/service.ts";

let service: Service;

const peer = standInGateway({
  async start(boot) {
    service = await startService(boot, { notify: peer.notify.bind(peer), call });
    return service.started;
  },
  guest: (streams) => service.welcome(streams),
  drain: (how) => service.drain(how),
});

const call =
  ((method: string, params: unknown, options: { onProgress(news: unknown): void }) =>
    method === "act"
      ? tell(options.onProgress)
      : peer.call(method as "tools", params as null, options)) as AuthorityPeer["call"];

async function tell(onProgress: (news: unknown) => void): Promise<unknown> {
  for (let n = 1; n <= 1_500; n++) {
    onProgress({ type: "progress", text: `${n} of 1500` });
    // As a tool would: over many turns of the event loop, so that none of it is dropped.
    await new Promise((resolve) => setTimeout(resolve));
  }
  return { status: "ok", output: "all done" };
}
