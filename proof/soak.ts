/**
 * Hours of use as fast as it goes: whole answers and streams, clients that leave in the middle, tools, and
 * sockets that come and go. Looks whether anything grows that should not.
 *
 * @module
 */

import { sizeOf } from "../lib/packages/fetch_packages.ts";
import { startModelServer } from "../tests/fakes/model_server.ts";
import { sharedMb } from "../bench/processes.ts";
import { processTree } from "../tests/support/channel_processes.ts";
import { makeHome, type Running, type TestHome } from "../tests/support/home.ts";
import { untilIdle } from "../tests/support/process_facts.ts";
import { WireSocket } from "../tests/support/wire_socket.ts";
import { type Line, none, type ProofRun } from "./proof.ts";

/** Turns of a round: six minutes of one a second. */
const TURNS = 360;
/** Clients at the same time. */
const LANES = 8;
/** Turns of a conversation, before the next one begins. */
const CONVERSATION = 40;

/** What is seen when nothing runs. */
interface Sample {
  memoryMb: number;
  processes: number;
  handles: number;
  diskBytes: number;
}

type Way = (service: Running, session: string, text: string) => Promise<boolean>;

/** Each says whether its answer was right. */
const WAYS: readonly Way[] = [askWhole, askStreamed, leave, askForTool, askOverSocket];

/** Runs it. */
export async function proveSoak({ rounds, tell }: ProofRun): Promise<Line[]> {
  await using model = startModelServer({
    script({ body: { messages } }) {
      const last = messages.at(-1);
      const calls = last.role === "user" && JSON.stringify(last.content).includes("look");
      return calls
        ? { calls: [{ tool: "list_files", args: { path: "." } }] }
        : { text: "it is so" };
    },
  });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    api: { enabled: true, port: 0 },
    channels: { websocket: { websocketRequiresToken: false } },
  });
  await using service = await home.start(["gateway", "--json"]);
  const samples: Sample[] = [];
  let wrong = 0;
  for (let round = 1; round <= rounds; round++) {
    let turn = 0;
    await Promise.all(
      Array.from({ length: LANES }, async (_, lane) => {
        for (let mine; (mine = turn++) < TURNS;) {
          const session = `${lane}-${round}-${Math.floor(mine / LANES / CONVERSATION)}`;
          const text = `message ${mine} of round ${round}`;
          if (!await WAYS[mine % WAYS.length]!(service, session, text)) wrong++;
        }
      }),
    );
    await untilIdle(home);
    await untilNothingEnds(service.pid);
    samples.push(look(home, service.pid));
    const { memoryMb, handles, diskBytes } = samples.at(-1)!;
    tell(
      `round ${round} of ${rounds}: ${memoryMb.toFixed(0)} MB, ${handles} handles, ` +
        `${(diskBytes / 1e6).toFixed(1)} MB on the disk`,
    );
  }
  const audit = await home.run(["audit", "verify"]);
  return [
    { what: "turns", value: String(rounds * TURNS) },
    none("answered wrongly, or not at all", wrong),
    ...growth(samples),
    { what: "audit log whole", value: audit.code === 0 ? "yes" : "no", holds: audit.code === 0 },
  ];
}

/**
 * Compares the last third with the one before it; in the first one everything is loaded and warms up. The
 * memory of a process rises between two great collections, which are some thousand turns apart.
 */
function growth(samples: readonly Sample[]): Line[] {
  const third = Math.floor(samples.length / 3);
  const [middle, last] = [samples.slice(third, 2 * third), samples.slice(-third)];
  const line = (what: string, least: (sample: Sample) => number, mayGrow: number): Line => {
    const [before, after] = [middle, last].map((part) => Math.min(...part.map(least)));
    return {
      what: `${what}, second third and last`,
      value: `${before!.toFixed(0)} and ${after!.toFixed(0)}`,
      holds: after! <= before! * mayGrow,
    };
  };
  const perTurn = (part: readonly Sample[]) =>
    (part.at(-1)!.diskBytes - part[0]!.diskBytes) / ((part.length - 1) * TURNS);
  const [before, after] = [perTurn(middle), perTurn(last)];
  return [
    line("least memory, MB", ({ memoryMb }) => memoryMb, 1.15),
    line("processes", ({ processes }) => processes, 1),
    line("open files and sockets", ({ handles }) => handles, 1.05),
    {
      what: "bytes on the disk a turn, second third and last",
      value: `${before.toFixed(0)} and ${after.toFixed(0)}`,
      holds: after <= before * 1.2,
    },
  ];
}

function look(home: TestHome, pid: number): Sample {
  const processes = [pid, ...processTree(pid)];
  const handles = processes.map((each) => [...Deno.readDirSync(`/proc/${each}/fd`)].length);
  return {
    memoryMb: sharedMb(pid),
    processes: processes.length,
    handles: handles.reduce((sum, count) => sum + count, 0),
    diskBytes: sizeOf(`${home.dir}/home`),
  };
}

/** A turn's tools end behind it. */
async function untilNothingEnds(pid: number): Promise<void> {
  for (let now = "", before; now !== before || now === "";) {
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 500));
    now = [pid, ...processTree(pid)].join(" ");
  }
}

function ask({ apiUrl }: Running, session: string, text: string, stream: boolean) {
  return fetch(`${apiUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      messages: [{ role: "user", content: text }],
      session_id: session,
      stream,
    }),
  });
}

async function askWhole(service: Running, session: string, text: string): Promise<boolean> {
  const { choices } = await (await ask(service, session, text, false)).json();
  return choices?.[0].message.content === "it is so";
}

async function askStreamed(service: Running, session: string, text: string): Promise<boolean> {
  const said = await (await ask(service, session, text, true)).text();
  return said.endsWith("data: [DONE]\n\n");
}

async function leave(service: Running, session: string, text: string): Promise<boolean> {
  const { status, body } = await ask(service, session, text, true);
  const reader = body!.getReader();
  await reader.read();
  await reader.cancel();
  return status === 200;
}

function askForTool(service: Running, session: string, text: string): Promise<boolean> {
  return askWhole(service, session, `${text}: look around`);
}

async function askOverSocket(
  { wsUrl }: Running,
  session: string,
  text: string,
): Promise<boolean> {
  const socket = new WireSocket(wsUrl);
  await socket.next("ready");
  socket.send({ type: "message", chat_id: session, content: text, client_msg_id: text });
  const { turn_id } = await socket.next("message_accepted");
  const { status } = await socket.next("turn_end", (frame) => frame.turn_id === turn_id);
  socket.cut();
  return status === "done";
}
