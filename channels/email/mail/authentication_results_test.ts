import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { parseAuthenticationResults, unauthenticatedReason } from "./authentication_results.ts";
import type { HeaderField } from "./header_fields.ts";
import { cpuMs } from "../../../tests/support/cpu_ms.ts";

const judge = (...values: string[]) => {
  const fields: HeaderField[] = values.map((value) => ({ name: "authentication-results", value }));
  return unauthenticatedReason(fields, { address: "alice@example.com", authservId: "mx.test" });
};
const passes = (...values: string[]) => assertEquals(judge(...values), undefined);
const fails = (...values: string[]) => assert(judge(...values) !== undefined, values.join(" | "));

Deno.test("unauthenticatedReason() lets pass what the named server vouches for", () => {
  passes("mx.test; dmarc=pass header.from=example.com");
  passes(
    "MX.Test 1; spf=fail smtp.mailfrom=x@other.org; dmarc=pass (p=NONE sp=NONE dis=NONE) header.from=Example.com",
  );
  passes("mx.test; dmarc=none; dkim=pass header.d=example.com header.b=abc=/+");
  passes("mx.test; dkim=pass header.i=@example.com header.s=s; spf=none");
  passes("mx.test; dkim=fail header.d=list.org; dkim=pass header.d=example.com");
  passes("mx.test; spf=pass smtp.mailfrom=bounce@example.com");
  passes("mx.test; spf=pass smtp.mailfrom=example.com");
  passes('"mx.test"; dmarc = pass header.from = "example.com"');
  // Those of others stand in many mails and say nothing.
  passes("other.test; dmarc=fail", "mx.test; dmarc=pass header.from=example.com");
  passes("dkim=none (message not signed) header.d=none;dmarc=none", "mx.test; dmarc=pass");
});

Deno.test("unauthenticatedReason() refuses what is missing, failed, of another domain or forged", () => {
  assertStringIncludes(judge()!, "no Authentication-Results of mx.test");
  fails("other.test; dmarc=pass header.from=example.com");
  fails("mx.test; none");
  fails("mx.test");
  assertStringIncludes(
    judge("mx.test; dmarc=fail header.from=example.com; dkim=pass header.d=example.com")!,
    "dmarc=fail",
  );
  fails("mx.test; dmarc=pass header.from=other.org");
  fails("mx.test; dmarc=pass header.from=example.com; dmarc=fail header.from=example.com");
  fails("mx.test; dkim=pass header.d=example.com.evil.org");
  fails("mx.test; dkim=pass header.d=evil.org header.i=@example.com");
  fails("mx.test; dkim=pass");
  fails("mx.test; spf=pass smtp.mailfrom=x@evil.org");
  fails("mx.test; spf=pass smtp.helo=example.com");
  fails("mx.test; dkim=softfail header.d=example.com");
  // Two of one server: one of them is forged.
  fails("mx.test; dmarc=pass", "mx.test; dmarc=pass");
  fails("mx.test; dmarc=fail", "mx.test; dmarc=pass");
  fails("mx.test; (((; dmarc=pass", "mx.test; dmarc=pass");
});

Deno.test("unauthenticatedReason() takes nothing out of comments and quotes", () => {
  fails("mx.test; spf=none (dmarc=pass header.from=example.com)");
  fails("mx.test; spf=none (a (nested; dmarc=pass) comment; dmarc=pass)");
  fails('mx.test; spf=fail smtp.mailfrom="x; dmarc=pass header.from=example.com"@evil.org');
  fails('mx.test; spf=fail reason="\\"; dmarc=pass"');
  fails("mx.test; spf=fail (\\); dmarc=pass)");
  fails("evil.org (mx.test); dmarc=pass");
  fails("mx.test.evil.org; dmarc=pass");
  fails("evil.org mx.test; dmarc=pass");
});

Deno.test("parseAuthenticationResults() reads any text in little time, and never throws", () => {
  fc.assert(fc.property(fc.string(), (text) => {
    parseAuthenticationResults(text);
    parseAuthenticationResults(`mx.test; ${text}`);
  }));
  for (const nasty of ["(", '"', "a=", 'a="', ";", "\\"]) {
    const before = cpuMs();
    parseAuthenticationResults(`mx.test; ${nasty.repeat(8_000)}`);
    assert(cpuMs() - before < 1_000, nasty);
  }
});
