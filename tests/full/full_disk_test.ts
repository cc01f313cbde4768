/** What the service does while its disk is full, and afterwards. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome } from "../support/home.ts";
import { fillDisk, mountNeeds, mountSmallDisk } from "../support/mounts.ts";
import { needs } from "../support/needs.ts";

const MIB = 1024 * 1024;

/** A home on a disk of 32 MiB of its own. */
async function homeOnDisk(config: unknown) {
  const home = await makeHome();
  const folder = `${home.dir}/home`;
  await Deno.mkdir(folder);
  const disk = mountSmallDisk(folder, "32m");
  await home.configure(config);
  return {
    home,
    fill: (leaveBytes = 0) => fillDisk(folder, leaveBytes),
    async [Symbol.asyncDispose]() {
      disk[Symbol.dispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

async function post(url: string, body: unknown) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

const ask = (apiUrl: string, content: string) =>
  post(`${apiUrl}/v1/chat/completions`, {
    messages: [{ role: "user", content }],
    session_id: "s",
  });

/** GET /ready, once it answers so: what it found may be a quarter second old. */
async function readyWith(apiUrl: string, status: number) {
  for (;;) {
    const response = await fetch(`${apiUrl}/ready`);
    const { checks } = await response.json();
    if (response.status === status) return { checks };
  }
}

Deno.test(
  needs("too little free space refuses new work, and says so", ...mountNeeds()),
  async () => {
    await using disk = await homeOnDisk({ storage: { minFreeMiB: 8 } });
    await using service = await disk.home.start();
    const { apiUrl } = service;
    await readyWith(apiUrl, 200);
    {
      using _full = disk.fill(4 * MIB);
      const { checks } = await readyWith(apiUrl, 503);
      assertEquals([checks.storage.ok, checks.journal.ok, checks.audit.ok], [false, true, true]);
      const refused = await ask(apiUrl, "hi");
      assertEquals([refused.status, refused.body.error.code], [507, "storage_full"]);
      assertStringIncludes(refused.body.error.message, "Not enough free disk space");
    }
    await readyWith(apiUrl, 200);
    assertEquals((await ask(apiUrl, "hi")).status, 200);
  },
);

Deno.test(needs("GET /ready writes to journal and audit", ...mountNeeds()), async () => {
  await using disk = await homeOnDisk({ storage: { minFreeMiB: 0 } });
  await using service = await disk.home.start();
  {
    using _full = disk.fill();
    const { checks } = await readyWith(service.apiUrl, 503);
    assertEquals([checks.journal.ok, checks.audit.ok], [false, false]);
    assertStringIncludes(checks.journal.detail, "full");
  }
  await readyWith(service.apiUrl, 200);
});

Deno.test(
  needs("a turn with tools that a full disk cut off ends before the next one", ...mountNeeds()),
  async () => {
    const hold = Promise.withResolvers<void>();
    await using model = startModelServer({
      script: async ({ index }) => {
        if (index === 0) return { calls: [{ tool: "list_files", args: { path: "." } }] };
        if (index > 1) return { text: "the second" };
        await hold.promise;
        return { text: "the first" };
      },
    });
    await using disk = await homeOnDisk({
      storage: { minFreeMiB: 0 },
      agent: { model: "local/fake" },
      providers: { local: { baseUrl: model.baseUrl } },
    });
    let id = "";
    {
      await using service = await disk.home.start();
      const { apiUrl } = service;
      const create = (input: string) =>
        post(`${apiUrl}/v1/responses`, { input, background: true, session_id: "s" });
      ({ id } = (await create("one")).body);
      await model.request(1);
      {
        using _full = disk.fill();
        hold.resolve();
        // Twice: it is tried again once.
        while (service.log().split("The end of a turn could not be recorded").length < 3) {
          await new Promise((done) => setTimeout(done, 10));
        }
      }
      const second = (await create("two")).body.id;
      await (await fetch(`${apiUrl}/v1/responses/${second}?stream=true`)).text();
      const statuses = await Promise.all(
        [id, second].map(async (each) =>
          (await (await fetch(`${apiUrl}/v1/responses/${each}`)).json()).status
        ),
      );
      assertEquals(statuses, ["failed", "completed"]);
      assertEquals(await service.stop(), 0, service.log());
    }
    await using service = await disk.home.start();
    await readyWith(service.apiUrl, 200);
    assertEquals(model.requests.length, 3, "the first turn ran again");
  },
);

Deno.test(
  needs("a stop ends in time while the disk is full, and keeps what runs", ...mountNeeds()),
  async () => {
    let isAnswering = false;
    await using model = startModelServer({
      script: () => isAnswering ? { text: "done" } : { hang: "headers" },
    });
    await using disk = await homeOnDisk({
      storage: { minFreeMiB: 0 },
      agent: { model: "local/fake", drainTimeoutS: 0 },
      providers: { local: { baseUrl: model.baseUrl } },
    });
    let id = "";
    {
      await using service = await disk.home.start();
      ({ id } =
        (await post(`${service.apiUrl}/v1/responses`, { input: "hi", background: true })).body);
      await (await model.request(0)).hanging;
      using _full = disk.fill();
      assertEquals(await service.stop(), 0, service.log());
    }
    isAnswering = true;
    await using service = await disk.home.start();
    const text = await (await fetch(`${service.apiUrl}/v1/responses/${id}?stream=true`)).text();
    assert(text.includes("response.completed"), text);
  },
);
