/**
 * Grounds on which the gate may allow a fetch without asking: hosts in the person's
 * own words, and URLs that stand verbatim in an earlier tool result.
 *
 * Pure and bounded. In doubt nothing is found: what is missing here is asked for, not lost.
 *
 * @module
 */

import type { Message, ToolCall } from "../contract/messages.ts";
import { isOwn } from "../contract/text_part.ts";

/** Characters of context, the newest, in which grounds are looked for. */
const MAX_SCANNED_CHARS = 2_000_000;
/** Hosts that are kept, the newest. */
const MAX_HOSTS = 256;
/** URLs that are kept, the newest. */
const MAX_URLS = 2_000;
/** Longest URL that counts, characters. */
const MAX_URL_CHARS = 2_048;

const URL_IN_TEXT = /\bhttps?:\/\/[^\s<>"'`{}|\\^\p{Cc}]+/giu;

/**
 * A domain name that stands by itself: not part of an address of mail, a path or a longer word.
 * A port or path may follow. Names that are not ASCII count too.
 */
const BARE_HOST =
  /(?<![\p{L}\p{N}@/\\._~$-])((?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+(?:\p{L}{2,63}|xn--[a-z0-9-]{2,59}))(?![\p{L}\p{N}@_-]|\.[\p{L}\p{N}])(:\d{1,5}(?!\d))?(\/)?/giu;

/**
 * Endings that are both a top-level domain and the ending of a file's name. `notes.md` is a file
 * unless a port, a path or a scheme says otherwise.
 */
const FILE_ENDINGS = new Set(
  ["cc", "md", "mk", "ml", "mm", "mov", "pl", "pm", "ps", "py", "rs", "sh", "so", "tf", "zip"],
);

/** Hosts that stand in the text as URLs or as bare domain names, lower case, in order. */
export function hostsInText(text: string): string[] {
  const hosts = new Set<string>();
  for (const url of urlsInText(text)) addHost(hosts, url);
  for (const [, name, port, path] of text.replace(URL_IN_TEXT, " ").matchAll(BARE_HOST)) {
    const labels = name!.split(".");
    const isFile = labels.length === 2 && FILE_ENDINGS.has(labels[1]!.toLowerCase());
    if (isFile && port === undefined && path === undefined) continue;
    addHost(hosts, `http://${name}`);
  }
  return [...hosts];
}

/** http and https URLs that stand in the text, as they stand there, in order, each once. */
export function urlsInText(text: string): string[] {
  const urls = new Set<string>();
  for (const [match] of text.matchAll(URL_IN_TEXT)) {
    const url = withoutTail(match);
    if (url.length <= MAX_URL_CHARS && URL.canParse(url)) urls.add(url);
  }
  return [...urls];
}

/** Hosts in the person's own words: not in what they quote, forward or attach, nor in summaries. */
export function personHosts(messages: readonly Message[]): string[] {
  const hosts = new Newest(MAX_HOSTS);
  let left = MAX_SCANNED_CHARS;
  for (const message of newestFirst(messages)) {
    if (message.role !== "user") continue;
    for (const part of [...message.parts].reverse()) {
      if (part.type !== "text" || !isOwn(part)) continue;
      hosts.add(hostsInText(part.text.slice(0, left)));
      left -= part.text.length;
      if (left <= 0 || hosts.full) return hosts.list();
    }
  }
  return hosts.list();
}

/**
 * URLs that stand verbatim in results of earlier calls.
 *
 * What the model said itself is no ground: neither results that failed or were refused count (they
 * repeat what was asked for), nor a URL that stands in the arguments of the very call or in those of
 * an earlier call that could store it, nor, once any call has stored something, what tools read back
 * from files: a URL can be put together there from pieces. `storesInput` says of a tool whether it
 * could store, `readsFiles` whether its results come from files.
 */
export function toolUrls(
  messages: readonly Message[],
  { storesInput, readsFiles }: {
    storesInput: (tool: string) => boolean;
    readsFiles: (tool: string) => boolean;
  },
): string[] {
  const stored = new Set<string>();
  let anyStored = false;
  const urls = new Set<string>();
  let calls = new Map<string, ToolCall>();
  for (const message of newestPart(messages)) {
    if (message.role === "assistant") {
      calls = new Map(message.calls.map((call) => [call.callId, call]));
    } else if (message.role === "tool") {
      for (const { callId, output, failed } of message.results) {
        const call = calls.get(callId);
        const said = new Set(call === undefined ? [] : urlsIn(call.args));
        if (call !== undefined && storesInput(call.tool)) {
          said.forEach((url) => stored.add(url));
          anyStored = true;
        }
        if (failed || (anyStored && call !== undefined && readsFiles(call.tool))) continue;
        for (const url of urlsInText(output)) {
          if (said.has(url) || stored.has(url)) continue;
          // Again at the end: the newest are kept.
          urls.delete(url);
          urls.add(url);
        }
      }
    }
  }
  return [...urls].slice(-MAX_URLS);
}

/** Punctuation of the sentence around it is no part of a URL, nor a bracket that it did not open. */
function withoutTail(url: string): string {
  const surplus = {
    ")": count(url, ")") - count(url, "("),
    "]": count(url, "]") - count(url, "["),
  };
  let end = url.length;
  for (; end > 0; end--) {
    const last = url[end - 1]!;
    if (last === ")" || last === "]") {
      if (surplus[last]-- <= 0) break;
    } else if (!/[.,;:!?*_~]/.test(last)) break;
  }
  return url.slice(0, end);
}

function count(text: string, char: string): number {
  return text.split(char).length - 1;
}

function addHost(hosts: Set<string>, url: string): void {
  const host = URL.parse(url)?.hostname.toLowerCase().replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (host) hosts.add(host);
}

/** Every URL in any text of a value. */
function urlsIn(args: unknown): string[] {
  if (typeof args === "string") return urlsInText(args);
  if (typeof args !== "object" || args === null) return [];
  return Object.entries(args).flatMap(([key, value]) => [...urlsInText(key), ...urlsIn(value)]);
}

function* newestFirst(messages: readonly Message[]): Iterable<Message> {
  for (let at = messages.length - 1; at >= 0; at--) yield messages[at]!;
}

/** The newest messages whose tool results stay within the bound; their calls come with them. */
function newestPart(messages: readonly Message[]): readonly Message[] {
  let left = MAX_SCANNED_CHARS;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!;
    if (message.role !== "tool") continue;
    for (const { output } of message.results) left -= output.length;
    if (left < 0) return messages.slice(at + 1);
  }
  return messages;
}

/** A set that takes the newest first and is full at its bound. */
class Newest {
  readonly #items = new Set<string>();

  constructor(readonly max: number) {}

  get full(): boolean {
    return this.#items.size >= this.max;
  }

  add(items: readonly string[]): void {
    for (const item of items) {
      if (this.full) return;
      this.#items.add(item);
    }
  }

  list(): string[] {
    return [...this.#items];
  }
}
