/**
 * A process that changes a setting and then waits to be killed; for tests. Says on standard output when
 * it has written the file.
 *
 * @module
 */

import { resolvePaths } from "../../config/paths.ts";
import { upkeepFixture } from "./upkeep_fixture.ts";

const [root, steps] = Deno.args as [string, string];
const env = (name: string) => ({ SERVICE_HOME: `${root}/home` })[name];
const paths = resolvePaths({ env, homeDir: root, cwd: () => root });
const fixture = await upkeepFixture({
  home: {
    root,
    paths,
    env,
    write: (config) => Deno.writeTextFile(paths.configFile, JSON.stringify(config)),
    read: () => Deno.readTextFile(paths.configFile),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  },
});
await fixture.ask({
  op: "settings.change",
  changes: [{ path: "agent.maxSteps", value: Number(steps) }],
});
Deno.stdout.writeSync(new TextEncoder().encode("written\n"));
await new Promise(() => {});
