/**
 * What is used of `irc-framework`, which has no types of its own.
 *
 * @module
 */

import irc from "irc-framework";

/** A line of the server. */
export interface IrcLine {
  tags: Readonly<Record<string, string>>;
  /** Who sent it; empty for the server itself. */
  nick: string;
  ident: string;
  hostname: string;
  command: string;
  params: readonly string[];
}

/** The parts of `irc-framework`'s client that are used. */
export interface FrameworkClient {
  connection: { connected: boolean; end(data: string | null, hadError?: boolean): void };
  network: {
    options: Record<string, unknown>;
    cap: { isEnabled(name: string): boolean };
  };
  user: { nick: string };
  use(install: (client: unknown, raw: { use(run: RawMiddleware): void }) => void): void;
  connect(options: object): void;
  raw(...parts: string[]): void;
  quit(message: string): void;
  changeNick(nick: string): void;
  caseLower(text: string): string;
  on(event: string, listener: (event: Record<string, unknown>) => void): void;
}

type RawMiddleware = (
  command: string,
  line: IrcLine,
  raw: string,
  client: unknown,
  next: () => void,
) => void;

/** Its class. */
export const { Client } = irc as unknown as { Client: new () => FrameworkClient };
