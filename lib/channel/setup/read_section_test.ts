import { assertEquals, assertThrows } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import { missingRequirements } from "./missing_requirements.ts";
import { readSection } from "./read_section.ts";
import { resolvedConfig } from "./resolved_config.ts";
import { sectionView } from "./section_view.ts";
import { testDescriptor } from "./testing/test_descriptor.ts";

const CHAT = testDescriptor();
const FLAGS = { sendProgress: true, sendToolHints: true, showReasoning: false };
const GOOD = { enabled: true, server: "irc.example", botToken: "s3cret-token" };

Deno.test("readSection() takes both spellings, and fills in defaults", () => {
  const { values, own, problems, unknown } = readSection({
    server: "irc.example",
    bot_token: "t",
    allow_from: ["a"],
    port: "7000",
    rooms: "#a, #b",
    odd_one: 1,
  }, CHAT);
  assertEquals(problems, []);
  assertEquals(unknown, ["odd_one"]);
  assertEquals(own.toSorted(), ["allowFrom", "botToken", "port", "rooms", "server"]);
  assertEquals(values, {
    enabled: false,
    allowFrom: ["a"],
    streaming: false,
    server: "irc.example",
    port: 7000,
    tls: true,
    nick: "bot",
    botToken: "t",
    tokenFile: "",
    rooms: ["#a", "#b"],
  });
});

Deno.test("readSection() names what is wrong, and shows no secret and no value of a variable", () => {
  const section = {
    port: "99999",
    mode: "loud",
    botToken: 12_345_678,
    allowFrom: "*",
    tls: "perhaps",
    nick: "a",
    server: "x",
    Server: "y",
    rooms: ["a"],
    sendMaxRetries: 101,
  };
  const written = { ...section, port: "${PORT}", mode: undefined };
  const { problems } = readSection(section, CHAT, written);
  assertEquals(problems.map(({ message }) => message).toSorted(), [
    'allowFrom is "*": expected a list of texts',
    "botToken is what it is: expected a text",
    'mode is a text: expected one of "all", "mention"',
    'port is "${PORT}": expected an integer from 1 to 65535',
    "sendMaxRetries is 101: expected an integer from 0 to 100",
    'tls is "perhaps": expected true or false',
  ]);
  const [twice] = readSection({ bot_token: "a", botToken: "b" }, CHAT).problems;
  assertEquals(twice!.message, "botToken stands there in two spellings");
});

Deno.test("missingRequirements() names each alternative of what is missing (C13)", () => {
  const { required } = CHAT.setup;
  const missing = (values: Record<string, unknown>) => missingRequirements(values, required);
  assertEquals(missing({ server: " ", botToken: "" }), ["server", "botToken, or tokenFile"]);
  assertEquals(missing({ server: "x" }), ["botToken, or tokenFile"]);
  assertEquals(missing({ server: "x", tokenFile: "/t" }), []);
  assertEquals(missing({ server: [], botToken: false }), ["server"]);
});

Deno.test("resolvedConfig() has flags of the channel over those of all (C29)", () => {
  const config = resolvedConfig({ ...GOOD, show_reasoning: true }, CHAT, FLAGS);
  assertEquals([config.showReasoning, config.sendProgress, config.sendToolHints], [
    true,
    true,
    true,
  ]);
  assertEquals(config.allowFrom, []);
  assertEquals(resolvedConfig({ ...GOOD, sendToolHints: "no" }, CHAT, FLAGS), {
    ...config,
    sendToolHints: false,
    showReasoning: false,
  });
});

Deno.test("resolvedConfig() throws for what is wrong or missing, all of it", () => {
  const error = assertThrows(
    () => resolvedConfig({ server: "x", port: 0 }, CHAT, FLAGS),
    ServiceError,
    "port is 0: expected an integer from 1 to 65535; botToken, or tokenFile is not set",
  );
  assertEquals([error.code, error.details.param], ["config_invalid", "channels.chat.port"]);
});

Deno.test("sectionView() shows what stands there, and nothing of a secret (C11)", () => {
  const resolved = { ...GOOD, nick: "from the environment", rooms: ["#a"], port: 7 };
  const written = { ...GOOD, nick: "${NICK}", bot_token: "${secret:CHAT}", rooms: ["#a"], port: 7 };
  const view = sectionView(resolved, written, CHAT);
  assertEquals(view, {
    configured: true,
    missing: [],
    problems: [],
    configValues: {
      enabled: true,
      allowFrom: [],
      streaming: false,
      server: "irc.example",
      port: 7,
      tls: true,
      nick: "${NICK}",
      tokenFile: "",
      rooms: ["#a"],
    },
    configuredFields: ["enabled", "server", "port", "nick", "botToken", "rooms"],
  });
  const bare = sectionView({ mode: "x" }, { mode: "x" }, CHAT);
  assertEquals(bare.configured, false);
  assertEquals(bare.missing, ["server", "botToken, or tokenFile"]);
  assertEquals(bare.problems, ['mode is "x": expected one of "all", "mention"']);
});

Deno.test("sectionView() shows no name, password or key that stands in a URL, and no message does (C11)", () => {
  const section = {
    ...GOOD,
    server: "https://ann:hunter2hunter2@irc.example/?token=hunter2hunter2",
    rooms: ["wss://x.example/?apiKey=hunter2hunter2", "#a"],
    mode: "https://ann:hunter2hunter2@irc.example",
  };
  const view = sectionView(section, section, CHAT);
  assertEquals(view.configValues.server, "https://***@irc.example/?token=***");
  assertEquals(view.configValues.rooms, ["wss://x.example/?apiKey=***", "#a"]);
  const written = { ...section, server: "https://hunter2hunter2@${HOST}" };
  assertEquals(sectionView(section, written, CHAT).configValues.server, "https://***@${HOST}");
  assertEquals(view.problems, [
    'mode is "https://***@irc.example": expected one of "all", "mention"',
  ]);
});
