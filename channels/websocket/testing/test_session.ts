import type { Peer } from "../../../lib/channel/socket_host.ts";
import type { LogFields } from "../../../lib/base/log.ts";
import { ClientSession } from "../protocol/client_session.ts";
import { ResumeTickets } from "../protocol/resume_tickets.ts";
import type { ShownOptions } from "../protocol/event_frame.ts";
import { FakeChats } from "./fake_chats.ts";
import { FakeConnection } from "./fake_connection.ts";

/** What a test may want to be otherwise. */
export interface TestSessionOptions {
  peer?: Partial<Peer>;
  options?: Partial<ShownOptions>;
  isAllowed?: (peer: Peer) => boolean;
  scrub?: (text: string) => string;
  chats?: FakeChats;
  /** Those of the channel: sessions of one share them. */
  tickets?: ResumeTickets;
  onFollow?: () => void;
}

/** A session that has begun; its ids are `id-1`, the default chat, and so on. */
export function testSession(
  {
    peer,
    options,
    isAllowed = () => true,
    scrub = (text) => text,
    chats,
    tickets = new ResumeTickets(),
    onFollow,
  }: TestSessionOptions = {},
) {
  const connection = new FakeConnection(peer);
  const own = chats ?? new FakeChats();
  if (onFollow !== undefined) own.onFollow = onFollow;
  const logged: [string, LogFields?][] = [];
  const log = (message: string, fields?: LogFields) => void logged.push([message, fields]);
  let ids = 0;
  new ClientSession({
    connection,
    tickets,
    host: {
      chats: own,
      admission: { admit: () => Promise.reject(new Error("not asked")), isAllowed },
      scrub,
      log: { debug: log, info: log, warning: log, error: log },
      random: () => `id-${++ids}`,
    },
    source: {
      streaming: true,
      showReasoning: true,
      sendProgress: true,
      sendToolHints: true,
      ...options,
      signMedia: () => undefined,
      made: new WeakMap(),
    },
  }).begin();
  return { connection, chats: own, logged };
}
