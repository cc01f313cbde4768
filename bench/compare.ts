// deno-lint-ignore-file no-console -- a program whose output is what it is for
/**
 * The service beside what else one could put in front of a model, in one run: a bare proxy always, and
 * what is installed of the Portkey gateway and openclaw.
 *
 * All ask the same model server for an answer of ten tokens, each turn in a session of its own. A
 * subject starts in a home of its own; ready is when it has answered once. Memory counts each page once
 * (PSS), of all its processes, before the turns.
 *
 * `deno run -A --cached-only --lock=deno.lock --frozen bench/compare.ts [--json] [--rounds 3]
 * [--turns 400] [--portkey FILE] [--openclaw FILE] [--node FILE]`
 *
 * `--portkey`: `build/start-server.js` of the npm package `@portkey-ai/gateway`. `--openclaw`:
 * `openclaw.mjs` of the npm package `openclaw`. `--node`: the Node.js that runs them.
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { freePort } from "../tests/support/free_port.ts";
import { askChat, type Dialect } from "./ask_chat.ts";
import { sharedMb, startModel, startProxy, startService } from "./processes.ts";
import { type Figure, report } from "./report.ts";
import { chat, MEASURES, middle, type Sample, sample } from "./turns.ts";

const given = parseArgs(Deno.args, {
  string: ["rounds", "turns", "portkey", "openclaw", "node"],
});
const rounds = Number(given.rounds ?? 3);
const total = Number(given.turns ?? 400);
const node = String(given.node ?? "node");

/** What stands in front of the model. */
interface Front extends AsyncDisposable {
  pid: number;
  /** Ends with `/v1`. */
  base: string;
  dialect?: Dialect;
}

/** Starts a program of Node.js that is told its port. */
function startNode(
  program: string,
  port: number,
  { args, env = {}, dialect }: { args: string[]; env?: Record<string, string>; dialect: Dialect },
): Front {
  const child = new Deno.Command(node, {
    args: [program, ...args],
    env,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  return {
    pid: child.pid,
    base: `http://127.0.0.1:${port}/v1`,
    dialect,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
    },
  };
}

function startPortkey(program: string, model: string): Front {
  const port = freePort();
  return startNode(program, port, {
    args: [`--port=${port}`, "--headless"],
    dialect: {
      headers: {
        authorization: "Bearer none",
        "x-portkey-provider": "openai",
        "x-portkey-custom-host": model,
      },
    },
  });
}

async function startOpenclaw(program: string, model: string): Promise<Front> {
  const home = await Deno.makeTempDir({ prefix: "openclaw-bench-" });
  const port = freePort();
  const config = {
    gateway: {
      mode: "local",
      bind: "loopback",
      port,
      auth: { mode: "none" },
      http: { endpoints: { chatCompletions: { enabled: true } } },
    },
    models: {
      providers: {
        fake: {
          baseUrl: model,
          apiKey: "none",
          api: "openai-completions",
          models: [{ id: "fake", name: "fake", contextWindow: 128_000, maxTokens: 4_096 }],
        },
      },
    },
    agents: { defaults: { model: { primary: "fake/fake" }, skipBootstrap: true } },
  };
  await Deno.mkdir(`${home}/.openclaw`);
  await Deno.writeTextFile(`${home}/.openclaw/openclaw.json`, JSON.stringify(config));
  const front = startNode(program, port, {
    args: ["gateway", "run"],
    env: { HOME: home, OPENCLAW_HOME: home },
    dialect: { model: "openclaw" },
  });
  return {
    ...front,
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await Deno.remove(home, { recursive: true });
    },
  };
}

/** How each is started in front of a model. */
const FRONTS: Record<string, (model: string) => Promise<Front> | Front> = {
  "bare proxy": async (model) => {
    const started = await startProxy(model);
    return { ...started, base: started.line };
  },
  service: async (model) => {
    const started = await startService(model);
    return { ...started, base: `${started.url}/v1` };
  },
  ...given.portkey
    ? { "Portkey gateway": (model: string) => startPortkey(String(given.portkey), model) }
    : {},
  ...given.openclaw
    ? { openclaw: (model: string) => startOpenclaw(String(given.openclaw), model) }
    : {},
};

/** Resolves once it answers a turn. */
async function answers({ base, dialect }: Front): Promise<void> {
  const giveUpAt = Date.now() + 120_000;
  for (let last: unknown;; await new Promise((resolve) => setTimeout(resolve, 5))) {
    try {
      const response = await askChat(base, false, dialect);
      const text = await response.text();
      if (response.ok) return;
      last = `${response.status}: ${text}`;
    } catch (error) {
      last = error;
    }
    if (Date.now() > giveUpAt) throw new Error(`No answer from ${base}: ${last}`);
  }
}

interface Found {
  readyMs: number;
  memoryMb: number;
  /** Of each sample. */
  turns: number;
  ways: Record<string, Sample[]>;
}

/** Turns of each way, by their name. */
const WAYS: readonly [name: string, parallel: number, stream: boolean][] = [
  ["one at a time", 1, false],
  ["16 in parallel", 16, false],
  ["16 streams in parallel", 16, true],
];

await using model = await startModel(10);
const found: Record<string, Found> = {};
{
  await using stack = new AsyncDisposableStack();
  const fronts: Record<string, Front> = {};
  for (const [name, start] of Object.entries(FRONTS)) {
    const startedAt = performance.now();
    const front = fronts[name] = stack.use(await start(model.line));
    await answers(front);
    const readyMs = performance.now() - startedAt;
    const memoryMb = sharedMb(front.pid);
    const subject = { pid: front.pid, turn: chat(front.base, false, front.dialect) };
    const { perS } = await sample(subject, 16, 16);
    // A few seconds of each, however slow it is.
    const turns = Math.min(total, Math.max(16, Math.round(perS * 5)));
    found[name] = { readyMs, memoryMb, turns, ways: {} };
    await sample(subject, 16, turns);
  }
  for (let round = 0; round < rounds; round++) {
    for (const [way, parallel, stream] of WAYS) {
      for (const [name, { pid, base, dialect }] of Object.entries(fronts)) {
        const turn = chat(base, stream, dialect);
        const { ways, turns } = found[name]!;
        const samples = ways[way] ??= [];
        try {
          samples.push(await sample({ pid, turn }, parallel, turns));
        } catch (error) {
          // Of somebody else's program: said, and no figure.
          if (name === "service" || name === "bare proxy") throw error;
          console.error(`${name}, ${way}: ${error}`);
        }
      }
    }
  }
}

const figures: Figure[] = Object.entries(found).flatMap(([name, { readyMs, memoryMb, ways }]) => {
  const bare = found["bare proxy"]!;
  const against = (value: number) =>
    name === "bare proxy" ? undefined : { name: "bare proxy", value };
  const inWays = WAYS.filter(([way]) => ways[way]!.length > 0).flatMap(([way]) =>
    MEASURES.map(([say, what, unit]) => ({
      name: `${name}, ${way}: ${say}`,
      unit,
      value: middle(ways[way]!, what),
      against: against(middle(bare.ways[way]!, what)),
    }))
  );
  return [
    {
      name: `${name}: ready`,
      unit: "ms",
      value: readyMs,
      against: against(bare.readyMs),
    },
    {
      name: `${name}: memory`,
      unit: "MB",
      value: memoryMb,
      against: against(bare.memoryMb),
    },
    ...inWays,
  ];
});
report("beside others", figures, { json: Deno.args.includes("--json") });
