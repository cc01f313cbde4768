// deno-lint-ignore-file no-console -- a program whose output is what it is for
/** The baseline: a bare `Deno.serve` that passes requests on to the URL in its argument. */

const target = new URL(Deno.args[0]!).origin;

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(`http://127.0.0.1:${port}/v1`),
}, (request) => {
  const { pathname } = new URL(request.url);
  return fetch(target + pathname, {
    method: request.method,
    headers: request.headers,
    body: request.body,
  });
});
