/**
 * A chat at this process's terminal.
 *
 * @module
 */

import { Output, type OutputStream } from "../output.ts";
import { OutputClosedError } from "../output.ts";
import { EXIT } from "../command.ts";
import { onStopSignals } from "../stop_signals.ts";
import { type ChatDeps, type ChatOptions, TerminalChat } from "./chat.ts";
import { readKeys } from "./keys.ts";
import { expandHome } from "./mentions.ts";
import { processTerminal, Screen } from "./screen.ts";

/** What a chat of each command has of its own. */
export type OwnDeps = Pick<
  ChatDeps,
  "history" | "remember" | "names" | "models" | "approverOf" | "addGrant" | "reconnect" | "failure"
>;

/** A chat that reads keys already. */
export interface OpenChat extends Disposable {
  chat: TerminalChat;
  /** Takes lines of others, above the edited line. */
  lines: OutputStream;
}

/** Takes the terminal; it is given back at the end, however that comes. */
export function openChat(own: OwnDeps, options: Omit<ChatOptions, "isRendered">): OpenChat {
  const port = processTerminal();
  let screen: Screen;
  const plain = new Output({
    stdout: Deno.stdout,
    stderr: Deno.stderr,
    noColor: true,
    columns: () => undefined,
  });
  const lines: OutputStream = {
    writeSync: (bytes) => stream().writeSync(bytes),
    write: (bytes) => stream().write(bytes),
    isTerminal: () => true,
  };
  let made: OutputStream | undefined;
  const stream = () => made ??= screen.stream();
  const chat: TerminalChat = new TerminalChat({
    ...own,
    screen: (block, onGone) => screen = new Screen(port, block, onGone),
    answer: plain.isTerminal ? undefined : async (text) => {
      try {
        await plain.stream(text);
      } catch (cause) {
        throw cause instanceof OutputClosedError ? cause : new OutputClosedError({ cause });
      }
    },
    now: Date.now,
    files: listFolder,
    suspend() {
      keys.pause();
      screen.leave();
      Deno.kill(Deno.pid, "SIGTSTP");
    },
    exit: (code) => Deno.exit(code),
  }, { ...options, isRendered: port.color });
  const keys = readKeys(Deno.stdin, port.write, (key) => chat.key(key), () => {
    chat.leave(EXIT.interrupted);
  });
  const signals = [
    ["SIGWINCH", () => chat.resized()],
    ["SIGINT", () => chat.interrupt()],
    ["SIGCONT", () => {
      keys.resume();
      chat.resized();
    }],
  ] as const;
  // Windows has none of these but SIGINT.
  const heard = signals.filter(([name]) => Deno.build.os !== "windows" || name === "SIGINT");
  for (const [name, listener] of heard) Deno.addSignalListener(name, listener);
  const stops = onStopSignals(["SIGTERM", "SIGHUP"], () => chat.leave(EXIT.interrupted));
  return {
    chat,
    lines,
    [Symbol.dispose]() {
      for (const [name, listener] of heard) Deno.removeSignalListener(name, listener);
      stops[Symbol.dispose]();
      chat.close();
      keys.close();
    },
  };
}

async function listFolder(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(expandHome(folder) || ".")) {
    names.push(isDirectory ? `${name}/` : name);
  }
  return names;
}
