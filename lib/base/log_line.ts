/**
 * Lines of the log, read again: what `log.ts` and the access log write, in either format.
 *
 * @module
 */

/** What a line says. */
export interface LogLine {
  /** As the line has it, with `Z`; absent where it has none. */
  time?: string;
  /** debug, info, warning or error; absent for a request. */
  level?: string;
  /** Of a request: its method, path, status and milliseconds. */
  method?: string;
  path?: string;
  status?: number;
  durationMs?: number;
  /** What else it says: a message with its fields; of a request who it came from, and why it failed. */
  message: string;
}

const REQUEST = /^(\S+Z) (\S+) (\S+) (\d{3}) ([\d.]+)ms (peer=.*)$/s;
const MESSAGE = /^(\S+Z) (debug|info|warning|error) (.*)$/s;

/** Of one that was cut. */
const LEVEL = /^\{.*"level":"(debug|info|warning|error)"/s;

/** Its parts; a line of another program is a message. */
export function readLogLine(text: string): LogLine {
  if (text.startsWith("{")) return readJson(text) ?? { ...levelOf(text), message: text };
  const request = REQUEST.exec(text);
  if (request !== null) {
    const [, time, method, path, status, durationMs, message = ""] = request;
    return {
      time,
      method,
      path,
      status: Number(status),
      durationMs: Number(durationMs),
      message,
    };
  }
  const [, time, level, message] = MESSAGE.exec(text) ?? [];
  return message === undefined ? { message: text } : { time, level, message };
}

function readJson(text: string): LogLine | undefined {
  let line: Record<string, unknown>;
  try {
    line = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { time, level, message = "", method, path, status, duration_ms, ...fields } = line;
  const rest = Object.entries(fields).map(([key, value]) =>
    `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`
  );
  const said = [...message === "" ? [] : [String(message)], ...rest].join(" ");
  const at = typeof time === "string" ? { time } : {};
  return typeof status === "number"
    ? {
      ...at,
      method: String(method),
      path: String(path),
      status,
      durationMs: Number(duration_ms),
      message: said,
    }
    : { ...at, ...typeof level === "string" && { level }, message: said };
}

function levelOf(text: string): { level?: string } {
  const level = LEVEL.exec(text)?.[1];
  return level === undefined ? {} : { level };
}
