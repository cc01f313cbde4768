/**
 * Where the files of a release are: behind a URL, or in a folder.
 *
 * @module
 */

import { basename, dirname, resolve } from "@std/path";
import { ServiceError } from "../../lib/base/errors.ts";

/** How long a server may send nothing. */
const IDLE_MS = 60_000;

/** A release that can be read. */
export interface ReleaseSource {
  /** For people: its URL or folder. */
  place: string;
  /** Whether nobody but this machine is asked. */
  isLocal: boolean;
  /** The file that was asked for, where one was. */
  fileName?: string;
  /** A file as it comes. Rejects with `not_found` where there is none. */
  open(name: string, signal: AbortSignal): Promise<OpenFile>;
}

/** A file that is being read. */
export interface OpenFile {
  stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Bytes that are to come, where that is known. */
  size?: number;
}

/**
 * The URL of the newest release of a version's channel: releases with a pre-release version have their own.
 * Throws `usage` for a program that doesn't know where its releases are.
 */
export function defaultSource(releasesUrl: string | undefined, version: string): string {
  if (releasesUrl !== undefined) {
    return `${releasesUrl}/${version.includes("-") ? "download/preview" : "latest/download"}`;
  }
  throw new ServiceError(
    "usage",
    "This program doesn't know where its releases are. Pass one with: service upgrade --from FILE",
    { param: "from" },
  );
}

/** The source of what a person typed: a URL of a release, its folder, or a file in it. */
export async function releaseSource(typed: string, cwd: string): Promise<ReleaseSource> {
  if (/^https?:\/\//i.test(typed)) return fromUrl(typed);
  const path = resolve(cwd, typed);
  const info = await Deno.stat(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  });
  if (info?.isDirectory) return fromFolder(path);
  if (info?.isFile) return { ...fromFolder(dirname(path)), fileName: basename(path) };
  throw new ServiceError(
    "usage",
    `There is no file or folder ${path}: expected a URL, a released file or its folder`,
    { param: "from" },
  );
}

function fromUrl(typed: string): ReleaseSource {
  const place = typed.replace(/\/+$/, "");
  return {
    place,
    isLocal: false,
    async open(name, signal) {
      const url = `${place}/${encodeURIComponent(name)}`;
      const response = await fetch(url, { signal }).catch((error) => {
        signal.throwIfAborted();
        throw unreachable(url, error);
      });
      if (!response.ok || response.body === null) {
        await response.body?.cancel();
        throw response.status === 404
          ? missing(name, place)
          : unreachable(url, new Error(`the server answered ${response.status}`));
      }
      const size = Number(response.headers.get("content-length") ?? NaN);
      return {
        stream: response.body.pipeThrough(idleLimit(url)),
        // A compressed answer is longer than what is said.
        size: Number.isNaN(size) || response.headers.has("content-encoding") ? undefined : size,
      };
    },
  };
}

function fromFolder(place: string): ReleaseSource {
  return {
    place,
    isLocal: true,
    async open(name) {
      const file = await Deno.open(`${place}/${name}`).catch((error) => {
        if (error instanceof Deno.errors.NotFound) throw missing(name, place);
        throw unreachable(`${place}/${name}`, error);
      });
      return { stream: file.readable, size: (await file.stat()).size };
    },
  };
}

/** All of a file that is a small one. Rejects with `too_large` for one of more bytes. */
export async function readSmall(
  source: ReleaseSource,
  name: string,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<Uint8Array<ArrayBuffer>> {
  const { stream } = await source.open(name, signal);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new ServiceError("too_large", `${name} of ${source.place} is too long to be one`);
    }
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** Fails where nothing comes for too long. */
function idleLimit(url: string): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let timer: ReturnType<typeof setTimeout>;
  return new TransformStream({
    start: (controller) => wait(controller),
    transform(chunk, controller) {
      clearTimeout(timer);
      controller.enqueue(chunk);
      wait(controller);
    },
    flush: () => clearTimeout(timer),
    cancel: () => clearTimeout(timer),
  });

  function wait(controller: TransformStreamDefaultController): void {
    timer = setTimeout(
      () => controller.error(unreachable(url, new Error(`nothing came for ${IDLE_MS / 1_000} s`))),
      IDLE_MS,
    );
  }
}

function missing(name: string, place: string): ServiceError {
  return new ServiceError("not_found", `There is no ${name} in ${place}`);
}

function unreachable(what: string, { message }: Error): ServiceError {
  return new ServiceError("not_found", `Can't read ${what}: ${message}. Nothing was changed`);
}
