/**
 * Automations over the WebSocket port: list, create, change, switch on and off, run, delete, history.
 *
 * @module
 */

import { z } from "zod";
import type { Scrubber } from "../../secrets/scrubber.ts";
import type { Automations } from "../../automation/automations.ts";
import {
  automationRow,
  automationsQuery,
  runBody,
  runRow,
  runsQuery,
  toAutomationRow,
  toRunRow,
} from "./automation_schemas.ts";
import { readQuery } from "./query_params.ts";
import type { WebRoute } from "./web_route.ts";

/** What the routes need. */
export interface AutomationsRoutesDeps {
  automations: Omit<Automations, "start" | "pause" | "stop">;
  /** Takes secrets out of what is on record from before they were known. */
  scrubber: Pick<Scrubber, "value">;
}

const ALL = "/api/webui/automations";
const ONE = `${ALL}/:id`;
const DEFAULT_PAGE = 50;
/** A message has up to 100,000 characters, each up to 6 bytes of JSON. */
const MAX_BODY_BYTES = 1024 * 1024;

/** The service checks it, and names each wrong field in its words. */
const written = z.unknown().describe("An automation, as docs/automations.md has its fields.");
const changes = z.unknown().describe(
  "Fields of an automation that change; those absent stay, and null takes one away.",
);

export function createAutomationRoutes(
  { automations, scrubber }: AutomationsRoutesDeps,
): WebRoute[] {
  const json = (value: unknown) => Response.json(scrubber.value(value));
  const off = () => automations.off();
  const id = (params: Readonly<Record<string, string>>) => params["id"]!;

  const setEnabled = (word: "enable" | "disable"): WebRoute => ({
    method: "POST",
    path: `${ONE}/${word}`,
    summary: word === "enable" ? "Switch an automation on" : "Switch an automation off",
    docs: { answer: automationRow, errors: ["not_found", "conflict"] },
    off,
    async handle({ params }) {
      return json(toAutomationRow(await automations.setEnabled(id(params), word === "enable")));
    },
  });

  return [
    {
      method: "GET",
      path: ALL,
      scope: "read",
      summary: "List automations",
      docs: {
        query: automationsQuery,
        answer: z.object({
          automations: z.array(automationRow).describe("In the order of ids."),
          after: z.string().optional().describe("Cursor of the next page; absent on the last."),
        }),
      },
      off,
      async handle({ query }) {
        const { after = "", limit = DEFAULT_PAGE } = readQuery(automationsQuery, query);
        const views = await automations.list({ after, limit: limit + 1 });
        const page = views.slice(0, limit);
        return json({
          automations: page.map(toAutomationRow),
          ...views.length > limit && { after: page.at(-1)!.id },
        });
      },
    },
    {
      method: "POST",
      path: ALL,
      summary: "Create an automation",
      docs: { body: written, answer: automationRow, errors: ["overloaded"] },
      maxBodyBytes: MAX_BODY_BYTES,
      off,
      async handle({ body }) {
        return json(toAutomationRow(await automations.create(await body(written))));
      },
    },
    {
      method: "GET",
      path: ONE,
      scope: "read",
      summary: "Show an automation",
      docs: { answer: automationRow, errors: ["not_found"] },
      off,
      async handle({ params }) {
        return json(toAutomationRow(await automations.get(id(params))));
      },
    },
    {
      method: "PUT",
      path: ONE,
      summary: "Change fields of an automation",
      docs: { body: changes, answer: automationRow, errors: ["not_found", "conflict"] },
      maxBodyBytes: MAX_BODY_BYTES,
      off,
      async handle({ params, body }) {
        const change = await body(changes);
        return json(toAutomationRow(await automations.update(id(params), change)));
      },
    },
    {
      method: "DELETE",
      path: ONE,
      summary: "Delete an automation, and cancel what runs of it",
      docs: {
        answer: z.object({ id: z.string(), deleted: z.literal(true) }),
        errors: ["not_found"],
      },
      off,
      async handle({ params }) {
        await automations.remove(id(params));
        return json({ id: id(params), deleted: true });
      },
    },
    setEnabled("enable"),
    setEnabled("disable"),
    {
      method: "POST",
      path: `${ONE}/run`,
      summary: "Run an automation now",
      docs: { body: runBody, answer: runRow, errors: ["not_found", "queue_full"] },
      off,
      async handle({ request, params, body }) {
        const hasBody = request.headers.has("content-type");
        const { request_id: requestId } = hasBody ? await body(runBody) : {};
        return json(toRunRow(await automations.run(id(params), { requestId })));
      },
    },
    {
      method: "GET",
      path: `${ONE}/history`,
      scope: "read",
      summary: "List the runs of an automation",
      docs: {
        query: runsQuery,
        answer: z.object({
          runs: z.array(runRow).describe("Newest first."),
          before: z.int().optional().describe("Cursor of the next page; absent on the last."),
        }),
        errors: ["not_found"],
      },
      off,
      async handle({ params, query }) {
        const { before, limit = DEFAULT_PAGE } = readQuery(runsQuery, query);
        const runs = await automations.history(id(params), { before, limit: limit + 1 });
        const page = runs.slice(0, limit);
        return json({
          runs: page.map(toRunRow),
          ...runs.length > limit && { before: page.at(-1)!.id },
        });
      },
    },
  ];
}
