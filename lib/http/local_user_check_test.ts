import { assertEquals, assertRejects } from "@std/assert";
import type { LocalConnection, LocalUser } from "../authority/local_users.ts";
import { ServiceError } from "../base/errors.ts";
import { LocalUserCheck } from "./local_user_check.ts";

const SOCKET = {
  remoteAddress: "127.0.0.1",
  remotePort: 40_000,
  localAddress: "127.0.0.1",
  localPort: 8_900,
};

/** A check over these answers, one a question. */
function checkOf(...answers: LocalUser[]) {
  const asked: LocalConnection[] = [];
  const check = new LocalUserCheck((connection) => {
    asked.push(connection);
    return Promise.resolve(answers.shift()!);
  });
  return { check, asked };
}

Deno.test("require() asks once a connection, however many requests it brings", async () => {
  const { check, asked } = checkOf({ isTrusted: true }, { isTrusted: true });
  await Promise.all([check.require(SOCKET, "a.key"), check.require(SOCKET, "a.key")]);
  await check.require(SOCKET, "a.key");
  assertEquals(asked, [{
    remote: { address: "127.0.0.1", port: 40_000 },
    local: { address: "127.0.0.1", port: 8_900 },
  }]);
  await check.require({ ...SOCKET }, "a.key");
  assertEquals(asked.length, 2);
});

Deno.test("require() refuses another user for good, and names what would let it in", async () => {
  const { check, asked } = checkOf({ isTrusted: false, uid: 33, reason: "belongs to uid 33" });
  for (let time = 0; time < 2; time++) {
    const error = await assertRejects(() => check.require(SOCKET, "a.key"), ServiceError);
    assertEquals([error.code, error.message], [
      "forbidden_user",
      "Without a.key, only connections of the service's own user are let in, and this one belongs " +
      "to uid 33. Set a.key and send it, or list uid 33 in gates.trustedUids",
    ]);
  }
  assertEquals(asked.length, 1);
});

Deno.test("require() asks again where nobody could tell, and lets nobody in without a connection", async () => {
  const { check, asked } = checkOf({ isTrusted: false, reason: "?" }, { isTrusted: true });
  await assertRejects(() => check.require(SOCKET, "a.key"), ServiceError);
  await check.require(SOCKET, "a.key");
  assertEquals(asked.length, 2);
  await assertRejects(() => check.require(undefined, "a.key"), ServiceError);
  const gone = { ...SOCKET, remoteAddress: undefined };
  await assertRejects(() => check.require(gone, "a.key"), ServiceError);
  assertEquals(asked.length, 2);
});
