import { assertEquals, assertStringIncludes } from "@std/assert";
import { unzipSync } from "fflate";
import { makeWindowsArchive } from "./windows_archive.ts";

Deno.test("makeWindowsArchive() packs Deno, the built form and a script that starts them", async () => {
  const dir = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${dir}/built/cli`, { recursive: true });
    await Deno.writeTextFile(`${dir}/built/cli/main.js`, "main");
    await Deno.writeTextFile(`${dir}/built/service`, "#!/bin/sh\n");
    await Deno.writeTextFile(`${dir}/deno.exe`, "deno");
    const parts = { built: `${dir}/built`, deno: `${dir}/deno.exe`, level: 1 } as const;
    await makeWindowsArchive(`${dir}/a.zip`, parts);
    const files = unzipSync(await Deno.readFile(`${dir}/a.zip`));
    const text = (name: string) => new TextDecoder().decode(files[`service/${name}`]);
    assertEquals(Object.keys(files).sort(), [
      "service/cli/main.js",
      "service/deno.exe",
      "service/service.cmd",
    ]);
    assertEquals([text("cli/main.js"), text("deno.exe")], ["main", "deno"]);
    // By its own folder, so that it starts from any other one.
    assertStringIncludes(text("service.cmd"), '"%~dp0deno.exe" run -q --no-prompt');
    assertStringIncludes(text("service.cmd"), '--config "%~dp0deno.json"');
    assertEquals(/[^\r]\n/.test(text("service.cmd")), false);

    await makeWindowsArchive(`${dir}/b.zip`, parts);
    assertEquals(await Deno.readFile(`${dir}/b.zip`), await Deno.readFile(`${dir}/a.zip`));
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
