/**
 * What is typed at this process's terminal, in raw mode, key by key.
 *
 * @module
 */

import { emitKeypressEvents } from "node:readline";
import { PassThrough } from "node:stream";
import { sanitize } from "../output.ts";
import { PasteSplitter } from "./paste_splitter.ts";

/** A key, or a text that was pasted. */
export interface Key {
  /** Of a key: `return`, `up`, `c` …; `paste` and `text` for what has no name. */
  name: string;
  /** What it writes; empty for a key that writes nothing. */
  text: string;
  ctrl: boolean;
  meta: boolean;
  shift: boolean;
}

/** Reads keys until the terminal is gone. */
export interface Keys {
  /** Gives the terminal back for a while: it is its normal self until `resume`. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** What of `Deno.stdin` is needed. */
export interface KeySource {
  readable: ReadableStream<Uint8Array>;
  setRaw(raw: boolean): void;
}

/** Bracketed paste: the terminal marks what is pasted, so that its line ends are no Enter keys. */
const PASTE_ON = "\x1b[?2004h";
const PASTE_OFF = "\x1b[?2004l";

/** Enter with a modifier, as terminals with CSI u send it; others send the second form. */
// deno-lint-ignore no-control-regex
const NEW_LINE = /\x1b\[(?:13;[2-8]u|27;[2-8];13~)/g;
/** Ctrl-J: a line feed is a new line everywhere. */
const LINE_FEED = "\n";

/** Also what Ctrl-/ sends; it comes without a name. */
const CTRL_UNDERSCORE = "\x1f";

/** A lone ESC is a key after this time; the start of a sequence before. */
const ESCAPE_MS = 50;

interface NodeKey {
  name?: string;
  ctrl?: boolean;
  meta?: boolean;
  shift?: boolean;
}

/** Begins to read; `onEnd` is called when nothing more comes. */
export function readKeys(
  source: KeySource,
  write: (text: string) => void,
  onKey: (key: Key) => void,
  onEnd: () => void,
): Keys {
  const input = new PassThrough();
  // deno-lint-ignore no-explicit-any -- node's types want an Interface with this one private property
  emitKeypressEvents(input, { escapeCodeTimeout: ESCAPE_MS } as any);
  input.on("keypress", (text: string | undefined, key: NodeKey) => {
    const { name, ctrl = false, meta = false, shift = false } = key;
    const writes = text !== undefined && !ctrl && !meta && !CONTROL.test(text);
    // Esc alone comes as if it were pressed with itself.
    const isMeta = meta && name !== "escape";
    if (text === CTRL_UNDERSCORE) onKey({ ...NO_MODIFIERS, name: "_", text: "", ctrl: true });
    else onKey({ name: name ?? "text", text: writes ? text : "", ctrl, meta: isMeta, shift });
  });
  const setRaw = (raw: boolean) => {
    try {
      write(raw ? PASTE_ON : PASTE_OFF);
      source.setRaw(raw);
    } catch {
      // The terminal is gone: reading ends too.
    }
  };
  const reader = source.readable.getReader();
  // The shell gets its terminal back however this process ends.
  const restore = () => setRaw(false);
  globalThis.addEventListener("unload", restore);
  setRaw(true);
  void pump();
  return {
    pause: () => setRaw(false),
    resume: () => setRaw(true),
    close() {
      globalThis.removeEventListener("unload", restore);
      setRaw(false);
      void reader.cancel().catch(() => {});
    },
  };

  async function pump(): Promise<void> {
    const decoder = new TextDecoder();
    const pastes = new PasteSplitter();
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        for (const { text, isPasted } of pastes.take(decoder.decode(value, { stream: true }))) {
          if (isPasted) onKey({ name: "paste", text: pastedText(text), ...NO_MODIFIERS });
          else input.emit("data", text.replace(NEW_LINE, LINE_FEED));
        }
      }
    } catch {
      // A terminal that is gone cannot be read.
    }
    onEnd();
  }
}

const NO_MODIFIERS = { ctrl: false, meta: false, shift: false };

// deno-lint-ignore no-control-regex
const CONTROL = /[\x00-\x1f\x7f]/;

function pastedText(text: string): string {
  return sanitize(text.replace(/\r\n?/g, "\n")).replaceAll("\t", "  ");
}
