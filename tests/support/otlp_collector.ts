/**
 * A collector of OTLP over HTTP (https://opentelemetry.io/docs/specs/otlp/) that keeps spans. It reads the
 * protobuf messages by the field numbers of
 * https://github.com/open-telemetry/opentelemetry-proto/blob/v1.7.0/opentelemetry/proto/trace/v1/trace.proto
 *
 * @module
 */

/** A span, as it was exported. */
export interface CollectedSpan {
  traceId: string;
  spanId: string;
  /** Empty for the root of a trace. */
  parentId: string;
  name: string;
  attributes: Record<string, string | number>;
  failed: boolean;
}

/** A collector on a free port of loopback. */
export interface OtlpCollector extends AsyncDisposable {
  readonly endpoint: string;
  readonly spans: readonly CollectedSpan[];
  /** Names of metrics. */
  readonly metrics: ReadonlySet<string>;
  /** Everything that came, as bytes read as Latin-1: what is nowhere in it was not told. */
  readonly received: () => string;
  /** Resolves once it is so, looked at whenever something has come. */
  until(isSo: () => boolean): Promise<void>;
}

/** Starts one. */
export function startOtlpCollector(): OtlpCollector {
  const spans: CollectedSpan[] = [];
  const metrics = new Set<string>();
  let received = "";
  let news = Promise.withResolvers<void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const bytes = new Uint8Array(await request.arrayBuffer());
    received += new TextDecoder("latin1").decode(bytes);
    const { pathname } = new URL(request.url);
    // ExportTraceServiceRequest, ResourceSpans, ScopeSpans, Span; and the same of metrics.
    const leaves = at(at(at(fieldsOf(bytes), 1), 2), 2);
    if (pathname === "/v1/traces") spans.push(...leaves.map(toSpan));
    if (pathname === "/v1/metrics") { for (const leaf of leaves) metrics.add(text(leaf, 1)); }
    news.resolve();
    news = Promise.withResolvers();
    return new Response(new Uint8Array(), {
      headers: { "content-type": "application/x-protobuf" },
    });
  });
  return {
    endpoint: `http://127.0.0.1:${server.addr.port}`,
    spans,
    metrics,
    received: () => received,
    async until(isSo) {
      while (!isSo()) await news.promise;
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

type Field = [number: number, value: Uint8Array | bigint];

/** Fields of a message (https://protobuf.dev/programming-guides/encoding/). */
function fieldsOf(bytes: Uint8Array): Field[] {
  const fields: Field[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let offset = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const byte = view.getUint8(offset++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number) => bytes.subarray(offset, offset += length);
  while (offset < bytes.length) {
    const tag = Number(varint());
    const kind = tag & 7;
    if (kind === 0) fields.push([tag >> 3, varint()]);
    else if (kind === 1) fields.push([tag >> 3, take(8)]);
    else if (kind === 2) fields.push([tag >> 3, take(Number(varint()))]);
    else if (kind === 5) fields.push([tag >> 3, take(4)]);
    else throw new Error(`no protobuf: wire type ${kind}`);
  }
  return fields;
}

/** The messages in a field, of one message or of several. */
function at(fields: Field[] | Field[][], number: number): Field[][] {
  const all = (Array.isArray(fields[0]?.[0]) ? fields.flat() : fields) as Field[];
  return all.flatMap(([found, value]) =>
    found === number && value instanceof Uint8Array ? [fieldsOf(value)] : []
  );
}

function bytes(fields: Field[], number: number): Uint8Array {
  const value = fields.find(([found]) => found === number)?.[1];
  return value instanceof Uint8Array ? value : new Uint8Array();
}

function text(fields: Field[], number: number): string {
  return new TextDecoder().decode(bytes(fields, number));
}

function toSpan(fields: Field[]): CollectedSpan {
  const status = at(fields, 15)[0] ?? [];
  return {
    traceId: bytes(fields, 1).toHex(),
    spanId: bytes(fields, 2).toHex(),
    parentId: bytes(fields, 4).toHex(),
    name: text(fields, 5),
    attributes: Object.fromEntries(at(fields, 9).map((pair) => [text(pair, 1), valueOf(pair)])),
    failed: status.some(([number, value]) => number === 3 && value === 2n),
  };
}

/** Of an attribute: a text, or a number. */
function valueOf(pair: Field[]): string | number {
  const value = fieldsOf(bytes(pair, 2));
  const integer = value.find(([number]) => number === 3)?.[1];
  if (typeof integer === "bigint") return Number(integer);
  const double = bytes(value, 4);
  if (double.length === 0) return text(value, 1);
  return new DataView(double.buffer, double.byteOffset).getFloat64(0, true);
}
