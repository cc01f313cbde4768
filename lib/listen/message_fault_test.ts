import { assertEquals, assertStringIncludes } from "@std/assert";
import { messageFault } from "./message_fault.ts";

const faultOf = (rawHeaders: string[], url = "/", httpVersion = "1.1") =>
  messageFault({ rawHeaders, url, httpVersion });

Deno.test("messageFault() finds none in a message that means one thing", () => {
  assertEquals(faultOf(["Host", "a"]), undefined);
  assertEquals(faultOf(["HOST", "a", "Transfer-Encoding", " Chunked "]), undefined);
  assertEquals(faultOf([], "/", "1.0"), undefined);
  assertEquals(faultOf(["Host", "a"], "/?url=http://b/"), undefined);
  assertEquals(faultOf(["Host", "A:80"], "HTTP://a/x"), undefined);
  assertEquals(faultOf(["Host", "a"], "*"), undefined);
});

Deno.test("messageFault() wants one Host, and none but HTTP/1.0 without", () => {
  assertStringIncludes(faultOf([])!, "no Host");
  assertStringIncludes(faultOf(["Host", "a", "host", "a"])!, "more than one Host");
  assertStringIncludes(faultOf(["Host", "a", "hOsT", "b"], "/", "1.0")!, "more than one Host");
});

Deno.test("messageFault() finds a target of another host than the header's", () => {
  for (const target of ["http://b/", "http://a@b/", "http://a:81/", "https://b", "x://b?a"]) {
    assertStringIncludes(faultOf(["Host", "a"], target)!, "different hosts", target);
  }
  assertStringIncludes(faultOf([], "http://b/", "1.0")!, "different hosts");
});

Deno.test("messageFault() takes no coding but chunked, and no other version", () => {
  for (const codings of [["gzip, chunked"], ["chunked", "gzip"], ["identity"], [""]]) {
    const headers = codings.flatMap((coding) => ["Transfer-Encoding", coding]);
    assertStringIncludes(faultOf(["Host", "a", ...headers])!, "Transfer-Encoding");
  }
  for (const version of ["0.9", "2.0"]) {
    assertStringIncludes(faultOf(["Host", "a"], "/", version)!, version);
  }
});
