/**
 * XML of office documents as a tree of elements in the order of the document.
 *
 * The entities are the five of XML and character references. A document that declares more, or any
 * type at all, is refused, so that none can grow while it is read.
 *
 * @module
 */

import { SaxesParser } from "saxes";

/** An element; its name is without the prefix, its attributes' are as they stand there. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (XmlElement | string)[];
}

/** Depth of elements; the parts of an honest document stay far below. */
const MAX_DEPTH = 200;

/** The root element. Throws on what is not well-formed, declares a type, or is nested too deep. */
export function parseXml(xml: string): XmlElement {
  const parser = new SaxesParser<{ xmlns: false; position: false }>({
    xmlns: false,
    position: false,
  });
  const open: XmlElement[] = [];
  let root: XmlElement | undefined;
  const refuse = (reason: string) => {
    throw new Error(`Cannot read XML: ${reason}`);
  };
  parser.on("error", ({ message }) => refuse(message));
  parser.on("doctype", () => refuse("it declares a document type"));
  parser.on("opentag", ({ name, attributes }) => {
    if (open.length >= MAX_DEPTH) refuse(`it is nested deeper than ${MAX_DEPTH} elements`);
    const element: XmlElement = {
      name: name.slice(name.indexOf(":") + 1),
      attributes,
      children: [],
    };
    root ??= element;
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on("closetag", () => void open.pop());
  parser.on("text", (text) => void open.at(-1)?.children.push(text));
  parser.on("cdata", (text) => void open.at(-1)?.children.push(text));
  parser.write(xml).close();
  return root ?? refuse("it has no element");
}

/** The elements of a name anywhere below, in the order of the document. */
export function* findAll(element: XmlElement, name: string): Iterable<XmlElement> {
  for (const child of element.children) {
    if (typeof child === "string") continue;
    if (child.name === name) yield child;
    yield* findAll(child, name);
  }
}

/** The elements of a name that are children. */
export function childrenNamed(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter((child): child is XmlElement =>
    typeof child !== "string" && child.name === name
  );
}
