/**
 * Tries the sandbox of commands out once in a process, for tests that are about something else.
 *
 * @module
 */

import { type SandboxReport, type SelfTestDeps, testSandbox } from "../test_sandbox.ts";

let shown: SandboxReport | undefined;

/** `testSandbox()` until it holds; what it has shown then, it shows to everybody. */
export async function testOnce(deps: SelfTestDeps): Promise<SandboxReport> {
  const report = shown ?? await testSandbox(deps);
  if (report.ok) shown = report;
  return report;
}
