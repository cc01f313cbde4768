/**
 * `service automations`: work that is done when it is due.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { AUTOMATIONS } from "../../lib/operations/automations.ts";
import type { OperationHead } from "../../lib/operations/operation.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import { COMMISSION_COMMANDS, runCommission } from "../automations/commission.ts";
import {
  allAutomations,
  automationId,
  type AutomationRow,
} from "../automations/find_automation.ts";
import {
  nextText,
  printAutomation,
  printAutomations,
  printRuns,
  printWarnings,
} from "../automations/print_automation.ts";
import { type FieldSources, readFields } from "../automations/read_fields.ts";
import { AUTOMATION_OPTIONS } from "../automations/typed_automation.ts";
import { type Command, EXIT, type ExitCode, type Globals, type Invocation } from "../command.ts";
import { confirm, type ConfirmDeps, processConfirm } from "../confirm.ts";
import { type Ask, operateWith } from "../operator/operate_with.ts";
import {
  type Differences,
  operationSubcommand,
  typedInput,
} from "../operator/operation_subcommand.ts";
import { jsonLine, type Output } from "../output.ts";
import { processService } from "../process_service.ts";

/** What the command reaches outside of itself. */
export interface AutomationsDeps extends FieldSources {
  confirm(out: Output): ConfirmDeps;
  withService<T>(globals: Globals, use: (client: LocalClient) => Promise<T>): Promise<T>;
}

const OPERATIONS = Object.values<OperationHead>(AUTOMATIONS);

const DIFFERENCES: Readonly<Record<string, Differences>> = {
  // Every page is printed.
  "automations list": { without: ["limit", "after"] },
  "automations create": { options: AUTOMATION_OPTIONS },
  "automations update": { options: AUTOMATION_OPTIONS },
  "automations delete": {
    options: [{ name: "yes", alias: "y", summary: "Delete without asking" }],
  },
};

/** Runs the command. */
export async function runAutomations(
  invocation: Invocation,
  deps: AutomationsDeps,
): Promise<ExitCode> {
  const { subcommand = "list", args, options, globals, out } = invocation;
  // What was typed is read before the service is opened, so that nobody waits for it.
  const fields = subcommand === "create" || subcommand === "update"
    ? await readFields(invocation, deps)
    : {};
  const operation = OPERATIONS.find(({ command }) => command === `automations ${subcommand}`)!;
  const typed = typedInput(operation, invocation);
  if (subcommand === "delete" && options["yes"] !== true) {
    const question = `Delete automation ${args[0]!} and stop its runs?`;
    if (!await confirm(question, deps.confirm(out))) {
      out.note("Nothing was deleted");
      return EXIT.failed;
    }
  }
  return await deps.withService(globals, async (client) => {
    const ask = operateWith(client);
    if (subcommand === "list") return await list(ask, invocation, deps);
    if (subcommand === "create") {
      const view = await ask({ ...fields, op: "automations.create" });
      return shown(view, view.id);
    }
    const id = await automationId(ask, args[0]!);
    switch (subcommand) {
      case "show": {
        const view = await ask({ op: "automations.get", id });
        if (globals.json) out.json(view);
        else printAutomation(out, view, deps.timeZone);
        return EXIT.done;
      }
      case "update":
        return shown(await ask({ ...fields, op: "automations.update", id }), id);
      case "enable":
      case "disable":
        return shown(await ask({ op: `automations.${subcommand}`, id }), id);
      case "run":
        return await run(ask, invocation, { ...typed, id });
      case "history":
        return await history(ask, invocation, deps, { ...typed, id });
      default: {
        const answer = await ask({ op: "automations.delete", id });
        if (globals.json) out.json(answer);
        else out.note(`Deleted ${id}; its messages stay in the session automation:${id}`);
        return EXIT.done;
      }
    }
  });

  function shown(view: AutomationRow, id: string): ExitCode {
    if (globals.json) {
      out.json(view);
      return EXIT.done;
    }
    out.line(id);
    out.note(`Next run: ${nextText(view, deps.timeZone)}`);
    printWarnings(out, view);
    return EXIT.done;
  }
}

async function list(
  ask: Ask,
  { globals, out }: Invocation,
  { timeZone }: AutomationsDeps,
): Promise<ExitCode> {
  if (globals.json) {
    for await (const view of allAutomations(ask)) await out.stream(jsonLine(view) + "\n");
    return EXIT.done;
  }
  const views = await Array.fromAsync(allAutomations(ask));
  if (views.length === 0) {
    out.note("No automations yet. Create one with: service automations create");
  } else printAutomations(out, views, timeZone);
  return EXIT.done;
}

async function run(
  ask: Ask,
  { globals, out }: Invocation,
  params: { id: string; request_id?: string },
): Promise<ExitCode> {
  const { id } = params;
  const run = await ask({ op: "automations.run", ...params });
  if (globals.json) {
    out.json(run);
    return EXIT.done;
  }
  out.note(`Run ${run.id} is ${run.state}: service automations history ${id}`);
  printWarnings(out, await ask({ op: "automations.get", id }));
  return EXIT.done;
}

async function history(
  ask: Ask,
  { globals, out }: Invocation,
  { timeZone }: AutomationsDeps,
  params: { id: string },
): Promise<ExitCode> {
  const { runs, before } = await ask({ op: "automations.history", ...params });
  if (globals.json) {
    for (const run of runs) await out.stream(jsonLine(run) + "\n");
    return EXIT.done;
  }
  if (runs.length === 0) out.note("No runs yet");
  else printRuns(out, runs, timeZone);
  if (before !== undefined) {
    out.note(`Earlier ones: service automations history ${params.id} --before ${before}`);
  }
  return EXIT.done;
}

async function readText(path: string, out: Output): Promise<string> {
  if (path === "-") {
    const { readPiped } = await import("../agent/read_piped.ts");
    const onWait = () => out.note("Reading the automation from standard input");
    return await readPiped({ stdin: Deno.stdin.readable, onWait });
  }
  try {
    return await Deno.readTextFile(path);
  } catch (cause) {
    const why = cause instanceof Deno.errors.NotFound ? "no such file" : String(cause);
    const message = `Cannot read ${JSON.stringify(path)}: ${why}`;
    throw new ServiceError("usage", message, { param: "from" }, { cause });
  }
}

const automations: Command = {
  description:
    "Schedules messages to the agent, which run unattended. For ID, give an automation's id, or " +
    "its name if that is unique. Times are in this machine's time zone. With --json each automation or run is one line.",
  examples: [
    "service automations create -m 'What is new in the repository?' --every 1h",
    "service automations create -m 'Plan my day' --cron '30 7 * * MON-FRI' --deliver telegram:12345",
    "service automations create --from news.json",
    "service automations update News --every 2h --when change --deliver telegram:12345",
    "service automations run News",
    "service automations history News",
  ],
  options: [],
  defaultSubcommand: "list",
  subcommands: [
    ...OPERATIONS.map((each) => operationSubcommand(each, DIFFERENCES[each.command!])),
  ],
  run: async (invocation) => {
    if (COMMISSION_COMMANDS.includes(invocation.subcommand ?? "")) {
      const { processTokenSource: token } = await import("../operator/approver_token.ts");
      return await runCommission(invocation, {
        token,
        terminal: processConfirm,
        withService: processService,
      });
    }
    return await runAutomations(invocation, {
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      readText,
      confirm: processConfirm,
      withService: processService,
    });
  },
};

export default automations;
