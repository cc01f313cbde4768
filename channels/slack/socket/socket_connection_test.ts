import { assertEquals } from "@std/assert";
import { systemClock } from "../../../lib/base/clock.ts";
import { slackTest } from "../testing/slack_test_case.ts";
import { SocketConnection } from "./socket_connection.ts";

slackTest("SocketConnection ends where more is told than can be at work", async (slack) => {
  const release = Promise.withResolvers<void>();
  const told: string[] = [];
  const connection = new SocketConnection({
    appToken: String(slack.section.appToken),
    apiUrl: new URL(String(slack.section.apiUrl)),
    clock: systemClock,
    signal: new AbortController().signal,
    onEnvelope: ({ type }) => {
      told.push(type);
      return release.promise;
    },
    onRefresh: () => {},
    maxAtWork: 2,
  });
  await connection.open();
  for (const id of ["1", "2", "3"]) await slack.tell("events_api", {}, id);
  await connection.over;
  release.resolve();
  assertEquals(told.length, 2);
  assertEquals(slack.acknowledged(), []);
});
