/**
 * One line a request: method, path, status, duration, and why it was refused. Never a query, a body or
 * a header, which may hold secrets.
 *
 * @module
 */

import { escapeControls } from "../base/log.ts";
import { metrics } from "../telemetry/metrics.ts";

/** What is known of a request once its answer is complete. */
export interface AccessEntry {
  requestId: string;
  peer: string;
  method: string;
  /** Without the query. */
  path: string;
  /** 499 when the client left before there was an answer. */
  status: number;
  durationMs: number;
  /** Why it was refused or failed: slug and field. */
  reason?: string;
  /** Of a stream: whether its body ended or the client left. */
  stream?: "ended" | "cancelled";
}

const REQUEST_SECONDS = metrics.histogram({
  name: "service_http_request_duration_seconds",
  help: "HTTP requests, by port, method and status",
  labels: ["port", "method", "status"],
});

/** Methods that requests are counted by; others are one. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** How lines look and where they go. */
export interface AccessLogOptions {
  /** Whose requests these are, in metrics. */
  port: "api" | "websocket";
  format: "text" | "json";
  /** Takes a line without its line break. */
  write: (line: string) => void;
  /** Milliseconds since 1970. */
  now: () => number;
}

const MAX_PATH_CHARS = 512;

/** A function that logs and counts requests. */
export function createAccessLog(
  { port, format, write, now }: AccessLogOptions,
): (entry: AccessEntry) => void {
  const toLine = format === "json" ? toJson : toText;
  return (entry) => {
    const method = METHODS.has(entry.method) ? entry.method : "other";
    const labels = { port, method, status: String(entry.status) };
    REQUEST_SECONDS.record(labels, entry.durationMs / 1_000);
    write(toLine(entry, new Date(now()).toISOString()));
  };
}

/** Logs what was no request at all, as a listener tells of it. */
export function unreadableLog(
  accessLog: (entry: AccessEntry) => void,
): (found: { peerAddress: string; status: number; reason: string }) => void {
  return ({ peerAddress, status, reason }) =>
    accessLog({
      requestId: "-",
      peer: peerAddress,
      method: "-",
      path: "-",
      status,
      durationMs: 0,
      reason,
    });
}

function toText(entry: AccessEntry, time: string): string {
  const { method, status, durationMs, peer, requestId, stream, reason } = entry;
  let line = `${time} ${method} ${cut(entry.path)} ${status} ${durationMs.toFixed(1)}ms ` +
    `peer=${peer} request=${requestId}`;
  if (stream !== undefined) line += ` stream=${stream}`;
  if (reason !== undefined) line += ` reason=${JSON.stringify(reason)}`;
  return escapeControls(line);
}

function toJson(entry: AccessEntry, time: string): string {
  const { method, path, status, durationMs, reason, stream, peer, requestId } = entry;
  return JSON.stringify({
    time,
    method,
    path: cut(path),
    status,
    duration_ms: Math.round(durationMs * 10) / 10,
    reason,
    stream,
    peer,
    request_id: requestId,
  }).replace(
    // What JSON leaves as it is but a terminal or a line reader acts on.
    /[\u007f-\u009f\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function cut(path: string): string {
  return path.length <= MAX_PATH_CHARS ? path : `${path.slice(0, MAX_PATH_CHARS)}…`;
}
