/**
 * Runs an accepted turn with what is in force when it begins: its bounds, its tools, its system prompt.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Config } from "../config/schema.ts";
import type { ActionPort } from "../contract/actions.ts";
import type { Journal } from "../contract/journal.ts";
import { Life, type LifeLimits } from "../contract/life.ts";
import type { MediaStore } from "../media/types.ts";
import type { AcceptedTurn } from "./accepted_turn.ts";
import { ImageRoom } from "./image_room.ts";
import { keepTrace, traced } from "../telemetry/trace.ts";
import { systemPrompt } from "./prompt.ts";
import { TokenScale } from "./token_scale.ts";
import { type AgentTool, Toolbox } from "./toolbox.ts";
import { type Ending, runTurn, type TurnPorts, unrun } from "./turn.ts";
import type { TurnMarks } from "./turn_marks.ts";
import { failure } from "./verdicts.ts";

/** Bytes of images that are loaded for models at the same time. */
const MAX_LOADED_IMAGE_BYTES = 128 * 1024 * 1024;
/** Tokens left for an answer when `agent.maxOutputTokens` does not say. */
const RESERVE_TOKENS = 4_096;
/** Characters of AGENTS.md at most, and by token of the context. */
const AGENTS_FILE_CHARS = 32_000;
const AGENTS_FILE_CHARS_PER_TOKEN = 0.75;

/** What turns run with. */
export interface TurnRunnerDeps {
  journal: Journal;
  media: Pick<MediaStore, "read">;
  actions: ActionPort;
  tools: readonly AgentTool[];
  /**
   * Tools that come and go, asked for at the begin of each turn, which keeps what it was told. Takes a
   * bounded time; a turn goes on without them when it rejects. Absent: none.
   */
  moreTools?: () => Promise<readonly AgentTool[]>;
  /** The configuration in force; read at each start of a turn. */
  config: () => Pick<Config, "agent">;
  /** Text of AGENTS.md of a project or, without one, of the workspace; empty for none. */
  instructions: (folder?: string) => Promise<string>;
  log: Log;
  clock: Clock;
  /** Bytes of images that are loaded at the same time; fewer in tests. */
  maxLoadedImageBytes?: number;
}

/** Runs turns, any number beside each other. */
export class TurnRunner {
  readonly #deps: TurnRunnerDeps;
  readonly #marks: Pick<TurnMarks, "start">;
  readonly #ports: TurnPorts;
  readonly #toolbox: Toolbox;
  /** The last one with tools that come and go; the same list of them has the same. */
  #wider: { more: readonly AgentTool[]; toolbox: Toolbox } | undefined;

  constructor(deps: TurnRunnerDeps, marks: Pick<TurnMarks, "start">) {
    this.#deps = deps;
    this.#marks = marks;
    const { journal, media, actions, clock, log } = deps;
    const imageRoom = new ImageRoom(deps.maxLoadedImageBytes ?? MAX_LOADED_IMAGE_BYTES);
    this.#ports = { journal, media, imageRoom, actions, scale: new TokenScale(), clock, log };
    this.#toolbox = new Toolbox(deps.tools);
  }

  /** How long something that begins now may take; `timeoutMs` as its caller said. */
  limits(timeoutMs = Infinity): LifeLimits {
    const { turnTimeoutS, stallTimeoutS } = this.#deps.config().agent;
    return { timeoutMs: Math.min(timeoutMs, turnTimeoutS * 1000), stallMs: stallTimeoutS * 1000 };
  }

  /** Runs it, from its start up to but without its end. Never rejects. */
  async run(own: AcceptedTurn): Promise<Ending> {
    const life = own.life = new Life(this.#deps.clock, this.limits(own.timeoutMs));
    const { id, channel } = own.turn;
    const attributes = {
      "gen_ai.operation.name": "invoke_agent",
      "service.turn.id": id,
      "service.channel": channel,
    };
    return await traced("invoke_agent", { attributes, parent: own.trace }, async (span) => {
      keepTrace(id);
      try {
        const ending = await this.#attempt(own, life);
        if (ending.verdict !== undefined) span.fail(ending.verdict.status);
        return ending;
      } catch (error) {
        const verdict = life.verdict ?? failure(error);
        span.fail(verdict.status);
        return unrun(verdict);
      } finally {
        life.close();
      }
    });
  }

  async #attempt(own: AcceptedTurn, life: Life): Promise<Ending> {
    const { agent } = this.#deps.config();
    const { turn, model, notice } = own;
    const folder = this.#deps.journal.session(turn.sessionKey)?.folder;
    const contextTokens = Math.min(agent.contextTokens, model.contextTokens);
    // Read while the start is being committed.
    const agentsFile = this.#readAgentsFile(folder);
    const toolbox = this.#openToolbox();
    await life.wait(this.#marks.start(own));
    return await runTurn(this.#ports, {
      turn,
      folder,
      model,
      notice,
      life,
      toolbox: await life.wait(toolbox),
      presence: own,
      system: async () =>
        systemPrompt({
          instructions: agent.instructions,
          folder,
          agentsFile: await agentsFile,
          maxAgentsFileChars: Math.min(
            AGENTS_FILE_CHARS,
            Math.floor(contextTokens * AGENTS_FILE_CHARS_PER_TOKEN),
          ),
          unattended: turn.automation !== undefined,
          nowMs: this.#deps.clock.now(),
        }),
      maxSteps: Math.min(agent.maxSteps, turn.automation?.maxSteps ?? Infinity),
      contextTokens,
      reserveTokens: agent.maxOutputTokens ?? RESERVE_TOKENS,
    });
  }

  async #readAgentsFile(folder: string | undefined): Promise<string> {
    try {
      return await this.#deps.instructions(folder);
    } catch (error) {
      this.#deps.log.warning(
        "Cannot read the workspace's AGENTS.md; the turn goes on without it",
        { reason: String(error) },
      );
      return "";
    }
  }

  /** The tools of one turn. */
  async #openToolbox(): Promise<Toolbox> {
    const { tools, moreTools, log } = this.#deps;
    try {
      const more = await moreTools?.() ?? [];
      if (more.length === 0) return this.#toolbox;
      if (this.#wider?.more !== more) {
        this.#wider = { more, toolbox: new Toolbox([...tools, ...more]) };
      }
      return this.#wider.toolbox;
    } catch (error) {
      log.warning("The tools of other servers cannot be had; the turn goes on without them", {
        reason: String(error),
      });
      return this.#toolbox;
    }
  }
}
