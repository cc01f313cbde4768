/**
 * What is used of `@xmpp/client`, which has no types of its own.
 *
 * @module
 */

import { client, xml as createElement } from "@xmpp/client";

/** An element of XML. */
export interface XmlElement {
  name: string;
  attrs: Record<string, string | undefined>;
  children: (XmlElement | string)[];
  is(name: string, xmlns?: string): boolean;
  getNS(): string | undefined;
  getChild(name: string, xmlns?: string): XmlElement | undefined;
  getChildren(name: string, xmlns?: string): XmlElement[];
  getChildElements(): XmlElement[];
  getChildText(name: string, xmlns?: string): string | null;
  text(): string;
  toString(): string;
}

/** Reads elements out of a stream. Events: `start`, `element`, `end`, `error`. */
export interface XmlParser {
  on(event: string, listener: (value: never) => void): void;
  write(text: string): void;
}

/** Makes an element; what is undefined, as attribute or as child, is left out. */
export type CreateElement =
  & ((
    name: string,
    attrs?: Readonly<Record<string, string | undefined>>,
    ...children: readonly (XmlElement | string | undefined)[]
  ) => XmlElement)
  & { Parser: new () => XmlParser };

/** One of the ways in which the library connects. */
export interface TransportClass {
  prototype: {
    socketParameters(service: string): unknown;
    Socket: unknown;
  };
}

/** The parts of a client that are used. */
export interface XmppEntity {
  status: string;
  /** Waits for the other side, milliseconds. */
  timeout: number;
  jid: { toString(): string } | null;
  transports: TransportClass[];
  reconnect: { stop(): void };
  iqCallee: {
    get(
      xmlns: string,
      name: string,
      handler: (context: { stanza: XmlElement; element: XmlElement }) => unknown,
    ): void;
  };
  /** Questions of the library's own that wait for an answer. */
  iqCaller: { handlers: Map<string, { reject(error: Error): void }> };
  connect(service: string): Promise<unknown>;
  open(stream: { domain: string }): Promise<unknown>;
  stop(): Promise<unknown>;
  send(element: XmlElement): Promise<void>;
  on(event: string, listener: (value: never) => void): void;
  prependListener(event: string, listener: (value: never) => void): void;
  emit(event: string, value: unknown): boolean;
}

/** How a client is made. */
export interface ClientOptions {
  service: string;
  domain: string;
  username: string;
  password: string;
  resource: string;
  timeout: number;
}

/** A client that is not connected yet. */
export const createClient = client as unknown as (options: ClientOptions) => XmppEntity;

/** See {@linkcode CreateElement}. */
export const xml = createElement as unknown as CreateElement;
