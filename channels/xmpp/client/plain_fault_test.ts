import { assertEquals, assertStrictEquals } from "@std/assert";
import { plainFault } from "./plain_fault.ts";

Deno.test("plainFault() says what happened to a connection, and leaves other errors as they are", () => {
  const cut = new Deno.errors.UnexpectedEof(
    "peer closed connection without sending TLS close_notify: https://docs.rs/rustls/latest/rustls/" +
      "manual/_03_howto/index.html#unexpected-eof",
  );
  assertEquals(plainFault(cut).message, "the server has cut the connection off");
  assertStrictEquals(plainFault(cut).cause, cut);
  const refused = new Deno.errors.ConnectionRefused("Connection refused (os error 111)");
  assertEquals(plainFault(refused).message, "Connection refused");
  const other = new Error("the server takes nothing any more");
  assertStrictEquals(plainFault(other), other);
});
