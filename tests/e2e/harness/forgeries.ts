import {
  decodeEntryBundle,
  encodeEntryBundle,
  type EventBundle,
  formatPublicKeyPem,
  type LogRange,
  type Manifest,
  type PackAgents,
  type PackPolicy,
  parsePublicKeyWire,
  type ReceiptBundle,
  type ScheduledRun,
  sshFingerprint,
} from "@attestore/proof";
import { newKeyPair } from "../../../packages/orchestrator/test/service.ts";
import { editJson, type Files } from "./packs.ts";

/** What the service could change in a pack of makeOrganisation, and how to find it there. */

const periodOf = (files: Files): Manifest["period"] =>
  (JSON.parse(String(files.get("manifest.json"))) as Manifest).period;

function firstOf<T>([first]: readonly T[]): T {
  if (first === undefined) throw new Error("the pack has none");
  return first;
}

export const receiptsOf = (files: Files): string[] =>
  [...files.keys()].filter((path) => path.startsWith("receipts/"));
export const eventOf = (files: Files, kind: string): string => {
  const found = [...files].find(
    ([path, bytes]) =>
      path.startsWith("events/") && (JSON.parse(String(bytes)) as EventBundle).leaf.kind === kind,
  );
  return found?.[0] ?? "";
};
export const runsOf = (files: Files): ScheduledRun[] =>
  String(files.get("runs/000000.jsonl"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as ScheduledRun);
export const setRuns = (files: Files, runs: readonly ScheduledRun[]): void => {
  files.set("runs/000000.jsonl", Buffer.from(runs.map((run) => `${JSON.stringify(run)}\n`).join("")));
};
export const tileOf = (files: Files): { path: string; leaves: Uint8Array[] } => {
  const path = [...files.keys()].find((each) => each.startsWith("log/tile/")) ?? "";
  const count = Number(path.split(".p/")[1]);
  return { path, leaves: decodeEntryBundle(files.get(path) ?? Buffer.alloc(0), count) };
};

export const later = (moment: string, ms: number): string => new Date(Date.parse(moment) + ms).toISOString();

/** What the service itself could try: it signs the manifest again after each. */
export const FORGERIES: [string, string[], (files: Files) => void][] = [
  [
    "a failed test is left out",
    ["complete", "summary", "page"],
    (files) => {
      const failed = receiptsOf(files).find((path) => {
        const { envelope } = JSON.parse(String(files.get(path))) as ReceiptBundle;
        return Buffer.from(envelope.payload, "base64").toString().includes('"result":"failed"');
      });
      files.delete(failed ?? "");
    },
  ],
  [
    "an event is left out",
    ["complete", "summary", "page"],
    (files) => files.delete(eventOf(files, "restore_failed")),
  ],
  [
    "a receipt says something else",
    ["receipts", "runs", "summary", "page"],
    (files) =>
      editJson<ReceiptBundle>(files, receiptsOf(files)[1] ?? "", ({ envelope }) => {
        const payload = Buffer.from(envelope.payload, "base64").toString();
        envelope.payload = Buffer.from(payload.replace('"n":1234', '"n":9999')).toString("base64");
      }),
  ],
  [
    "a receipt's proof is another",
    ["receipts", "summary", "page"],
    (files) =>
      editJson<ReceiptBundle>(files, receiptsOf(files)[0] ?? "", ({ inclusion_proof }) => {
        inclusion_proof.hashes[0] = "ab".repeat(32);
      }),
  ],
  [
    "an event says something else",
    ["events", "summary", "page"],
    (files) =>
      editJson<EventBundle>(files, eventOf(files, "restore_failed"), ({ event }) => {
        event.detail["reason"] = "nothing to worry about";
      }),
  ],
  [
    "the last leaf is dropped",
    ["range"],
    (files) => {
      const { path, leaves } = tileOf(files);
      files.delete(path);
      const fewer = leaves.slice(0, -1);
      files.set(path.replace(/\d+$/, String(fewer.length)), Buffer.from(encodeEntryBundle(fewer)));
      editJson<LogRange>(files, "log/range.json", (range) => {
        range.to_index -= 1;
      });
    },
  ],
  [
    "two leaves change places",
    ["range"],
    (files) => {
      const { path, leaves } = tileOf(files);
      const [a, b, ...rest] = leaves;
      files.set(path, Buffer.from(encodeEntryBundle([b, a, ...rest].filter((leaf) => leaf !== undefined))));
    },
  ],
  [
    "an agent has another key",
    ["receipts", "agents", "summary", "page"],
    (files) => {
      const publicKey = parsePublicKeyWire(newKeyPair().publicKeyWire);
      editJson<PackAgents>(files, "keys/agents.json", ({ agents }) => {
        const agent = firstOf(agents);
        agent.public_key = Buffer.from(publicKey.bytes).toString("base64");
        agent.key_fingerprint = sshFingerprint(publicKey);
        files.set(`keys/${agent.id}.pub`, Buffer.from(formatPublicKeyPem(publicKey)));
      });
    },
  ],
  [
    "an agent's earlier key is another",
    ["receipts", "agents", "agent_keys", "runs", "summary", "page"],
    (files) => {
      const publicKey = parsePublicKeyWire(newKeyPair().publicKeyWire);
      editJson<PackAgents>(files, "keys/agents.json", ({ agents }) => {
        const agent = firstOf(agents);
        const key = firstOf(agent.earlier_keys);
        key.public_key = Buffer.from(publicKey.bytes).toString("base64");
        key.key_fingerprint = sshFingerprint(publicKey);
        files.set(`keys/${agent.id}.1.pub`, Buffer.from(formatPublicKeyPem(publicKey)));
      });
    },
  ],
  [
    "an agent's earlier key is said to have counted longer",
    ["agents"],
    (files) =>
      editJson<PackAgents>(files, "keys/agents.json", ({ agents }) => {
        for (const key of agents[0]?.earlier_keys ?? []) key.valid_until = "2100-01-01T00:00:00.000Z";
      }),
  ],
  [
    "an agent's earlier key is said to have ended before it signed",
    ["receipts", "agents", "runs", "summary", "page"],
    (files) =>
      editJson<PackAgents>(files, "keys/agents.json", ({ agents }) => {
        for (const key of agents[0]?.earlier_keys ?? []) key.valid_until = "2000-01-01T00:00:00.000Z";
      }),
  ],
  [
    "a rotation of a key is left out",
    ["complete", "agents", "summary", "page"],
    (files) => files.delete(eventOf(files, "agent_key_rotated")),
  ],
  [
    "an agent's earlier key is not named",
    ["receipts", "agents", "agent_keys", "runs", "summary", "page"],
    (files) =>
      editJson<PackAgents>(files, "keys/agents.json", ({ agents }) => {
        const agent = firstOf(agents);
        agent.earlier_keys = [];
        files.delete(`keys/${agent.id}.1.pub`);
      }),
  ],
  [
    "a revoked agent is said to be good",
    ["agents"],
    (files) =>
      editJson<PackAgents>(files, "keys/agents.json", ({ agents }) => {
        for (const agent of agents) [agent.valid_until, agent.revoked_event_id] = [null, null];
      }),
  ],
  [
    "a missed run that the log tells of is left out",
    ["runs", "schedules", "summary", "page"],
    (files) =>
      setRuns(
        files,
        runsOf(files).filter(({ event_id }) => event_id === null),
      ),
  ],
  [
    "a missed run that has no entry of its own is left out",
    ["runs", "schedules", "summary", "page"],
    (files) => setRuns(files, runsOf(files).toSpliced(5, 1)),
  ],
  [
    "a missed run is said to have passed",
    ["runs", "summary", "page"],
    (files) => {
      const runs = runsOf(files);
      const passed = runs.find(({ status }) => status === "passed")?.receipt_id ?? "";
      setRuns(
        files,
        runs.map((run, n) => (n === 5 ? { ...run, status: "passed", receipt_id: passed } : run)),
      );
    },
  ],
  [
    "missed runs are said to be withdrawn",
    ["runs", "summary", "page"],
    (files) =>
      setRuns(
        files,
        runsOf(files).map((run) =>
          run.status === "missed" && run.event_id === null ? { ...run, status: "withdrawn" } : run,
        ),
      ),
  ],
  [
    "a number of the summary is another",
    ["summary"],
    (files) =>
      editJson<{ totals: { restore_tests: { failed: number } } }>(files, "summary.json", ({ totals }) => {
        totals.restore_tests.failed = 0;
      }),
  ],
  [
    "the page says something else",
    ["page"],
    (files) =>
      files.set("index.html", Buffer.from(String(files.get("index.html")).replace("1 failed", "0 failed"))),
  ],
  [
    "an objective is another than the log tells of",
    ["schedules", "summary", "page"],
    (files) =>
      editJson<PackPolicy>(files, "policy.json", ({ sources }) => {
        for (const source of sources) source.objectives = { rpo_s: 864_000, rto_s: 60 };
      }),
  ],
  [
    "a source is not named, so that its failed test counts nowhere",
    ["schedules", "summary", "page"],
    (files) =>
      editJson<PackPolicy>(files, "policy.json", (policy) => {
        policy.sources = [];
      }),
  ],
  [
    "a source is said to have been removed before its runs were missed",
    ["schedules", "summary", "page"],
    (files) =>
      editJson<PackPolicy>(files, "policy.json", ({ sources }) => {
        for (const source of sources) source.removed_at = periodOf(files).from;
      }),
  ],
  [
    "a missed run is said to have had more time than the log tells of",
    ["runs"],
    (files) =>
      setRuns(
        files,
        runsOf(files).map((run) => ({
          ...run,
          deadline_at: later(run.deadline_at, run.event_id === null ? 0 : 1),
        })),
      ),
  ],
  [
    "the entry that gave an agent its key is not named",
    ["agents"],
    (files) =>
      editJson<PackAgents>(files, "keys/agents.json", ({ agents }) => {
        for (const agent of agents) agent.attached_event_id = null;
      }),
  ],
  [
    "the log's key is another",
    ["log_key"],
    (files) =>
      files.set(
        "keys/log.vkey",
        Buffer.from(String(files.get("keys/log.vkey")).replace(/.{6}\n$/, "AAAAAA\n")),
      ),
  ],
  [
    "the checkpoint is of another size",
    ["checkpoint"],
    (files) => {
      const [origin, size, ...rest] = String(files.get("log/checkpoint")).split("\n");
      files.set("log/checkpoint", Buffer.from([origin, Number(size) - 1, ...rest].join("\n")));
    },
  ],
];
