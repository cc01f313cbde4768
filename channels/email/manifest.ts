import type { ChannelDescriptor } from "../../lib/channel/descriptor.ts";
import { MAIL_TLS_MODES } from "./account/tls_modes.ts";

/** Email: a mailbox that is read over IMAP, and answers by SMTP. A thread is a chat. */
const manifest: ChannelDescriptor = {
  name: "email",
  displayName: "Email",
  runtime: "channels/email/runtime.ts:EmailChannel",
  dependencies: [
    "npm:entities@7.0.1",
    "npm:htmlparser2@10.1.0",
    "npm:imapflow@2.1.2",
    "npm:marked@18.2.1",
    "npm:nodemailer@10.6.0",
    "npm:postal-mime@4.0.0",
  ],
  setup: {
    fields: {
      address: { kind: "string", label: "Its own address, such as agent@example.com" },
      fromName: { kind: "string", label: "Name beside the address" },
      username: { kind: "string", label: "Name to log in with; empty: the address" },
      password: { kind: "secret", label: "Password, or app password" },
      imapHost: { kind: "string", format: "host", label: "IMAP server" },
      imapPort: {
        kind: "int",
        default: 993,
        min: 1,
        max: 65_535,
        label: "Port of the IMAP server",
      },
      imapTls: {
        kind: "enum",
        choices: MAIL_TLS_MODES,
        default: "tls",
        label: "tls, starttls, or none for a server on this machine",
      },
      mailbox: { kind: "string", default: "INBOX", label: "Folder that is read" },
      smtpHost: { kind: "string", format: "host", label: "SMTP server" },
      smtpPort: {
        kind: "int",
        default: 465,
        min: 1,
        max: 65_535,
        label: "Port of the SMTP server",
      },
      smtpTls: {
        kind: "enum",
        choices: MAIL_TLS_MODES,
        default: "tls",
        label: "tls, starttls, or none for a server on this machine",
      },
      smtpUsername: { kind: "string", label: "Where SMTP has a name of its own" },
      smtpPassword: { kind: "secret", label: "Where SMTP has a password of its own" },
      tlsCaFile: { kind: "string", label: "Certificates to trust instead of the usual ones, PEM" },
      authservId: {
        kind: "string",
        label: "Name of the server that writes Authentication-Results, such as mx.example.com",
      },
      requireAuthentication: {
        kind: "bool",
        default: true,
        label: "Hear only senders that the server has authenticated",
      },
      subject: {
        kind: "string",
        default: "A message for you",
        label: "Subject of mails that answer none",
      },
      maxMessageMb: {
        kind: "int",
        default: 25,
        min: 1,
        max: 50,
        label: "Size from which mails are refused",
      },
      maxAgeDays: {
        kind: "int",
        default: 3,
        min: 1,
        max: 7,
        label: "Mails that are older when they are found are left alone",
      },
      pollIntervalS: {
        kind: "int",
        default: 120,
        min: 5,
        max: 1_200,
        label: "Seconds between looks into the mailbox, beside those that the server asks for",
      },
      maxAnswersPerHour: {
        kind: "int",
        default: 20,
        min: 1,
        max: 1_000,
        label: "Mails to one address in an hour",
      },
    },
    required: [
      { fields: ["address"] },
      { fields: ["password"] },
      { fields: ["imapHost"] },
      { fields: ["smtpHost"] },
    ],
    validator: "channels/email/validation.ts:validate",
    summary:
      "A mailbox that the agent reads and answers. Needs IMAP, SMTP and an app password, ten minutes.",
    steps: [
      "Give the agent a mailbox of its own, with an app password where the provider has them.",
      "Set address, password, imapHost and smtpHost.",
      "Send it a mail, look for Authentication-Results in its source, and set what stands first there as authservId.",
      "List the addresses of those who may write in allowFrom, and switch the channel on.",
    ],
  },
  management: { multiInstance: true },
  capabilities: ["media", "replies", "catch_up"],
  defaultActivation: false,
  locales: ["de"],
  permissions: {
    hosts: ["{imapHost}:{imapPort}", "{smtpHost}:{smtpPort}"],
    paths: ["{tlsCaFile}"],
    // A package that imapflow logs with asks for it when it is loaded.
    variables: ["NODE_V8_COVERAGE"],
  },
  // Whoever can write as somebody in an email approves nothing with it.
  senderVerified: false,
};

export default manifest;
