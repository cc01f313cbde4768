/**
 * Documents, read by children that may do nothing: no file, no network, no variable, bounded memory and
 * time. They have places of their own, so documents and
 * tools never wait for each other.
 *
 * @module
 */

import { fromFileUrl } from "@std/path";
import { z } from "zod";
import {
  type DocumentReader,
  EXTRACT_TIMEOUT_MS,
  type ExtractedText,
  MAX_FILE_BYTES,
  MAX_TEXT_CHARS,
  MEDIA_TYPES,
} from "../contract/documents.ts";
import { REASONS, unreadable, withName } from "./unreadable.ts";
import { ServiceError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { lockedPackages } from "../packages/locked_packages.ts";
import { NO_PERMISSIONS } from "../executor/command.ts";
import { type ChildJob, type ChildOutcome, createExecutor } from "../executor/executor.ts";
import type { SandboxView } from "../executor/sandbox.ts";
import type { TriedSandboxes } from "../executor/tried_sandboxes.ts";
import { sourcePaths } from "../base/layout.ts";

/** What the reader works with. */
export interface DocumentReaderOptions {
  /** Folder, 0700, for what Deno derives from sources. */
  cacheDir: string;
  /** See `ExecutorOptions`. */
  workspace?: string;
  /** Deno's folder of packages (`findDenoDir`); the binary needs none. */
  denoDir: string | undefined;
  log: Log;
  /** See `ExecutorOptions`, as the next. */
  sandboxes?: TriedSandboxes;
  sandbox?: "auto" | "off";
  /** Time of one extraction. */
  timeoutMs?: number;
  /** Another child, in tests. */
  entry?: URL;
}

/** Reads documents until it is shut down. */
export interface OwnedDocumentReader extends DocumentReader {
  counts(): { running: number; waiting: number };
  /** Kills every child and resolves when all are gone; later documents are refused as `draining`. */
  shutdown(): Promise<void>;
}

/** Documents that are read at once, and that wait for it. */
const MAX_RUNNING = 2;
const MAX_WAITING = 64;
/** Of V8's heap: a sheet of a million cells fits. */
const MAX_HEAP_MIB = 512;
/** Of everything: the heap, and buffers as large as an archive may become. */
const MAX_DATA_BYTES = 1536 * 1024 * 1024;
/** Of an answer: every character of a text may take six bytes in JSON. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** Characters of a text with its notes. */
const MAX_ANSWER_CHARS = 2 * MAX_TEXT_CHARS;
const MAX_DETAIL_CHARS = 500;

/** An answer of the child, which has worked on a stranger's bytes. */
const ANSWER = z.union([
  z.strictObject({
    mediaType: z.enum(Object.values(MEDIA_TYPES)),
    text: z.string().max(MAX_ANSWER_CHARS),
  }),
  z.strictObject({
    code: z.enum(["unreadable_document", "unsupported_media_type"]),
    message: z.string().max(MAX_DETAIL_CHARS),
    detail: z.string().optional(),
  }),
]);

/** Makes a reader; nothing is started before the first document. */
export function createDocumentReader(options: DocumentReaderOptions): OwnedDocumentReader {
  const { log, cacheDir, sandbox, timeoutMs = EXTRACT_TIMEOUT_MS, entry } = options;
  const executor = createExecutor({
    cacheDir,
    workspace: options.workspace,
    log,
    sandboxes: options.sandboxes,
    sandbox,
    maxRunning: MAX_RUNNING,
    maxWaiting: MAX_WAITING,
    maxHeapMiB: MAX_HEAP_MIB,
    maxDataBytes: MAX_DATA_BYTES,
  });
  const needs = childNeeds(entry, options.denoDir);
  let closed = false;

  function toText(outcome: ChildOutcome): ExtractedText {
    switch (outcome.type) {
      case "result":
        return readAnswer(outcome.output);
      case "timeout":
        throw unreadable(`it takes longer than ${outcome.timeoutMs / 1000} s`);
      case "fault":
        if (closed) throw draining();
        if (outcome.outOfMemory) throw unreadable(REASONS.memory);
        throw new ServiceError("executor_fault", outcome.message);
      case "failure":
        log.error("A document's child is broken", { reason: outcome.message });
        throw new ServiceError("executor_fault", "the program that reads it is broken");
      case "redirect":
      case "addresses":
      case "file":
      case "page":
        throw new ServiceError("executor_fault", `its process answered ${outcome.type}`);
    }
  }

  function readAnswer(output: string): ExtractedText {
    const { success, data } = ANSWER.safeParse(parseJson(output));
    if (!success) throw new ServiceError("executor_fault", "its process answered no known text");
    if ("text" in data) return data;
    if (data.detail !== undefined) {
      log.debug("A document cannot be read", { reason: data.detail.slice(0, MAX_DETAIL_CHARS) });
    }
    throw new ServiceError(data.code, data.message);
  }

  async function extract(
    bytes: Uint8Array,
    signal: AbortSignal,
  ): Promise<ExtractedText> {
    if (closed) throw draining();
    if (bytes.length > MAX_FILE_BYTES) {
      throw unreadable(`it is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB`);
    }
    if (executor.counts().waiting >= MAX_WAITING) {
      throw new ServiceError("overloaded", `${MAX_WAITING} documents wait already`, {
        retryAfterS: 1,
      });
    }
    const outcome = await executor.run({
      task: {
        tool: "extract_document",
        args: {},
        workspace: "/",
        maxOutputBytes: MAX_ANSWER_BYTES,
      },
      bytes: bytes as Uint8Array<ArrayBuffer>,
      permissions: NO_PERMISSIONS,
      timeoutMs,
      entry,
      ...needs,
    }, { signal, onProgress: () => {} });
    return toText(outcome);
  }

  return {
    async extract(document, { signal }) {
      signal.throwIfAborted();
      try {
        return await extract(document.bytes, signal);
      } catch (error) {
        throw error instanceof ServiceError ? withName(error, document.name) : error;
      }
    },
    counts() {
      const { running, waiting } = executor.counts();
      return { running, waiting };
    },
    async shutdown() {
      closed = true;
      await executor.shutdown();
    },
  };
}

/** What the child sees beside what every child does: its sources, and the packages that these import. */
function childNeeds(
  entry: URL | undefined,
  denoDir: string | undefined,
): Pick<ChildJob, "view" | "packages"> {
  const view: SandboxView = { readOnly: [], readWrite: [], network: false };
  const other = entry === undefined ? [] : [fromFileUrl(entry)];
  return {
    view: {
      ...view,
      readOnly: [
        ...sourcePaths(["lib/documents", "lib/base/errors.ts", "lib/contract/documents.ts"]),
        ...other,
      ],
    },
    packages: lockedPackages(denoDir),
  };
}

function draining(): ServiceError {
  return new ServiceError("draining", "the service is stopping");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
