// Its modules for any system ask node:process which one this is, which takes a start 12 ms.
// @ts-types="./path.d.ts"
import * as posix from "npm:deno-std@1.4.0/path/posix/mod.js";
// @ts-types="./path.d.ts"
import * as windows from "npm:deno-std@1.4.0/path/windows/mod.js";

const isWindows = Deno.build.os === "windows";

// Each by its name, so that a build holds only what is used.
export const join = isWindows ? windows.join : posix.join;
export const basename = isWindows ? windows.basename : posix.basename;
export const dirname = isWindows ? windows.dirname : posix.dirname;
export const extname = isWindows ? windows.extname : posix.extname;
export const isAbsolute = isWindows ? windows.isAbsolute : posix.isAbsolute;
export const normalize = isWindows ? windows.normalize : posix.normalize;
export const relative = isWindows ? windows.relative : posix.relative;
export const resolve = isWindows ? windows.resolve : posix.resolve;
export const fromFileUrl = isWindows ? windows.fromFileUrl : posix.fromFileUrl;
export const toFileUrl = isWindows ? windows.toFileUrl : posix.toFileUrl;
export const SEPARATOR = isWindows ? windows.SEPARATOR : posix.SEPARATOR;
