import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { findTool } from "../tools/mod.ts";
import { decide } from "../policy/policy.ts";
import { checkArgs, resolveTouch, sealAction } from "./resolve_touch.ts";
import { CONTEXT, grantFor, POLICY } from "../authority/testing/policy_arbitraries.ts";

Deno.test("G3 resolveTouch() gives another target, so that no grant holds, when a link leads elsewhere", async () => {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    const workspace = `${root}/workspace`;
    await Deno.mkdir(workspace);
    for (const name of ["one", "two"]) await Deno.writeTextFile(`${root}/${name}`, name);
    const link = `${workspace}/link`;
    const tool = findTool("read_file")!;
    const resolve = async () => {
      const checked = checkArgs(tool, { path: "link" });
      assert("args" in checked);
      const place = { path: workspace, real: workspace };
      return sealAction(
        tool,
        checked.args,
        await resolveTouch(tool, checked.args, place, { from: CONTEXT }),
      );
    };
    await Deno.symlink(`${root}/one`, link);
    const before = await resolve();
    const alone = { ...CONTEXT, attended: false };
    const policy = { ...POLICY, workspace, grants: [grantFor(before, alone.sessionKey)] };
    assertEquals(decide(before, alone, policy).effect, "allow");

    await Deno.remove(link);
    await Deno.symlink(`${root}/two`, link);
    const after = await resolve();
    assertNotEquals(after.digest, before.digest);
    assertEquals(decide(after, alone, policy).rule, "unattended");

    await Deno.remove(link);
    const gone = await resolve();
    assertEquals(decide(gone, alone, policy).effect, "deny");
    await Deno.symlink(`${root}/one`, link);
    assertEquals(decide(await resolve(), alone, policy).effect, "allow");
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
