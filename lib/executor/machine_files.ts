/**
 * What Deno itself takes from the machine at the start of a process that reaches the network: how to
 * connect, whom to trust, and how to write dates. No code in there can read it without permission.
 *
 * @module
 */

/** How this machine connects and writes dates. */
const VARIABLES = [
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"],
  ...["DENO_CERT", "DENO_TLS_CA_STORE", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  ...["TZ", "LANG", "LC_ALL"],
];

/**
 * By these Deno exports what `lib/telemetry` makes. Not for channels: Deno notes the address of each of their
 * requests, and that of Telegram's holds a token.
 */
export const TELEMETRY_VARIABLES = [
  ...["OTEL_DENO", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_METRIC_EXPORT_INTERVAL"],
  ...["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_PROTOCOL"],
  ...["OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_BSP_SCHEDULE_DELAY", "OTEL_TRACES_SAMPLER"],
  ...["OTEL_TRACES_SAMPLER_ARG", "OTEL_DENO_CONSOLE", "OTEL_SDK_DISABLED"],
];

/** Those of them that name a file or folder. */
const FILE_VARIABLES = ["DENO_CERT", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"];

/** Certificates and time. */
const FILES = [
  ...["/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem", "/etc/pki/tls/certs"],
  ...["/etc/pki/ca-trust/extracted", "/usr/share/ca-certificates", "/etc/ca-certificates"],
  ...["/usr/local/share/ca-certificates", "/etc/localtime", "/usr/share/zoneinfo"],
];

type Env = (name: string) => string | undefined;

/** The environment of a process: these variables and the named ones, as far as they are set. */
export function machineEnv(env: Env, named: readonly string[]): Record<string, string> {
  return Object.fromEntries([...VARIABLES, ...named].flatMap((name) => {
    const value = env(name);
    return value === undefined ? [] : [[name, value]];
  }));
}

/** Files for a process to see: the machine's and these, as far as they are there. */
export async function machineFiles(env: Env, paths: readonly string[]): Promise<string[]> {
  const wanted = [...FILES, ...FILE_VARIABLES.flatMap((name) => env(name) ?? []), ...paths];
  const there = await Promise.all(
    wanted.map((path) => Deno.stat(path).then(() => true, () => false)),
  );
  return wanted.filter((_, at) => there[at]);
}
