/**
 * A named pipe, which Deno has no function for and not every machine a program.
 *
 * @module
 */

const LIBRARY = Deno.build.os === "darwin" ? "libSystem.dylib" : "libc.so.6";

/** Makes one with the C library, for its owner alone. */
export function makePipe(path: string): void {
  const symbols = { mkfifo: { parameters: ["buffer", "u32"], result: "i32" } } as const;
  const library = Deno.dlopen(LIBRARY, symbols);
  try {
    const status = library.symbols.mkfifo(new TextEncoder().encode(`${path}\0`), 0o600);
    if (status !== 0) throw new Error(`Cannot make a pipe at "${path}"`);
  } finally {
    library.close();
  }
}
