/**
 * A terminal that a test types at and looks at: a pane of a tmux server of its own.
 *
 * @module
 */

import { programArgs, type TestHome } from "./home.ts";
import { programPath } from "./needs.ts";
import { until as untilTrue } from "./process_facts.ts";

/** How a terminal is opened. */
export interface TerminalOptions {
  columns?: number;
  rows?: number;
  /** Beside those of the home. */
  env?: Record<string, string>;
  /** Folder in which it is started; that of the home by default. */
  cwd?: string;
  /** What the shell puts behind the program, such as ` | cat` or `>&-`. */
  redirect?: string;
}

/** An open terminal. */
export interface Terminal extends AsyncDisposable {
  /** Types a text as it is. */
  type(text: string): Promise<void>;
  /** Pastes a text, as a terminal marks it for a program that wants to know. */
  paste(text: string): Promise<void>;
  /** Presses keys by their names in tmux, such as `Enter` and `C-c`. */
  press(...keys: string[]): Promise<void>;
  /** Types a line, and Enter. */
  say(text: string): Promise<void>;
  /** All that was shown, with what has scrolled away; `colors` with the sequences of colours. */
  screen(options?: { colors?: boolean }): Promise<string>;
  /** Waits until the edited line, with what is below it, is like that. Rejects with the screen. */
  edits(wanted: RegExp): Promise<void>;
  /** Waits until something is shown. Rejects with the screen when it does not come. */
  shows(wanted: string | RegExp): Promise<string>;
  resize(columns: number, rows: number): Promise<void>;
  /** Waits until the program has ended; its exit code. */
  exit(): Promise<number>;
}

const LOOK_MS = 50;
const PATIENCE_MS = 40_000;

/** Starts the program at a terminal. */
export async function openTerminal(
  home: TestHome,
  args: string[],
  { columns = 80, rows = 30, env = {}, cwd = home.dir, redirect = "" }: TerminalOptions = {},
): Promise<Terminal> {
  const tmux = programPath("tmux");
  const socket = `${home.dir}/tmux-${crypto.randomUUID().slice(0, 8)}`;
  async function run(...args: string[]): Promise<string> {
    const { success, stdout, stderr } = await new Deno.Command(tmux, {
      args: ["-S", socket, "-f", "/dev/null", ...args],
      env: { TERM: "xterm-256color", LC_ALL: "C.UTF-8" },
    }).output();
    if (!success) throw new Error(`tmux ${args[0]}: ${new TextDecoder().decode(stderr)}`);
    return new TextDecoder().decode(stdout);
  }
  const variables = {
    HOME: home.dir,
    SERVICE_HOME: `${home.dir}/home`,
    PATH: Deno.env.get("PATH") ?? "",
    DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
    LC_ALL: "C.UTF-8",
    ...env,
  };
  const words = [Deno.execPath(), ...programArgs(), ...args].map(quote).join(" ");
  const set = Object.entries(variables).map(([name, value]) => `${name}=${quote(value)}`).join(" ");
  // The pane stays when the program has ended, so that its last words can be read.
  const script = `cd ${quote(cwd)}; env -u NO_COLOR ${set} ${words} ${redirect}; ` +
    `echo "[exit $?]"; exec cat`;
  await run(
    ...["new-session", "-d", "-s", "m", "-x", String(columns), "-y", String(rows), script],
  );
  async function until(wanted: unknown, holds: (screen: string) => boolean): Promise<string> {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      const screen = await terminal.screen();
      if (holds(screen)) return screen;
      if (Date.now() > end) throw new Error(`Not shown: ${wanted}\n${screen}`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
  const terminal: Terminal = {
    type: async (text) => void await run("send-keys", "-t", "m", "-l", text),
    async paste(text) {
      await run("set-buffer", "-b", "pasted", text);
      await run("paste-buffer", "-p", "-r", "-b", "pasted", "-t", "m");
    },
    press: async (...keys) => void await run("send-keys", "-t", "m", ...keys),
    async say(text) {
      await terminal.type(text);
      await terminal.press("Enter");
    },
    screen: ({ colors = false } = {}) =>
      run("capture-pane", "-p", "-t", "m", "-S", "-", ...colors ? ["-e"] : []),
    async edits(wanted) {
      await until(wanted, (screen) => wanted.test(screen.slice(screen.lastIndexOf("\n> ") + 1)));
    },
    shows: (wanted) =>
      until(
        wanted,
        (screen) => typeof wanted === "string" ? screen.includes(wanted) : wanted.test(screen),
      ),
    resize: async (columns, rows) =>
      void await run("resize-window", "-t", "m", "-x", String(columns), "-y", String(rows)),
    async exit() {
      const screen = await terminal.shows(/^\[exit \d+\]$/m);
      return Number(/^\[exit (\d+)\]$/m.exec(screen)![1]);
    },
    async [Symbol.asyncDispose]() {
      const pane = await run("display-message", "-p", "-t", "m", "#{pane_pid}").catch(() => "");
      await run("kill-server").catch(() => {});
      // What ran there leaves in order, and writes into the home until then.
      if (pane !== "") await untilTrue(() => !isInSession(Number(pane)));
    },
  };
  return terminal;
}

/** Whether a process of that session runs. */
function isInSession(session: number): boolean {
  return [...Deno.readDirSync("/proc")].some(({ name }) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const stat = Deno.readTextFileSync(`/proc/${name}/stat`);
      const [state, , , sid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return state !== "Z" && Number(sid) === session;
    } catch {
      return false;
    }
  });
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
