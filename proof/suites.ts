/**
 * Proofs that are tests with all their rounds: what is shown is each test and whether it passed.
 *
 * @module
 */

import { batchesOf, findTests } from "../tests/gate/find_tests.ts";
import { runTests } from "../tests/gate/run_tests.ts";
import type { Line, Proof, ProofRun } from "./proof.ts";

const ROOT = new URL("../", import.meta.url).pathname;

/** Test files by the proof that they are. */
export const SUITES: Readonly<Record<string, { claim: string; files: readonly string[] }>> = {
  kills: {
    claim: "each part that is killed leaves nothing half done, and is taken up again",
    files: [
      "tests/crash_test.ts",
      "tests/full/gateway_kill_test.ts",
      "tests/full/channels_kill_test.ts",
      "tests/full/channels_stream_kill_test.ts",
      "tests/full/channel_process_kill_test.ts",
      "tests/full/automation_crash_test.ts",
      "tests/full/record_crash_test.ts",
      "lib/journal/kill_test.ts",
      "lib/state/crash_test.ts",
    ],
  },
  disk: {
    claim: "a disk that is full or can't be written to stops new work, says so, and loses nothing",
    files: ["tests/full/full_disk_test.ts", "tests/full/platforms_disk_test.ts"],
  },
  clock: {
    claim: "a clock that is wrong or jumps runs nothing twice and is named",
    files: [
      "tests/full/bad_starts_test.ts",
      "lib/automation/scheduler_test.ts",
      "lib/journal/automations_property_test.ts",
      "lib/schedule/next_slot_test.ts",
    ],
  },
  upstream: {
    claim: "a provider that fails in any way is told as what it is, and only its turn fails",
    files: [
      "tests/full/model_faults_test.ts",
      "tests/full/failure_words_test.ts",
      "lib/model/chat/chat_wire_test.ts",
      "lib/model/provider_error_test.ts",
      "lib/model/retry_test.ts",
    ],
  },
  fuzz: {
    claim: "whatever is sent gets an answer or a proper error, and breaks nothing",
    files: [
      "tests/any_body_test.ts",
      "tests/hostile_input_test.ts",
      "tests/full/raw_http_test.ts",
      "channels/websocket/socket/protocol_abuse_test.ts",
      "lib/journal/accept_property_test.ts",
      "lib/agent/turn_property_test.ts",
      "lib/channel/markdown/to_html_test.ts",
      "lib/channel/markdown/split_markdown_test.ts",
      "lib/http/multipart_test.ts",
      "lib/http/api/chat/chat_test.ts",
      "lib/http/api/responses/responses_request_test.ts",
      "lib/http/web/sessions_routes_test.ts",
      "lib/config/jsonc_test.ts",
      "lib/config/rewrite_test.ts",
      "lib/config/secret_references_test.ts",
      "lib/settings/examine_test.ts",
      "lib/documents/archive_test.ts",
      "lib/documents/extract_test.ts",
      "lib/documents/xml_test.ts",
      "lib/media/open_media_test.ts",
      "lib/model/gathered_test.ts",
      "lib/model/think_tags_test.ts",
      "lib/policy/configured_rules_test.ts",
      "lib/policy/shell_word_test.ts",
      "lib/base/host_pattern_test.ts",
      "lib/trusted_proxy/peer_network_test.ts",
      "lib/rpc/frames_test.ts",
      "lib/executor/git_config_test.ts",
      "lib/audit/verify_test.ts",
      "lib/state/damage_attack_test.ts",
      "lib/replay/replay_property_test.ts",
      "channels/email/mail/read_mail_test.ts",
      "channels/matrix/inbound/read_message_test.ts",
      "channels/xmpp/messages/read_message_test.ts",
      "channels/telegram/inbound/read_update_test.ts",
      "channels/webhook/protocol/signature_test.ts",
      "channels/irc/text/wrap_line_test.ts",
    ],
  },
  attack: {
    claim:
      "no action leaves its sandbox, and no process reaches what isn't in its row of the table",
    files: [
      "tests/exec_attack_test.ts",
      "tests/full/sandbox_network_attack_test.ts",
      "tests/full/dns_attack_test.ts",
      "tests/full/own_port_attack_test.ts",
      "tests/full/other_user_attack_test.ts",
      "tests/full/grant_attack_test.ts",
      "tests/full/approval_attack_test.ts",
      "lib/authority/path_attack_test.ts",
      "lib/authority/git_attack_test.ts",
      "lib/authority/exec_flood_test.ts",
      "lib/executor/kernel_attack_test.ts",
      "lib/operations/channels/worker_attack_test.ts",
    ],
  },
};

/** Such a proof; a round is all of its tests. */
export function suite(name: string): Proof {
  const { claim, files } = SUITES[name]!;
  return { claim, rounds: 1, run: (how) => runSuite(files, how) };
}

async function runSuite(files: readonly string[], { rounds, tell }: ProofRun): Promise<Line[]> {
  const found = await findTests(ROOT, files);
  const lines: Line[] = [];
  for (let round = 1; round <= rounds; round++) {
    await runTests(batchesOf(found), {
      root: ROOT,
      env: { SERVICE_TEST_FULL: "1" },
      jobs: navigator.hardwareConcurrency,
      onResult(batch, { cases, failure }) {
        tell(`${batch.join(" ")}: ${cases.length} tests`);
        if (failure !== undefined) tell(failure);
        for (const { name, outcome } of cases) {
          lines.push({
            what: name,
            value: outcome,
            ...outcome !== "skipped" && { holds: outcome === "passed" },
          });
        }
        if (failure !== undefined && cases.every(({ outcome }) => outcome !== "failed")) {
          lines.push({ what: batch.join(" "), value: "broke off", holds: false });
        }
      },
    });
  }
  return lines;
}
