/**
 * Which lines of the log a person sees, and on which day each was written where they are.
 *
 * @module
 */

import type { Answer } from "../api/client.ts";
import { language } from "../locale.ts";

/** A line of the log. */
export type Line = Answer<"logs.read">["lines"][number];

/** Kinds of lines that a person chooses from. */
export const KINDS = {
  all: () => true,
  problems: ({ level, status = 0 }: Line) =>
    level === "warning" || level === "error" || status >= 500,
  messages: ({ status }: Line) => status === undefined,
  requests: ({ status }: Line) => status !== undefined,
};

/** Levels of messages, and statuses of requests by their hundreds. */
export const LOOKS: Readonly<Record<string, (line: Line) => boolean>> = {
  ...Object.fromEntries(
    ["error", "warning", "info", "debug"].map((
      name,
    ) => [name, ({ level }: Line) => level === name]),
  ),
  ...Object.fromEntries(
    [5, 4, 3, 2].map((hundred) => [
      `${hundred}xx`,
      ({ status = 0 }: Line) => Math.floor(status / 100) === hundred,
    ]),
  ),
};

/** Whether this app asked for it, to show what it shows, and got it. */
export function isOwnRead({ method, path = "", status = 0 }: Line): boolean {
  return method === "GET" && status < 400 &&
    /^\/($|webui\/|api\/webui\/|api\/settings\/)/.test(path);
}

let days: Intl.DateTimeFormat | undefined;

/** Such as Friday, 27 November 2026; undefined for a line without a time. */
export function dayOf(line: Line | undefined): string | undefined {
  const at = Date.parse(line?.time ?? "");
  if (Number.isNaN(at)) return undefined;
  days ??= new Intl.DateTimeFormat(language, { dateStyle: "full" });
  return days.format(at);
}
