import type { Disk } from "../disk.ts";

/** A {@linkcode Disk} in memory, whose steps a test may hold up. */
export interface MemoryDisk extends Disk {
  files: Map<string, Uint8Array>;
}

/** Makes one. `step` is awaited before each step; the step fails when it does. */
export function createMemoryDisk(
  step: (name: string) => Promise<void> = () => Promise.resolve(),
): MemoryDisk {
  const files = new Map<string, Uint8Array>();
  return {
    files,
    async write(name, bytes) {
      await step("write");
      files.set(name, bytes.slice());
      await step("written");
    },
    settle: () => step("settle"),
    stat: (name) => {
      const bytes = files.get(name)?.length;
      return Promise.resolve(bytes === undefined ? undefined : { bytes, at: 0 });
    },
    async read(name) {
      await step("read");
      return files.get(name);
    },
    async remove(name) {
      await step("remove");
      return files.delete(name);
    },
    async *names() {
      for (const name of [...files.keys()]) {
        await step("names");
        yield name;
      }
    },
    removeUnfinished: () => Promise.resolve(0),
  };
}
