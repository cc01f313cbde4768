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

export function createAutomationRoutes(deps: AutomationsRoutesDeps): WebRoute[] {
  const routes = [
    ...listRoutes(deps),
    ...oneRoutes(deps),
    switchRoute(deps, "enable", "Switch an automation on"),
    switchRoute(deps, "disable", "Switch an automation off"),
    ...runRoutes(deps),
  ];
  return routes.map((route) => ({ ...route, off: () => deps.automations.off() }));
}

function listRoutes({ automations, scrubber }: AutomationsRoutesDeps): WebRoute[] {
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
      async handle({ query }) {
        const { after = "", limit = DEFAULT_PAGE } = readQuery(automationsQuery, query);
        const views = await automations.list({ after, limit: limit + 1 });
        const page = views.slice(0, limit);
        return Response.json(scrubber.value({
          automations: page.map(toAutomationRow),
          ...views.length > limit && { after: page.at(-1)!.id },
        }));
      },
    },
    {
      method: "POST",
      path: ALL,
      summary: "Create an automation",
      docs: { body: written, answer: automationRow, errors: ["overloaded"] },
      maxBodyBytes: MAX_BODY_BYTES,
      async handle({ body }) {
        const made = await automations.create(await body(written));
        return Response.json(scrubber.value(toAutomationRow(made)));
      },
    },
  ];
}

function oneRoutes({ automations, scrubber }: AutomationsRoutesDeps): WebRoute[] {
  return [
    {
      method: "GET",
      path: ONE,
      scope: "read",
      summary: "Show an automation",
      docs: { answer: automationRow, errors: ["not_found"] },
      async handle({ params: { id } }) {
        return Response.json(scrubber.value(toAutomationRow(await automations.get(id!))));
      },
    },
    {
      method: "PUT",
      path: ONE,
      summary: "Change fields of an automation",
      docs: { body: changes, answer: automationRow, errors: ["not_found", "conflict"] },
      maxBodyBytes: MAX_BODY_BYTES,
      async handle({ params: { id }, body }) {
        const changed = await automations.update(id!, await body(changes));
        return Response.json(scrubber.value(toAutomationRow(changed)));
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
      async handle({ params: { id } }) {
        await automations.remove(id!);
        return Response.json(scrubber.value({ id, deleted: true }));
      },
    },
  ];
}

function switchRoute(
  { automations, scrubber }: AutomationsRoutesDeps,
  word: "enable" | "disable",
  summary: string,
): WebRoute {
  return {
    method: "POST",
    path: `${ONE}/${word}`,
    summary,
    docs: { answer: automationRow, errors: ["not_found", "conflict"] },
    async handle({ params: { id } }) {
      const changed = await automations.setEnabled(id!, word === "enable");
      return Response.json(scrubber.value(toAutomationRow(changed)));
    },
  };
}

function runRoutes({ automations, scrubber }: AutomationsRoutesDeps): WebRoute[] {
  return [
    {
      method: "POST",
      path: `${ONE}/run`,
      summary: "Run an automation now",
      docs: { body: runBody, answer: runRow, errors: ["not_found", "queue_full"] },
      async handle({ request, params: { id }, body }) {
        const hasBody = request.headers.has("content-type");
        const { request_id: requestId } = hasBody ? await body(runBody) : {};
        return Response.json(scrubber.value(toRunRow(await automations.run(id!, { requestId }))));
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
      async handle({ params: { id }, query }) {
        const { before, limit = DEFAULT_PAGE } = readQuery(runsQuery, query);
        const runs = await automations.history(id!, { before, limit: limit + 1 });
        const page = runs.slice(0, limit);
        return Response.json(scrubber.value({
          runs: page.map(toRunRow),
          ...runs.length > limit && { before: page.at(-1)!.id },
        }));
      },
    },
  ];
}
