/**
 * XML of office documents as a tree of elements in the order of the document.
 *
 * Entities are decoded here and nowhere else: the five of XML and character references. Anything that
 * would declare more is refused before (see `open_package.ts`).
 *
 * @module
 */

import { XMLParser } from "fast-xml-parser";

/** An element; its name is without the prefix, its attributes' are as they stand there. */
export interface XmlElement {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: readonly (XmlElement | string)[];
}

/** Depth of elements; the parts of an honest document stay far below. */
const MAX_DEPTH = 200;
const ATTRIBUTES = ":@";
const TEXT = "#text";
const CDATA = "#cdata";

type RawNode = Record<string, RawNode[] | Record<string, string> | string>;

/** The root element. Throws on what is no XML. */
export function parseXml(xml: string): XmlElement {
  const parser = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: "",
    parseTagValue: false,
    parseAttributeValue: false,
    trimValues: false,
    cdataPropName: CDATA,
    processEntities: false,
    ignoreDeclaration: true,
    ignorePiTags: true,
    maxNestedTags: MAX_DEPTH,
  });
  const root = (parser.parse(xml) as RawNode[]).map(toNode).find((node) =>
    typeof node !== "string"
  );
  if (root === undefined) throw new Error("Cannot read XML: it has no element");
  return root as XmlElement;
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

function toNode(raw: RawNode): XmlElement | string {
  if (TEXT in raw) return decodeEntities(String(raw[TEXT]));
  if (CDATA in raw) return (raw[CDATA] as RawNode[]).map((part) => String(part[TEXT])).join("");
  const name = Object.keys(raw).find((key) => key !== ATTRIBUTES)!;
  const attributes = Object.entries((raw[ATTRIBUTES] ?? {}) as Record<string, string>);
  return {
    name: name.slice(name.indexOf(":") + 1),
    attributes: Object.fromEntries(
      attributes.map(([name, value]) => [name, decodeEntities(String(value))]),
    ),
    children: (raw[name] as RawNode[]).map(toNode),
  };
}

const NAMED: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi, (
    whole,
    name?: string,
    decimal?: string,
    hex?: string,
  ) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const code = decimal === undefined ? parseInt(hex!, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
