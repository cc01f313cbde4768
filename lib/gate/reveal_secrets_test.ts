import { assertEquals, assertThrows } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import type { UrlTarget } from "../contract/actions.ts";
import { withSecretHeaders } from "./reveal_secrets.ts";

const TARGET: UrlTarget = {
  kind: "url",
  url: "https://a.example/",
  host: "a.example",
  port: 443,
  addresses: [],
  headers: { authorization: "Bearer ${secret:A}", "x-plain": "as it is" },
};

Deno.test("withSecretHeaders() fills in what was allowed, and nothing goes out for the rest", () => {
  const { headers } = withSecretHeaders(TARGET, new Map([["A", "value-of-${secret:B}"]]));
  assertEquals(headers, {
    authorization: "Bearer value-of-${secret:B}",
    "x-plain": "as it is",
  });
  const error = assertThrows(
    () => withSecretHeaders(TARGET, new Map([["B", "another-value"]])),
    ServiceError,
    "headers.authorization: A was not allowed for this host",
  );
  assertEquals(error.code, "refused");
});
