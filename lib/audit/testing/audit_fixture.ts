/**
 * An audit in a folder of its own, for tests.
 *
 * @module
 */

import { AUDIT_FILE, type AuditOptions, openAudit, type OwnedAudit } from "../log.ts";
import { closedName, listClosed } from "../files.ts";
import { findTrustedKeys } from "../trusted_keys.ts";
import { type AuditFinding, verifyAudit, type VerifyOptions } from "../verify.ts";

/** The folder, and what can be done in it. */
export interface AuditFixture extends AsyncDisposable {
  root: string;
  dir: string;
  keysDir: string;
  mirror: string;
  /** What was logged. */
  logged: string[];
  open(options?: Partial<AuditOptions>): Promise<OwnedAudit>;
  /** Opens, appends so many records, and closes. */
  write(count: number, options?: Partial<AuditOptions>): Promise<void>;
  /** With the service's own key and key folder. */
  verify(options?: Partial<VerifyOptions>): Promise<AuditFinding>;
  /** Names of the files of records, oldest first. */
  files(): Promise<string[]>;
  /** Lines of every file, oldest first. */
  lines(): Promise<string[]>;
}

/** Makes a folder. */
export async function auditFixture(): Promise<AuditFixture> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  const dir = `${root}/audit`;
  const keysDir = `${root}/keys`;
  const mirror = `${root}/mirror.jsonl`;
  const logged: string[] = [];
  const note = (message: string) => void logged.push(message);
  const log = { debug: note, info: note, warning: note, error: note };
  const open = (options: Partial<AuditOptions> = {}) =>
    openAudit({ dir, keysDir, log, mirror, ...options });
  const files = async () => [...(await listClosed(dir)).map(closedName), AUDIT_FILE];
  return {
    root,
    dir,
    keysDir,
    mirror,
    logged,
    open,
    async write(count, options) {
      const audit = await open(options);
      for (let index = 0; index < count; index++) await audit.append("action.refused", { index });
      await audit.close();
    },
    async verify(options = {}) {
      const { keys } = await findTrustedKeys({ dir, keysDir });
      return await verifyAudit({ dir, keysDir, keys, ...options });
    },
    files,
    async lines() {
      const texts = (await files()).map((name) => Deno.readTextFile(`${dir}/${name}`));
      return (await Promise.all(texts)).flatMap((text) => text.split("\n").slice(0, -1));
    },
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}
