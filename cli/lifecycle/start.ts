/**
 * Starts the service in the background: in a session of its own, with its log in a file of the home.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { ServiceError } from "../../lib/base/errors.ts";
import { makePrivateDir } from "../../lib/base/private_dir.ts";
import { type HomePaths, serviceLog } from "../../lib/config/paths.ts";
import { EXIT, type ExitCode } from "../command.ts";
import { findInstallation, programOf } from "../installation/installation.ts";
import type { Output } from "../output.ts";
import { findOwner, type Running } from "./owner.ts";
import { LOG_FILE } from "./record.ts";

const POLL_MS = 100;

/** Lines of the log before the reason that are shown when a start fails. */
const MAX_LINES = 10;

/** How long after its first answer a service may take to write down how it was started. */
const RECORD_MS = 2_000;

/** What is started. */
export interface StartAsked {
  /** Of the command line, such as `["gateway"]`. */
  args: readonly string[];
  cwd: string;
  timeoutS: number;
}

/**
 * Starts it and waits until it answers; the exit code of one that ended instead, why and its last
 * lines on standard error. Throws `invalid_request` for a log that cannot be written, and `request_timeout`.
 */
export async function startService(
  paths: HomePaths,
  { args, cwd, timeoutS }: StartAsked,
  out: Output,
): Promise<Running | ExitCode> {
  const file = await openLogFile(paths);
  const from = (await file.stat()).size;
  file.close();
  const child = await spawnDetached(paths, args, cwd);
  const giveUpAt = Date.now() + timeoutS * 1_000;
  let answersSince: number | undefined;
  while (true) {
    const owner = await findOwner(paths);
    const code = child.exitCode();
    if (owner.state === "running" && (owner.pid === child.pid || code !== undefined)) {
      // Where two were started at once, one of them is it.
      answersSince ??= Date.now();
      if (owner.record !== undefined || Date.now() - answersSince > RECORD_MS) return owner;
    }
    if (owner.state === "running" || owner.state === "command") owner.client.close();
    if (code !== undefined && owner.state !== "running" && owner.state !== "starting") {
      const { reason, before } = await lastWords(paths, from);
      for (const line of reason) out.note({ text: line, isData: true });
      out.note(`The service did not start. Its log: ${serviceLog(paths)}`);
      if (reason.length === 0) {
        // A full disk takes no log either.
        out.note("It wrote nothing there. Find out why with: service doctor");
      }
      for (const line of before) out.note({ text: line, isData: true, style: "dim" });
      return code === EXIT.config ? EXIT.config : EXIT.failed;
    }
    if (Date.now() > giveUpAt) {
      throw new ServiceError(
        "request_timeout",
        `The service (pid ${child.pid}) has not started after ${timeoutS} s. ` +
          "See what it does with: service logs, or end it with: service stop",
      );
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function openLogFile({ home }: HomePaths): Promise<Deno.FsFile> {
  const logFile = serviceLog({ home });
  try {
    await Deno.mkdir(home, { recursive: true, mode: 0o700 });
    await makePrivateDir(logFile.replace(/\/[^/]*$/, ""));
    const file = await Deno.open(logFile, { append: true, create: true, mode: 0o600 });
    if (Deno.build.os !== "windows") await Deno.chmod(logFile, 0o600);
    return file;
  } catch (cause) {
    throw new ServiceError(
      "invalid_request",
      `Can't write the log ${logFile}: ${(cause as Error).message}. ` +
        "Make its folder writable, or run the service in the foreground with: service gateway",
      {},
      { cause },
    );
  }
}

async function spawnDetached(paths: HomePaths, args: readonly string[], cwd: string) {
  const logFile = serviceLog(paths);
  const { openSync, closeSync } = await import("node:fs");
  const fd = openSync(logFile, "a");
  let exitCode: number | undefined;
  const [program, ...programArgs] = programOf(findInstallation());
  const child = spawn(program!, [...programArgs, ...args], {
    cwd,
    detached: true,
    env: { ...Deno.env.toObject(), [LOG_FILE]: logFile },
    stdio: ["ignore", "ignore", fd],
  });
  closeSync(fd);
  child.on("exit", (code) => exitCode = code ?? EXIT.failed);
  child.on("error", () => exitCode = EXIT.failed);
  child.unref();
  return { pid: child.pid, exitCode: () => exitCode };
}

/** What it wrote to its log since: why it ended, and the last lines before that. */
async function lastWords(paths: HomePaths, from: number) {
  const bytes = await Deno.readFile(serviceLog(paths));
  const text = new TextDecoder().decode(bytes.subarray(Math.max(from, bytes.length - 16_384)));
  const lines = text.trimEnd().split("\n").filter((line) => line !== "");
  const at = lines.findLastIndex((line) => line.startsWith("error:"));
  const end = at < 0 ? lines.length : at;
  return { reason: lines.slice(end), before: lines.slice(Math.max(0, end - MAX_LINES), end) };
}
