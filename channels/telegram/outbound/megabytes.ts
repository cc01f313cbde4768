/** Bytes as people say them: whole megabytes, rounded up, so that what is too large looks too large. */
export function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1024 / 1024);
}
