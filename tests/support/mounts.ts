/**
 * File systems of a test's own, for disks that are full or not to be written to.
 *
 * @module
 */

import { statfsSync } from "node:fs";
import { type Need, programPath } from "./needs.ts";

/** What a test with one needs. Not every root may mount: that of a container may not. */
export function mountNeeds(): Need[] {
  if (Deno.uid() !== 0) return ["Linux", "root"];
  return ["Linux", "mount", { what: "the right to mount", isThere: mayMount() }];
}

/** A disk of 64 KiB, or as said, in a folder, gone when disposed. */
export function mountSmallDisk(folder: string, size = "64k"): Disposable {
  return mount(folder, "-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder);
}

/** Fills a disk until that many bytes are free; disposing makes the room again. */
export function fillDisk(folder: string, leaveBytes: number): Disposable {
  const path = `${folder}/filling-${crypto.randomUUID()}`;
  const block = new Uint8Array(4_096);
  using file = Deno.openSync(path, { write: true, create: true });
  try {
    for (let { bavail, bsize } = statfsSync(folder); bavail * bsize > leaveBytes; bavail--) {
      file.writeSync(block);
    }
  } catch {
    // It is full.
  }
  return { [Symbol.dispose]: () => Deno.removeSync(path) };
}

/** Makes a folder one that cannot be written to, until disposed. */
export function mountReadOnly(folder: string): Disposable {
  const bound = mount(folder, "--bind", folder, folder);
  try {
    run("mount", "-o", "remount,ro,bind", folder);
  } catch (error) {
    bound[Symbol.dispose]();
    throw error;
  }
  return bound;
}

function mount(folder: string, ...args: string[]): Disposable {
  run("mount", ...args);
  return { [Symbol.dispose]: () => run("umount", folder) };
}

function run(program: "mount" | "umount", ...args: string[]): void {
  const { success, stderr } = new Deno.Command(programPath(program), { args }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

function mayMount(): boolean {
  const folder = Deno.makeTempDirSync();
  try {
    mountSmallDisk(folder)[Symbol.dispose]();
    return true;
  } catch {
    return false;
  } finally {
    Deno.removeSync(folder);
  }
}
