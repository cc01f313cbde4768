import { assertEquals, assertThrows } from "@std/assert";
import { ServiceError } from "../../../lib/base/errors.ts";
import { configFor } from "../../../lib/channel/testing/trial.ts";
import manifest from "../manifest.ts";
import { type EmailConfig, emailSettings, readSettings } from "./settings.ts";
import { MAIL_TLS_MODES } from "./tls_modes.ts";

const right = {
  address: "Agent@Example.com",
  password: "p",
  imapHost: "imap.example.com",
  smtpHost: "smtp.example.com",
  authservId: "MX.example.com",
};
const configOf = (more: Record<string, unknown> = {}) =>
  configFor(manifest, { section: { ...right, ...more } }) as unknown as EmailConfig;
const fieldsOf = (more: Record<string, unknown>) =>
  readSettings(configOf(more)).problems.map(({ field }) => field);

Deno.test("emailSettings() fills in what is not set", () => {
  const settings = emailSettings(configOf());
  assertEquals(settings.address, "agent@example.com");
  assertEquals(settings.authservId, "mx.example.com");
  assertEquals(settings.imap, {
    host: "imap.example.com",
    port: 993,
    tls: "tls",
    username: "agent@example.com",
    password: "p",
  });
  assertEquals(settings.smtp.password, "p");
  const own = emailSettings(configOf({ username: "u", smtpUsername: "v", smtpPassword: "w" }));
  assertEquals([own.imap.username, own.smtp.username, own.smtp.password], ["u", "v", "w"]);
});

Deno.test("readSettings() names each field that is wrong", () => {
  for (
    const [more, field] of [
      [{ address: "agent" }, "address"],
      [{ address: "a@b\r\nBcc: c@d" }, "address"],
      [{ imapTls: "none" }, "imapTls"],
      [{ smtpTls: "none", smtpHost: "localhost.evil.org" }, "smtpTls"],
      [{ authservId: "" }, "authservId"],
      [{ tlsCaFile: "ca.pem" }, "tlsCaFile"],
    ] as const
  ) assertEquals(fieldsOf(more), [field], field);
  assertEquals(fieldsOf({ authservId: "", requireAuthentication: false }), []);
  const error = assertThrows(() => emailSettings(configOf({ imapTls: "none" })), ServiceError);
  assertEquals([error.code, error.details.param], ["config_invalid", "imapTls"]);
});

Deno.test("readSettings() takes each mode of TLS, none on this machine (C36)", () => {
  for (const mode of MAIL_TLS_MODES) {
    for (const host of ["localhost", "127.0.0.1", "[::1]"]) {
      const more = { imapHost: host, smtpHost: host, imapTls: mode, smtpTls: mode };
      assertEquals(fieldsOf(more), [], `${mode} ${host}`);
    }
  }
});
