/**
 * How a connection to a mail server is protected.
 *
 * @module
 */

/** `tls` from the first byte, `starttls` before anything else is said, `none` on this machine alone. */
export const MAIL_TLS_MODES = ["tls", "starttls", "none"] as const;

/** One of {@linkcode MAIL_TLS_MODES}. */
export type MailTlsMode = typeof MAIL_TLS_MODES[number];
