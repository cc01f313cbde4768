/**
 * Text of a Word document, as Markdown where that says more: headings, lists, tables, links, notes.
 *
 * mammoth needs `prepareGlobals()` before this module is loaded.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import mammoth from "mammoth";
import type { DocumentText } from "./document_text.ts";
import { markdownTable, type TableCell } from "./markdown_table.ts";
import { type OfficePackage, repack } from "./open_package.ts";

/** An element of mammoth's document; its types leave this open. */
interface Node {
  type: string;
  children?: Node[];
  value?: string;
  styleId?: string | null;
  styleName?: string | null;
  numbering?: { isOrdered: boolean; level: string } | null;
  breakType?: string;
  href?: string;
  altText?: string;
  checked?: boolean;
  noteType?: string;
  noteId?: string;
  commentId?: string;
  authorName?: string;
  body?: Node[];
  colSpan?: number;
  rowSpan?: number;
}

interface DocumentNode extends Node {
  notes: { resolve(reference: Node): Node | null };
  comments: Node[];
}

/** Depth of lists that is shown. */
const MAX_LIST_LEVEL = 8;

/** Throws what the library throws on a document that it cannot read. */
export async function readDocx(document: OfficePackage): Promise<DocumentText> {
  let text = "";
  await mammoth.convertToHtml({ buffer: Buffer.from(repack(document)) }, {
    includeDefaultStyleMap: false,
    includeEmbeddedStyleMap: false,
    externalFileAccess: false,
    // The document that mammoth has read says more than the HTML that it would make of it.
    transformDocument: (root: DocumentNode) => {
      text = documentText(root);
      return { ...root, children: [], comments: [] };
    },
  });
  return { text, notes: [] };
}

function documentText(root: DocumentNode): string {
  const references: Node[] = [];
  const blocks = [blocksText(root.children, references)];
  // A note may hold a reference to another one.
  for (let n = 0; n < references.length; n++) {
    const reference = references[n]!;
    const note = root.notes.resolve(reference);
    if (note !== null) {
      blocks.push(`${referenceText(reference)}: ${blocksText(note.body, references)}`);
    }
  }
  for (const { commentId, authorName, body } of root.comments) {
    const author = authorName ? ` by ${authorName}` : "";
    blocks.push(`[comment ${commentId}${author}] ${blocksText(body, references)}`);
  }
  return blocks.filter((block) => block.trim() !== "").join("\n\n");
}

/** Paragraphs and tables, a blank line between them but not between items of a list. */
function blocksText(nodes: readonly Node[] = [], references: Node[]): string {
  let text = "";
  let wasItem = false;
  for (const node of nodes) {
    const block = blockText(node, references);
    if (block.trim() === "") continue;
    const isItem = Boolean(node.numbering);
    if (text !== "") text += wasItem && isItem ? "\n" : "\n\n";
    text += block;
    wasItem = isItem;
  }
  return text;
}

function blockText(node: Node, references: Node[]): string {
  switch (node.type) {
    case "paragraph":
      return paragraphPrefix(node) + inlineText(node.children, references).trim();
    case "table":
      return markdownTable((node.children ?? []).map((row) => rowCells(row, references)));
    default:
      return node.children === undefined
        ? inlineText([node], references)
        : blocksText(node.children, references);
  }
}

function rowCells(row: Node, references: Node[]): TableCell[] {
  return (row.children ?? []).map(({ children, colSpan, rowSpan }) => ({
    text: blocksText(children, references),
    colSpan,
    rowSpan,
  }));
}

function paragraphPrefix({ styleId, styleName, numbering }: Node): string {
  const heading = /^heading ?([1-6])$/i.exec(styleName ?? styleId ?? "");
  if (heading !== null) return `${"#".repeat(Number(heading[1]))} `;
  if (/^title$/i.test(styleName ?? styleId ?? "")) return "# ";
  if (!numbering) return "";
  const level = Math.min(Math.max(0, Number(numbering.level) || 0), MAX_LIST_LEVEL);
  return "  ".repeat(level) + (numbering.isOrdered ? "1. " : "- ");
}

function inlineText(nodes: readonly Node[] = [], references: Node[]): string {
  return nodes.map((node) => {
    switch (node.type) {
      case "text":
        return node.value ?? "";
      case "tab":
        return "\t";
      case "break":
        return "\n";
      case "checkbox":
        return node.checked ? "[x] " : "[ ] ";
      case "image":
        return node.altText ? `[image: ${node.altText}]` : "";
      case "noteReference":
        // Each is listed once, however often it is referred to.
        if (!references.some((one) => referenceText(one) === referenceText(node))) {
          references.push(node);
        }
        return referenceText(node);
      case "commentReference":
        return `[comment ${node.commentId}]`;
      case "hyperlink": {
        const text = inlineText(node.children, references);
        return node.href && node.href !== text ? `[${text}](${node.href})` : text;
      }
      default:
        return inlineText(node.children, references);
    }
  }).join("");
}

function referenceText({ noteType, noteId }: Node): string {
  return `[${noteType} ${noteId}]`;
}
