import { assert } from "@std/assert";
import { makeHome } from "./support/home.ts";
import { needs } from "./support/needs.ts";
import { openTerminal } from "./support/terminal.ts";

Deno.test({
  ...needs(
    "a line that was typed ahead does not approve an action at the terminal",
    "Linux",
    "tmux",
  ),
  async fn() {
    await using home = await makeHome();
    const outside = `${home.dir}/outside.txt`;
    const call = `/tool write_file ${JSON.stringify({ path: outside, content: "x" })}`;
    await using terminal = await openTerminal(home, ["agent"], { rows: 50 });
    await terminal.shows("/help for help");
    await terminal.type(`${call}\r1\ra\r`);
    await terminal.shows(`fs.write of ${outside}`);
    await terminal.shows("queued: a");
    await terminal.press("C-c");
    await terminal.shows("the approval is void");
    await terminal.press("C-c");
    await terminal.exit();
    assert(!await Deno.stat(outside).then(() => true, () => false), await terminal.screen());
  },
});
