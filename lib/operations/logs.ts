/**
 * The service's log, for who follows it over the port.
 *
 * @module
 */

import { z } from "zod";
import { readLogLine } from "../base/log_line.ts";
import { toWire, whole } from "./fields.ts";
import { operation } from "./operation.ts";
import { enabled } from "./parts.ts";

/** Lines that a page has unless another number is asked for, and at most. */
const DEFAULT_LINES = 200;
const MAX_LINES = 1_000;

const logLine = z.object({
  seq: z.int(),
  text: z.string().describe("The line as it is written."),
  time: z.string().optional().describe("Such as 2026-01-31T12:00:00.000Z."),
  level: z.string().optional().describe("debug, info, warning or error; none of a request."),
  method: z.string().optional().describe("Of a request, as path, status and duration_ms."),
  path: z.string().optional(),
  status: z.int().optional(),
  duration_ms: z.number().optional(),
  message: z.string().describe("What else it says."),
});

/** Operations on the log. */
export const LOGS = {
  "logs.read": operation({
    summary: "Show the newest lines of the service's log, or those after a line",
    scope: "operate",
    command: "logs",
    input: z.object({
      after: whole(0).optional()
        .describe("Cursor: only lines after the one of this seq. Absent: the newest."),
      limit: whole(1, MAX_LINES).optional().describe(`Lines to show (default ${DEFAULT_LINES}).`),
    }),
    output: z.object({
      lines: z.array(logLine).describe("Oldest first."),
      next: z.int().optional().describe(
        "Cursor of the lines to come; absent while there are none.",
      ),
      missed: z.boolean().describe("Lines between the cursor and the first are gone."),
    }).describe("Lines of the log, those about its reading left out."),
    route: { method: "GET", path: "/api/webui/logs" },
    run({ after, limit = DEFAULT_LINES }, { recentLines }) {
      const { lines, missed } = enabled(recentLines).read(after, limit);
      const next = lines.at(-1)?.seq ?? after;
      return {
        lines: lines.map(({ seq, text }) => toWire(logLine, { seq, text, ...readLogLine(text) })),
        ...next !== undefined && { next },
        missed,
      };
    },
  }),
};
