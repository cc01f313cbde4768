/**
 * Text of a presentation, slide by slide in the order of the show, with tables, diagrams and notes.
 *
 * @module
 */

import type { DocumentText } from "./document_text.ts";
import { markdownTable } from "./markdown_table.ts";
import { type OfficePackage, partText } from "./open_package.ts";
import { REASONS, unreadable } from "./unreadable.ts";
import { childrenNamed, findAll, parseXml, type XmlElement } from "./xml.ts";

/** A relationship of a part to another one. */
interface Relation {
  /** Last word of its type, such as `notesSlide`. */
  type: string;
  /** Name of the part. */
  target: string;
}

/** Levels of lists, from 0, as the format counts them. */
const MAX_LEVEL = 8;

/** Throws `unreadable_document` when there is no presentation in it. */
export function readPptx(document: OfficePackage): Promise<DocumentText> {
  const main =
    [...readRelations(document, "").values()].find(({ type }) => type === "officeDocument")
      ?.target ?? "ppt/presentation.xml";
  const presentation = readPart(document, main);
  if (presentation === undefined) throw unreadable(REASONS.corrupt);
  const relations = readRelations(document, main);
  const slides: string[] = [];
  for (const list of childrenNamed(presentation, "sldIdLst")) {
    for (const entry of childrenNamed(list, "sldId")) {
      const relation = relations.get(relationId(entry) ?? "");
      const slide = relation && readPart(document, relation.target);
      const text = slide && slideText(document, relation.target, slide);
      const hidden = slide?.attributes.show === "0" ? " (hidden)" : "";
      const body = text ?? "[this slide is missing]";
      slides.push(`[slide ${slides.length + 1}${hidden}]\n${body}`.trimEnd());
    }
  }
  return Promise.resolve({ text: slides.join("\n\n"), notes: [] });
}

function slideText(document: OfficePackage, name: string, slide: XmlElement): string {
  const blocks = shapeBlocks(slide);
  const relations = [...readRelations(document, name).values()];
  for (const { target } of relations.filter(({ type }) => type === "diagramData")) {
    const diagram = readPart(document, target);
    if (diagram !== undefined) blocks.push(...shapeBlocks(diagram));
  }
  for (const { target } of relations.filter(({ type }) => type === "notesSlide")) {
    const notes = readPart(document, target);
    const text = notes && notesText(notes);
    if (text) blocks.push(`[notes]\n${text}`);
  }
  return blocks.join("\n\n");
}

/** Shapes and tables in the order of the document, groups opened. */
function shapeBlocks(element: XmlElement): string[] {
  switch (element.name) {
    case "txBody":
    case "t": {
      const text = paragraphs(element);
      return text === "" ? [] : [text];
    }
    case "tbl":
      return [
        markdownTable(
          childrenNamed(element, "tr").map((row) =>
            childrenNamed(row, "tc").map((cell) => ({ text: paragraphs(cell) }))
          ),
        ),
      ];
    // The same content twice: in a newer form, and for programs that do not know it.
    case "AlternateContent": {
      const [choice] = childrenNamed(element, "Choice");
      const chosen = choice === undefined ? [] : shapeBlocks(choice);
      const [fallback] = childrenNamed(element, "Fallback");
      return chosen.length > 0 || fallback === undefined ? chosen : shapeBlocks(fallback);
    }
    default:
      return element.children.flatMap((child) =>
        typeof child === "string" ? [] : shapeBlocks(child)
      );
  }
}

/** A notes page also holds a picture of its slide, its number and a date. */
function notesText(notes: XmlElement): string {
  return [...findAll(notes, "sp")]
    .filter((shape) => {
      const [placeholder] = findAll(shape, "ph");
      return placeholder === undefined || placeholder.attributes.type === "body";
    })
    .flatMap(shapeBlocks)
    .join("\n");
}

function paragraphs(element: XmlElement): string {
  const lines = [...findAll(element, "p")].map((paragraph) => {
    const [properties] = childrenNamed(paragraph, "pPr");
    const level = Math.min(Number(properties?.attributes.lvl) || 0, MAX_LEVEL);
    return (level > 0 ? `${"  ".repeat(level)}- ` : "") + paragraphText(paragraph);
  });
  return lines.join("\n").trim();
}

function paragraphText(element: XmlElement): string {
  return element.children.map((child) => {
    if (typeof child === "string") return element.name === "t" ? child : "";
    switch (child.name) {
      case "br":
        return "\n";
      case "tab":
        return "\t";
      default:
        return paragraphText(child);
    }
  }).join("");
}

function readPart(document: OfficePackage, name: string): XmlElement | undefined {
  const xml = partText(document, name);
  return xml === undefined ? undefined : parseXml(xml);
}

/** What a part refers to, by id; the package itself is the part "". */
function readRelations(document: OfficePackage, name: string): Map<string, Relation> {
  const slash = name.lastIndexOf("/") + 1;
  const file = `${name.slice(0, slash)}_rels/${name.slice(slash)}.rels`;
  const relations = new Map<string, Relation>();
  const root = readPart(document, file);
  for (const { attributes } of root === undefined ? [] : childrenNamed(root, "Relationship")) {
    const { Id: id, Type: type, Target: target, TargetMode: mode } = attributes;
    if (!id || !type || !target || mode === "External") continue;
    relations.set(id, { type: type.split("/").at(-1)!, target: partName(target, name) });
  }
  return relations;
}

/** A target as the name of a part: absolute, or relative to the folder of the part that refers to it. */
function partName(target: string, from: string): string {
  const folder = target.startsWith("/") ? [] : from.split("/").slice(0, -1);
  const names = [...folder];
  for (const name of target.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "." && name !== "") names.push(name);
  }
  return names.join("/");
}

/** Its `r:id`, whatever the prefix; the attribute `id` without one is another, and a number. */
function relationId({ attributes }: XmlElement): string | undefined {
  return Object.entries(attributes).find(([name]) => name.endsWith(":id"))?.[1];
}
