/**
 * The tool `exec`. It has no child side: the gate runs an allowed command in a sandbox of its own
 * (`lib/gate/run_command.ts`).
 *
 * @module
 */

import { z } from "zod";
import { parseHostPattern } from "../base/host_pattern.ts";
import { SECRET_NAME_FORM, WHOLE_SECRET_NAME } from "../secrets/secret_name.ts";
import { path } from "./fields.ts";
import { defineTool } from "../contract/tool.ts";

/** Characters of one text, and of all parts of a command together: what a system takes in one part. */
const MAX_COMMAND_CHARS = 100_000;
const MAX_PARTS = 1_000;
const MAX_TIMEOUT_S = 600;
/** For the sandbox to be set up and taken down. */
const MARGIN_MS = 30_000;

/** Hosts and secrets that one command may name. */
const MAX_HOSTS = 20;
const MAX_SECRETS = 20;

const part = z.string().max(MAX_COMMAND_CHARS)
  .refine((text) => !text.includes("\0"), "holds a NUL")
  .refine((text) => text.isWellFormed(), "holds half of a character (a lone surrogate)");

const schema = z.strictObject({
  command: z.union([
    part.refine((text) => text.trim() !== "", "is blank"),
    z.array(part).min(1).max(MAX_PARTS)
      .refine((parts) => parts[0] !== "", "names no program")
      .refine(
        (parts) => parts.reduce((sum, { length }) => sum + length, 0) <= MAX_COMMAND_CHARS,
        `is longer than ${MAX_COMMAND_CHARS} characters`,
      ),
  ]).describe("A text for /bin/sh, or a list of a program and its arguments, run without a shell."),
  cwd: path.default(".").describe("Folder to run in, in the workspace."),
  timeout_s: z.number().min(1).max(MAX_TIMEOUT_S).default(120)
    .describe("Seconds after which it is ended with everything that it started."),
  hosts: z.array(
    z.string().max(300).refine(
      isPlainHost,
      "is not <host> or <host>:<port>, such as registry.npmjs.org",
    ),
  )
    .max(MAX_HOSTS).optional()
    .describe(
      "Hosts that it has to reach, such as registry.npmjs.org; without a port 80 and 443. It " +
        "reaches no others. HTTP_PROXY and HTTPS_PROXY are set; the names lead there without them " +
        "too. May need a person's word.",
    ),
  secrets: z.array(
    z.string().regex(WHOLE_SECRET_NAME, `is no secret's name; expected ${SECRET_NAME_FORM}`),
  )
    .max(MAX_SECRETS).refine((names) => new Set(names).size === names.length, "names one twice")
    .optional()
    .describe(
      "Names of secrets that it gets as environment variables of the same names. Their values " +
        "are never shown. May need a person's word.",
    ),
});

function isPlainHost(text: string): boolean {
  const pattern = parseHostPattern(text);
  return pattern !== undefined && pattern.ending === undefined;
}

/** Arguments of {@linkcode exec}. */
export type ExecArgs = z.infer<typeof schema>;

/** Runs a command in the sandbox. */
export const exec = defineTool({
  name: "exec",
  description: "Runs a command in a sandbox: it can read and write the workspace, read the " +
    "system's programs, and reaches no network but the hosts that it names. Files with keys, .git/hooks, .git/config, .envrc " +
    "and AGENTS.md stay as they are. Standard output and errors come back together, with the exit " +
    "code in the last line. Nothing that it starts outlives it.",
  capability: "exec",
  readOnly: false,
  schema,
  touches: ({ command, cwd, hosts }) => ({
    kind: "command",
    command,
    cwd,
    ...hosts === undefined ? {} : { hosts },
  }),
  secrets: ({ secrets = [] }) => secrets,
  hint: ({ command }) => `exec ${typeof command === "string" ? command : command.join(" ")}`,
  timeoutMs: MAX_TIMEOUT_S * 1_000 + MARGIN_MS,
});
