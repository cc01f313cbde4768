/**
 * The addresses that a list of closed ranges leaves open, for what takes no list of exceptions: a Worker's
 * permissions. It imports nothing.
 *
 * @module
 */

/**
 * IPv4 ranges that together are all but the closed ones, such as `128.0.0.0/1`. No IPv6 address is in
 * them: permissions name no range of those.
 */
export function openRanges(closed: readonly string[]): string[] {
  const ranges = closed.filter((range) => !range.startsWith("[")).map(parse);
  return [...split({ start: 0, bits: 0 }, ranges)];
}

/** `bits` that all its addresses have in common. */
interface Range {
  start: number;
  bits: number;
}

function* split(range: Range, closed: readonly Range[]): Generator<string> {
  const within = closed.filter((each) => holds(range, each) || holds(each, range));
  if (within.some((each) => holds(each, range))) return;
  if (within.length === 0) return yield format(range);
  const bits = range.bits + 1;
  yield* split({ start: range.start, bits }, within);
  yield* split({ start: range.start + 2 ** (32 - bits), bits }, within);
}

function holds(outer: Range, inner: Range): boolean {
  const size = 2 ** (32 - outer.bits);
  return outer.bits <= inner.bits && inner.start >= outer.start && inner.start < outer.start + size;
}

function parse(range: string): Range {
  const [address, bits = "32"] = range.split("/");
  const start = address!.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  return { start, bits: Number(bits) };
}

function format({ start, bits }: Range): string {
  const parts = [24, 16, 8, 0].map((shift) => Math.floor(start / 2 ** shift) % 256);
  return `${parts.join(".")}/${bits}`;
}
