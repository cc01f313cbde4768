// deno-lint-ignore-file no-console -- a script for people to read and to run
/**
 * One question over the WebSocket port, without any library:
 *
 *     deno run --allow-net --allow-env docs/examples/ask.ts "What can you do?"
 *
 * It works as it stands against `service gateway` on this machine. SERVICE_URL names another address,
 * SERVICE_SECRET the secret of a port that has one (`tokenIssueSecret`, or `token`).
 */

const base = new URL(Deno.env.get("SERVICE_URL") ?? "http://127.0.0.1:8765/");
const secret = Deno.env.get("SERVICE_SECRET");
const question = Deno.args.join(" ") || "What can you do?";

// A token for one connection, and where to connect to.
const headers: HeadersInit = secret === undefined ? {} : { authorization: `Bearer ${secret}` };
const response = await fetch(new URL("/webui/bootstrap", base), { headers });
const access = await response.json();
if (!response.ok) {
  console.error(access.error.message);
  Deno.exit(1);
}

const socket = new WebSocket(access.ws_url, ["service.v1", `service.token.${access.token}`]);
socket.onmessage = ({ data }) => {
  const frame = JSON.parse(data);
  switch (frame.event) {
    case "ready": {
      const id = crypto.randomUUID();
      const message = { type: "message", chat_id: frame.chat_id, content: question };
      socket.send(JSON.stringify({ ...message, client_msg_id: id }));
      break;
    }
    case "delta":
      Deno.stdout.writeSync(new TextEncoder().encode(frame.text));
      break;
    case "progress":
      console.error(`· ${frame.text}`);
      break;
    case "message":
      // Whole, where the port does not stream. The answer to a command, such as /help, is no turn.
      console.log(frame.text);
      if (frame.client_msg_id !== undefined) Deno.exit(0);
      break;
    case "error":
      console.error(frame.detail);
      // The message was refused; a turn that fails has an end of its own.
      if (frame.turn_id === undefined) Deno.exit(1);
      break;
    case "turn_end":
      console.log();
      Deno.exit(frame.status === "done" ? 0 : 1);
  }
};
socket.onclose = ({ code, reason }) => {
  console.error(`The connection ended (${code}) ${reason}`);
  Deno.exit(1);
};
