/**
 * What is used of `@xmpp/xml`, which has no types of its own.
 *
 * @module
 */

import createElement, { Parser } from "@xmpp/xml";

/** An element of XML. */
export interface XmlElement {
  name: string;
  attrs: Record<string, string | undefined>;
  is(name: string, xmlns?: string): boolean;
  getNS(): string | undefined;
  getChild(name: string, xmlns?: string): XmlElement | undefined;
  getChildren(name: string, xmlns?: string): XmlElement[];
  getChildElements(): XmlElement[];
  getChildText(name: string, xmlns?: string): string | null;
  text(): string;
  toString(): string;
}

/** Makes an element; what is undefined, as attribute or as child, is left out. */
export const xml = createElement as unknown as (
  name: string,
  attrs?: Readonly<Record<string, string | undefined>>,
  ...children: readonly (XmlElement | string | undefined)[]
) => XmlElement;

/** Reads elements out of a stream. Events: `start`, `element`, `end`, `error`. */
export const XmlParser = Parser as unknown as new () => {
  on(event: string, listener: (value: never) => void): void;
  write(text: string): void;
};
