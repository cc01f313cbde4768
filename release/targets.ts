/**
 * The platforms that files to download are made for.
 *
 * @module
 */

import { VERSION } from "../cli/version.ts";

/** The Deno that those files hold; `deno_binaries.lock` has its hashes. */
export const DENO_VERSION = "2.9.6";

/** A platform. */
export interface Target {
  /** As it stands in names of files. */
  name: "linux-x64" | "linux-arm64" | "macos-x64" | "macos-arm64" | "windows-x64";
  /** For people. */
  title: string;
  /** What `uname -sm` prints there. */
  uname: string;
  /** The npm package that holds Deno's own program for it. */
  denoPackage: string;
  /** As `deno compile --target` takes it. */
  triple: string;
}

export const TARGETS: readonly Target[] = [
  {
    name: "linux-x64",
    title: "Linux x64",
    uname: "Linux x86_64",
    denoPackage: "@deno/linux-x64-glibc",
    triple: "x86_64-unknown-linux-gnu",
  },
  {
    name: "linux-arm64",
    title: "Linux arm64",
    uname: "Linux aarch64",
    denoPackage: "@deno/linux-arm64-glibc",
    triple: "aarch64-unknown-linux-gnu",
  },
  {
    name: "macos-x64",
    title: "macOS x64",
    uname: "Darwin x86_64",
    denoPackage: "@deno/darwin-x64",
    triple: "x86_64-apple-darwin",
  },
  {
    name: "macos-arm64",
    title: "macOS arm64",
    uname: "Darwin arm64",
    denoPackage: "@deno/darwin-arm64",
    triple: "aarch64-apple-darwin",
  },
  {
    name: "windows-x64",
    title: "Windows x64",
    uname: "",
    denoPackage: "@deno/win32-x64",
    triple: "x86_64-pc-windows-msvc",
  },
];

/** Name of the self-extracting file. On Windows it is an archive, which Explorer extracts. */
export function selfExtractingFileName({ name }: Target): string {
  return `service-${VERSION}-${name}${name === "windows-x64" ? ".zip" : ""}`;
}

/** Name of the compiled binary. */
export function compiledFileName({ name }: Target): string {
  return `service-${VERSION}-${name}${name === "windows-x64" ? ".exe" : "-compiled"}`;
}
