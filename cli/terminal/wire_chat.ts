/**
 * The chat of `service chat`: with a gateway over the network.
 *
 * @module
 */

import type { ExitCode, Globals } from "../command.ts";
import { VERSION } from "../version.ts";
import { openChat, type OwnDeps } from "./open_chat.ts";
import { WireLink, type WireLinkDeps } from "./wire_link.ts";

/** With whom, and in which chat. */
export interface WireChatOptions extends Omit<WireLinkDeps, "onStatus">, Pick<OwnDeps, "addGrant"> {
  /** Undefined: a new one. */
  chat?: string;
  /** It is the port of this home. */
  isOwnPort: boolean;
  isStreamed: boolean;
  checkChatId(typed: string): string;
}

/** Talks until the person leaves. Rejects when the connection is lost for good. */
export async function wireChat(
  globals: Globals,
  { chat: asked, isOwnPort, isStreamed, checkChatId, addGrant, ...deps }: WireChatOptions,
): Promise<ExitCode> {
  let setStatus = (_text: string) => {};
  const link = new WireLink({ ...deps, onStatus: (text) => setStatus(text) });
  try {
    const chatId = asked ?? await link.connect();
    if (asked !== undefined) await link.connect();
    using opened = openChat({
      history: [],
      // A chat's id lets in whoever knows it, so what is said in one is not kept on this machine.
      remember: () => Promise.resolve(),
      names: {
        parse: checkChatId,
        key: (name) => name,
        resume: (name) => `service chat ${isOwnPort ? "" : `--url ${deps.url} `}--chat ${name}`,
      },
      models: async () => (await link.models()).presets,
      addGrant,
      reconnect: () => Promise.resolve(undefined),
      failure: () => link.failure,
    }, {
      title: `service chat ${VERSION}`,
      isStreamed,
      verbose: globals.verbose,
      yes: false,
    });
    setStatus = (text) => opened.chat.setStatus(text);
    // A token may be for less than that.
    const models = await link.models().catch(() => undefined);
    return await opened.chat.run({ link, approver: link.approver }, chatId, [
      ["server", new URL(deps.url).host],
      ...models === undefined ? [] : [["model", models.model] as const],
    ]);
  } finally {
    link.close();
  }
}
