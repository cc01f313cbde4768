/**
 * Upgrades a program, in a process of its own that a test kills: URL, path of the program, public key.
 *
 * @module
 */

import { releaseSource } from "../release_source.ts";
import { findRelease, installRelease } from "../upgrade.ts";

const [url, program, publicKey] = Deno.args as [string, string, string];
const { os, arch } = Deno.build;
const { signal } = new AbortController();
const source = await releaseSource(url, Deno.cwd());
const release = await findRelease(source, {
  version: "0.1.0",
  platform: { os, arch, isCompiled: false },
  publicKey,
  signal,
});
await installRelease(source, release, {
  program,
  signal,
  onProgress() {},
  beforeReplace: () => Promise.resolve(),
});
