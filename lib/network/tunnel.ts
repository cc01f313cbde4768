/**
 * Carries bytes between two connections until both sides have ended, one of them breaks, or nothing
 * moves for too long. A direction holds one buffer: it reads again when what it read is written.
 *
 * @module
 */

/** How long a tunnel lives without a byte. */
export interface TunnelTimes {
  /** Milliseconds without a byte in either direction. */
  idleMs: number;
  /** Milliseconds without a byte once one side has said its last. */
  halfOpenMs: number;
}

/** What a tunnel needs of a connection. */
export type TunnelEnd = Pick<Deno.Conn, "read" | "write" | "closeWrite" | "close">;

const BUFFER_BYTES = 64 * 1024;

/** Carries bytes both ways; both connections are closed when it resolves. Never rejects. */
export async function tunnel(a: TunnelEnd, b: TunnelEnd, times: TunnelTimes): Promise<void> {
  let movedAt = performance.now();
  let halfOpen = false;
  const close = () => {
    closeQuietly(a);
    closeQuietly(b);
  };
  const moved = () => movedAt = performance.now();
  let timer: ReturnType<typeof setTimeout>;
  // Looked at when the shorter time may be over, not with each byte.
  const watch = () => {
    const left = movedAt + (halfOpen ? times.halfOpenMs : times.idleMs) - performance.now();
    if (left <= 0) close();
    else timer = setTimeout(watch, Math.min(left, times.halfOpenMs));
  };
  timer = setTimeout(watch, Math.min(times.idleMs, times.halfOpenMs));

  const carry = async (from: TunnelEnd, to: TunnelEnd) => {
    const buffer = new Uint8Array(BUFFER_BYTES);
    try {
      for (;;) {
        const count = await from.read(buffer);
        if (count === null) break;
        moved();
        await writeAll(to, buffer.subarray(0, count), moved);
      }
      halfOpen = true;
      moved();
      await to.closeWrite();
    } catch {
      // A side that breaks takes the other with it: nobody is to take half of an answer for a whole.
      close();
    }
  };
  await Promise.all([carry(a, b), carry(b, a)]);
  clearTimeout(timer);
  close();
}

/** Writes all bytes; `moved` is told whenever some have gone. */
export async function writeAll(
  to: Pick<Deno.Conn, "write">,
  bytes: Uint8Array,
  moved?: () => void,
): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    at += await to.write(bytes.subarray(at));
    moved?.();
  }
}

/** Closes what may be closed already. */
export function closeQuietly(conn: Pick<Deno.Conn, "close">): void {
  try {
    conn.close();
  } catch {
    // It was.
  }
}
