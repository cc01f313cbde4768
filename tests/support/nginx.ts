/**
 * A real nginx before the service.
 *
 * @module
 */

import { programPath } from "./needs.ts";

/** What a careful configuration says in a location; without it nginx looks like a local client. */
export const FORWARDED = `
          proxy_http_version 1.1;
          proxy_set_header Host $http_host;
          proxy_set_header Upgrade $http_upgrade;
          proxy_set_header Connection "upgrade";
          proxy_set_header X-Forwarded-For $remote_addr;`;

/**
 * nginx with TLS on localhost, in front of a port, with the certificate that `makeCertificate` made in the
 * folder. Started by root, its workers have the uid of `user`. `before` stands before the server,
 * `locations` in it.
 */
export async function startNginx(
  dir: string,
  port: number,
  target: string,
  { user = "", headers = FORWARDED, before = "", locations = "" } = {},
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
      ${before}
      server {
        listen 127.0.0.1:${port} ssl;
        ssl_certificate ${dir}/cert.pem;
        ssl_certificate_key ${dir}/key.pem;
        ${locations}
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
