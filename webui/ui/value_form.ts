/** What a value may be. */
export type ValueForm =
  | { kind: "text" | "lines" | "secret" | "list" | "json" }
  /** `isOptional`: neither is a value of its own. */
  | { kind: "bool"; isOptional: boolean }
  | { kind: "number"; min?: number; max?: number; isWhole: boolean }
  | { kind: "enum"; choices: readonly string[] };
