/**
 * The log: lines, readable or as JSON, each on one line whatever it holds.
 *
 * @module
 */

import { configureSync, getLogger, type LogRecord, withFilter } from "@logtape/logtape";
import { LogOutput, type LogOutputOptions } from "./log_output.ts";

/** Facts of a log line; never a secret, a body or a header. */
export type LogFields = Record<string, unknown>;

/** Where a part of the program reports what an operator should know. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warning(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** How and from which level on is logged; as `log` in the configuration. */
export interface LogOptions {
  level: "debug" | "info" | "warning" | "error";
  format: "text" | "json";
}

/** Sets up the log of this thread and returns it; `write` takes its lines. Call it once a thread. */
export function createLog(options: LogOptions, write: (line: string) => void): Log {
  const format = formatterOf(options.format);
  configureSync({
    reset: true,
    sinks: { out: withFilter((record) => write(format(record)), options.level) },
    loggers: [
      { category: ["service"], sinks: ["out"], lowestLevel: options.level },
      { category: ["logtape", "meta"], sinks: [] },
    ],
  });
  const logger = getLogger(["service"]);
  // A message is text and no template: braces in it stand for themselves.
  const plain = (message: string) => message.replace(/[{}]/g, (brace) => brace + brace);
  return {
    debug: (message, fields) => logger.debug(plain(message), fields),
    info: (message, fields) => logger.info(plain(message), fields),
    warning: (message, fields) => logger.warning(plain(message), fields),
    error: (message, fields) => logger.error(plain(message), fields),
  };
}

/** Opens the output of a log on standard error. Writing to it never throws and never blocks. */
export function openLogOutput(
  format: LogOptions["format"],
  stream: LogOutputOptions["stream"] = Deno.stderr,
): LogOutput {
  const toLine = formatterOf(format);
  return new LogOutput({
    stream,
    describeDropped: (lines) =>
      toLine({
        timestamp: Date.now(),
        level: "warning",
        message: ["Log lines were dropped: the log could not be written, or not fast enough"],
        properties: { lines },
      }),
  });
}

type Formattable = Pick<LogRecord, "timestamp" | "level" | "message" | "properties">;

function formatterOf(format: LogOptions["format"]): (record: Formattable) => string {
  return format === "json" ? formatJson : formatText;
}

function formatJson({ timestamp, level, message, properties }: Formattable): string {
  return JSON.stringify({
    ...properties,
    time: new Date(timestamp).toISOString(),
    level,
    message: message.join(""),
  });
}

function formatText({ timestamp, level, message, properties }: Formattable): string {
  // What is not known is left out, as in JSON.
  const known = Object.entries(properties).filter(([, value]) => value !== undefined);
  const fields = known.map(([key, value]) =>
    ` ${key}=${typeof value === "string" && /^[\w.:/@+-]+$/.test(value) ? value : toJson(value)}`
  );
  const text = `${new Date(timestamp).toISOString()} ${level} ${message.join("")}${
    fields.join("")
  }`;
  return escapeControls(text);
}

function toJson(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

/** The text with every control character, line breaks included, written as `\xNN`. */
export function escapeControls(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (char) => {
    return `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}
