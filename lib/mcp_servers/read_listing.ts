/**
 * What a server says that it offers, within bounds. Everything here was written by somebody else: a
 * tool that breaks a rule is left out and named, and the others stay.
 *
 * @module
 */

import { canonicalJson } from "../base/canonical_json.ts";
import { sha256Hex } from "../base/sha256.ts";
import { replaceHidden, visibleCut } from "../base/visible_text.ts";
import type { McpServerStatus, OfferedTool } from "./mcp_servers.ts";
import { toolNames } from "./tool_names.ts";

/** Tools of one server that a model is told of. */
const MAX_TOOLS = 128;
/** Resources, and prompts, that are listed. */
const MAX_LISTED = 1_000;
const MAX_TOOL_NAME_CHARS = 128;
/** Characters of a description. */
const MAX_DESCRIPTION_CHARS = 4_000;
/** Characters of what is shown to people alone. */
const MAX_SHOWN_CHARS = 500;
/** UTF-8 bytes of the JSON of a schema, and how deep it may go. */
const MAX_SCHEMA_BYTES = 64 * 1024;
const MAX_SCHEMA_DEPTH = 32;
/** Names of arguments that every provider takes. */
const ARGUMENT_NAME = /^[A-Za-z0-9_.-]{1,64}$/;
/** What providers do not take beside `type` in the schema of a tool's arguments. The server has it still. */
const NOT_AT_TOP = new Set(["$schema", "anyOf", "oneOf", "allOf", "enum", "not"]);
/** Reasons that are kept. */
const MAX_PROBLEMS = 20;

/** What a server offers, checked. */
export interface Listing {
  tools: OfferedTool[];
  resources: McpServerStatus["resources"];
  prompts: McpServerStatus["prompts"];
  /** What was left out and why, for people. */
  problems: string[];
}

/** What came from the server; anything may be anything. */
export interface RawListing {
  tools: readonly unknown[];
  resources: readonly unknown[];
  prompts: readonly unknown[];
}

/**
 * Reads it. `identity` is what the server is, for the digests of its tools. `scrub` takes values of
 * secrets out of what a model or a person is told.
 */
export function readListing(
  raw: RawListing,
  { server, identity, scrub }: {
    server: string;
    identity: string;
    scrub: (text: string) => string;
  },
): Listing {
  const problems: string[] = [];
  const problem = (text: string) => {
    if (problems.length < MAX_PROBLEMS) problems.push(text);
  };
  const found = new Map<string, Omit<OfferedTool, "name">>();
  for (const item of raw.tools) {
    const read = readTool(item, { server, identity, scrub });
    if (typeof read === "string") problem(read);
    else if (found.has(read.tool)) problem(`tool "${shown(read.tool)}": it is there twice`);
    else if (found.size === MAX_TOOLS) {
      problem(`tool "${shown(read.tool)}": a server may have ${MAX_TOOLS} at most`);
    } else found.set(read.tool, read);
  }
  const names = toolNames(server, [...found.keys()]);
  const show = (value: unknown) => typeof value === "string" ? shown(scrub(value)) : "";
  return {
    tools: [...found.values()].map((tool, at) => ({ ...tool, name: names[at]! })),
    resources: raw.resources.filter(isObject).slice(0, MAX_LISTED)
      .map(({ uri, name }) => ({ uri: show(uri), name: show(name) })),
    prompts: raw.prompts.filter(isObject).slice(0, MAX_LISTED)
      .map(({ name, description }) => ({ name: show(name), description: show(description) })),
    problems,
  };
}

function readTool(
  item: unknown,
  { server, identity, scrub }: {
    server: string;
    identity: string;
    scrub: (text: string) => string;
  },
): Omit<OfferedTool, "name"> | string {
  if (!isObject(item)) return "a tool is no object";
  const { name, description = "", inputSchema, annotations } = item;
  if (typeof name !== "string" || name === "") return "a tool has no name";
  const refuse = (why: string) => `tool "${shown(name)}": ${why}`;
  if (name.length > MAX_TOOL_NAME_CHARS) {
    return refuse(`its name has more than ${MAX_TOOL_NAME_CHARS} characters`);
  }
  // Rules and grants name it, and a person reads it in an approval.
  if (shown(name) !== name || name.includes("/") || name.includes("*") || name.includes("#")) {
    return refuse('its name holds a blank that is none, hidden characters, "/", "*" or "#"');
  }
  if (scrub(name) !== name) return "a tool has a name that holds a secret";
  if (typeof description !== "string") return refuse("its description is no text");
  const reason = schemaProblem(inputSchema);
  if (reason !== undefined) return refuse(`its inputSchema ${reason}`);
  // With a placeholder for an argument's name no provider takes it, and the server knows no such argument.
  if (holdsKey(inputSchema, (key) => scrub(key) !== key)) {
    return refuse("its inputSchema has an argument whose name holds a secret");
  }
  if (depthOver(annotations, MAX_SCHEMA_DEPTH)) {
    return refuse(`its annotations are deeper than ${MAX_SCHEMA_DEPTH} levels`);
  }
  const parameters = Object.fromEntries(
    Object.entries(inputSchema as Record<string, unknown>)
      .filter(([key]) => !NOT_AT_TOP.has(key)),
  );
  const definition = { identity, name, description, inputSchema, annotations };
  return {
    server,
    tool: name,
    description: visibleText(scrub(description), MAX_DESCRIPTION_CHARS),
    parameters: visibleSchema(parameters, scrub) as Record<string, unknown>,
    readOnly: isObject(annotations) && annotations.readOnlyHint === true,
    definition: sha256Hex(canonicalJson(definition)),
  };
}

/**
 * Why a schema cannot be handed to a model. Not a check of JSON Schema: what is wrong here would make a
 * provider refuse every call of the turn, for the fault of one tool.
 */
function schemaProblem(schema: unknown): string | undefined {
  if (!isObject(schema)) return "is no object";
  if (schema.type !== "object") return 'is not of the type "object"';
  if (depthOver(schema, MAX_SCHEMA_DEPTH)) return `is deeper than ${MAX_SCHEMA_DEPTH} levels`;
  const bytes = new TextEncoder().encode(JSON.stringify(schema)).length;
  if (bytes > MAX_SCHEMA_BYTES) return `has ${bytes} bytes, and may have ${MAX_SCHEMA_BYTES}`;
  const { properties = {}, required = [] } = schema;
  if (!isObject(properties)) return "has properties that are no object";
  const odd = Object.entries(properties).find(([, each]) =>
    !isObject(each) && typeof each !== "boolean"
  );
  if (odd !== undefined) return `has a property "${shown(odd[0])}" that is no schema`;
  const unnamable = Object.keys(properties).find((name) => !ARGUMENT_NAME.test(name));
  if (unnamable !== undefined) {
    return `has a property "${shown(unnamable)}"; names are 1 to 64 of A-Z a-z 0-9 _ . -`;
  }
  const elsewhere = findReference(schema);
  if (elsewhere !== undefined) return `refers to "${shown(elsewhere)}", which is not in it`;
  if (!Array.isArray(required) || required.some((name) => typeof name !== "string")) {
    return "has required that is no list of names";
  }
}

function depthOver(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((each) => depthOver(each, levels - 1));
}

function holdsKey(value: unknown, isOne: (key: string) => boolean): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, each]) =>
    (!Array.isArray(value) && isOne(key)) || holdsKey(each, isOne)
  );
}

/** A `$ref` to another document, which nobody fetches. */
function findReference(value: unknown, isNames = false): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, each] of Object.entries(value)) {
    if (key === "$ref" && !isNames && typeof each === "string" && !each.startsWith("#")) {
      return each;
    }
    const found = findReference(each, !isNames && key === "properties");
    if (found !== undefined) return found;
  }
}

/** Words of a schema are for a reader; names, patterns and choices have to stay as they are. */
const WORDS = new Set(["description", "title", "$comment"]);

function visibleSchema(
  value: unknown,
  scrub: (text: string) => string,
  key?: string,
  isNames = false,
): unknown {
  if (typeof value === "string") {
    // Half of a character is no JSON to a provider.
    const clean = scrub(value).toWellFormed();
    return key !== undefined && WORDS.has(key) ? visibleText(clean, MAX_DESCRIPTION_CHARS) : clean;
  }
  if (Array.isArray(value)) return value.map((each) => visibleSchema(each, scrub));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name.toWellFormed(),
      // Below `properties` the keys are names of arguments.
      visibleSchema(each, scrub, isNames ? undefined : name, !isNames && name === "properties"),
    ]),
  );
}

/** With its lines, and nothing in them hidden. */
function visibleText(text: string, maxChars: number): string {
  const whole = text.replace(/\r\n?/g, "\n").replaceAll("\t", "  ");
  const cut = whole.length <= maxChars ? whole : `${whole.slice(0, maxChars - 1).toWellFormed()}…`;
  return cut.split("\n").map((line) =>
    replaceHidden(line, (point) => `\\u{${point.toString(16).padStart(4, "0")}}`)
  ).join("\n").slice(0, maxChars);
}

function shown(text: string): string {
  return visibleCut(text, MAX_SHOWN_CHARS);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
