/** When an automation is due: exactly one of at, every and cron; a zone with cron. */
export interface Schedule {
  /** An instant (ISO 8601 with Z or an offset); it runs once. */
  at?: string;
  /** Period in seconds, counted from the automation's creation. */
  every?: number;
  /** Five fields: minute hour day month weekday, in local time. */
  cron?: string;
  /** Zone of the IANA database for cron. */
  timeZone?: string;
}

/** Where the answers go. */
export interface Delivery {
  /** Each answer, one that differs from the last, or failures alone. */
  when: "always" | "change" | "error";
  channel: string;
  chatId: string;
}

/** An automation with its defaults: a message for the agent, and when it is given to it. */
export interface Automation {
  /** For people. */
  name: string;
  /** What the agent is told at each run. */
  message: string;
  schedule: Schedule;
  /** Slots that passed while nothing ran: none, the newest, or the newest 100. */
  missed: "skip" | "once" | "all";
  /** Tokens that a run may use. */
  tokenBudget: number;
  /** Model calls that a run may make. */
  maxSteps: number;
  /** Without it, answers stay in the history. */
  delivery?: Delivery;
  /** Further attempts after a run that failed. */
  retries: number;
  /** What becomes of a slot that comes while an earlier run goes on. */
  overlap: "skip" | "queue";
  enabled: boolean;
}
