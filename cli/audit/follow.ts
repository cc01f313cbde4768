/**
 * Tells when a folder may have changed.
 *
 * @module
 */

/** How long nothing is told before it is looked anyway: some file systems tell nothing. */
const LOOK_AGAIN_MS = 1_000;

/** Watches a folder from now on; what happens between two calls is told by the next one. */
export function watchFolder(dir: string): { changed(): Promise<true> } & Disposable {
  const watcher = Deno.watchFs(dir, { recursive: false });
  const events = watcher[Symbol.asyncIterator]();
  let next: Promise<unknown> | undefined;
  return {
    async changed() {
      next ??= events.next().then(() => {
        next = undefined;
      });
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, LOOK_AGAIN_MS);
      await Promise.race([next, late.promise]);
      clearTimeout(timer);
      return true;
    },
    [Symbol.dispose]: () => watcher.close(),
  };
}
