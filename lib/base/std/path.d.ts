/** Joins path parts and normalizes the result. */
export declare function join(path: string, ...parts: string[]): string;
/** The last part of a path. */
export declare function basename(path: string, suffix?: string): string;
/** All but the last part of a path. */
export declare function dirname(path: string): string;
/** The extension with its dot, or an empty text. */
export declare function extname(path: string): string;
/** Whether a path starts at the root. */
export declare function isAbsolute(path: string): boolean;
/** The path with `.` and `..` worked out. */
export declare function normalize(path: string): string;
/** The way from one path to another. */
export declare function relative(from: string, to: string): string;
/** An absolute path from parts, the current folder in front where none is absolute. */
export declare function resolve(...parts: string[]): string;
/** The path of a file: URL. */
export declare function fromFileUrl(url: string | URL): string;
/** The file: URL of an absolute path. */
export declare function toFileUrl(path: string): URL;
/** The separator of path parts. */
export declare const SEPARATOR: "/" | "\\";
