import { assertEquals, assertStringIncludes } from "@std/assert";
import { makeCertificate } from "../support/certificate.ts";
import { freePort } from "../support/free_port.ts";
import { makeHome } from "../support/home.ts";
import { needs, programPath } from "../support/needs.ts";
import { WireSocket } from "../support/wire_socket.ts";

/** What a careful configuration says in a location; without it nginx looks like a local client. */
const FORWARDED = `
          proxy_http_version 1.1;
          proxy_set_header Host $http_host;
          proxy_set_header Upgrade $http_upgrade;
          proxy_set_header Connection "upgrade";
          proxy_set_header X-Forwarded-For $remote_addr;`;

/** nginx with TLS on localhost, in front of a port. Started by root, its workers have the uid of \`user\`. */
async function startNginx(
  dir: string,
  port: number,
  target: string,
  { user = "", headers = FORWARDED } = {},
) {
  const config = `
    daemon off;
    ${user}
    pid ${dir}/nginx.pid;
    error_log ${dir}/error.log;
    worker_processes 1;
    events { worker_connections 64; }
    http {
      access_log ${dir}/access.log;
      client_body_temp_path ${dir}/body;
      proxy_temp_path ${dir}/proxy;
      fastcgi_temp_path ${dir}/fastcgi;
      uwsgi_temp_path ${dir}/uwsgi;
      scgi_temp_path ${dir}/scgi;
      server {
        listen 127.0.0.1:${port} ssl;
        ssl_certificate ${dir}/cert.pem;
        ssl_certificate_key ${dir}/key.pem;
        location / {
          proxy_pass http://${target};${headers}
          proxy_read_timeout 60s;
        }
      }
    }`;
  await Deno.writeTextFile(`${dir}/nginx.conf`, config);
  const child = new Deno.Command(programPath("nginx"), {
    args: ["-c", `${dir}/nginx.conf`],
    stdout: "null",
    stderr: "null",
  }).spawn();
  for (;;) {
    try {
      (await Deno.connect({ port, hostname: "127.0.0.1" })).close();
      break;
    } catch {
      const wait = new Promise<undefined>((resolve) => setTimeout(resolve, 20, undefined));
      const ended = await Promise.race([child.status, wait]);
      if (ended) throw new Error(await Deno.readTextFile(`${dir}/error.log`));
    }
  }
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await child.status;
    },
  };
}

Deno.test({
  ...needs(
    "nginx with TLS and publicWsUrl in front: bootstrap names the public address, and a chat works",
    "nginx",
    "openssl",
  ),
  async fn() {
    await using home = await makeHome();
    const port = freePort();
    const publicWsUrl = `wss://localhost:${port}/`;
    const secret = "a-secret-of-the-port";
    await home.configure({ channels: { websocket: { publicWsUrl, tokenIssueSecret: secret } } });
    await using gateway = await home.start(["gateway", "--json"]);
    const { ca } = await makeCertificate(home.dir);
    await using _nginx = await startNginx(home.dir, port, new URL(gateway.wsUrl).host);

    using client = Deno.createHttpClient({ caCerts: [ca] });
    const ask = (headers: HeadersInit) =>
      fetch(`https://localhost:${port}/webui/bootstrap`, { client, headers });
    const without = await ask({});
    assertEquals(without.status, 401);
    await without.body?.cancel();
    const access = await (await ask({ authorization: `Bearer ${secret}` })).json();
    assertEquals(access.ws_url, publicWsUrl);

    using socket = new WireSocket(access.ws_url, access.token, {
      ca,
      origin: `https://localhost:${port}`,
    });
    const { chat_id } = await socket.next("ready");
    socket.send({ type: "message", chat_id, content: "hi" });
    assertEquals((await socket.next("turn_end")).status, "done");

    using foreign = new WireSocket(access.ws_url, access.token, {
      ca,
      origin: "https://evil.example",
    });
    assertEquals((await foreign.closed).code, 1006);
    // Neither log holds a token.
    assertEquals(gateway.log().includes(access.token), false);
  },
});

Deno.test({
  ...needs(
    "a proxy of another user that names nobody gets no token for whoever asks it, and is told what to set",
    "nginx",
    "openssl",
    "Linux",
    "root",
  ),
  async fn() {
    await using home = await makeHome({ channels: { websocket: {} } });
    await using gateway = await home.start(["gateway", "--json"]);
    const { ca } = await makeCertificate(home.dir);
    const port = freePort();
    await using _nginx = await startNginx(home.dir, port, new URL(gateway.wsUrl).host, {
      user: "user nobody nogroup;",
      headers: "",
    });
    using client = Deno.createHttpClient({ caCerts: [ca] });
    const response = await fetch(`https://localhost:${port}/webui/bootstrap`, { client });
    const { error } = await response.json();
    assertEquals([response.status, error.code], [403, "forbidden_user"]);
    assertStringIncludes(error.message, "channels.websocket.tokenIssueSecret");
    assertStringIncludes(error.message, "uid 65534");
  },
});
