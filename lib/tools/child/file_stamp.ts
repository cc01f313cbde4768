/**
 * When a file was last changed, as a text that another change makes another one.
 *
 * @module
 */

/**
 * Of its content and of anything else. The second cannot be set back by whoever may write to the file,
 * but Deno knows it in whole seconds alone.
 */
export function fileStamp({ mtime, ctime }: Pick<Deno.FileInfo, "mtime" | "ctime">): string {
  return `${mtime?.getTime() ?? 0}/${ctime?.getTime() ?? 0}`;
}
