import { plural } from "./format.ts";

/** Texts of evidence packs that the browser verifies. */
export const packs = {
  notBoth:
    "Verify receipts and evidence packs one after the other: a key that you give for a receipt would count against a pack without it. Remove either the receipts or the packs.",
  twoLists: "Give one list of keys at a time.",
  trueNotMet: "The pack is true. It says that restore tests FAILED or were MISSED.",
  trueNonePassed: "The pack is true. It shows no restore test that passed.",
  facts: {
    org: "Organisation",
    period: "Period",
    sources: "Sources",
    tests: "Restore tests",
    scheduled: "Scheduled restore tests",
    backups: "Scheduled backups",
  },
  period: (from: string, to: string) => `${from} to ${to} (not included)`,
  tests: (passed: number, failed: number) => `${passed} passed, ${failed} failed`,
  runs: (
    {
      total,
      passed,
      failed,
      missed,
      waiting,
      withdrawn,
    }: Record<"total" | "passed" | "failed" | "missed" | "waiting" | "withdrawn", number>,
    done: string,
  ) =>
    `${total}: ${passed} ${done}, ${failed} failed, ${missed} missed, ${waiting} still waiting, ${withdrawn} withdrawn`,
  done: { tests: "passed", backups: "made" },
  notProven: "What the pack does not prove",
  basis: {
    title: "What it rests on",
    agentKeys: "Agents' keys",
    logKey: "Log's key",
    clock: "Clock",
    witnesses: "Witnesses",
    events: "Events",
    none: "none",
    key: (agentId: string, from: string, receipts: number) =>
      `of ${agentId}, ${from}, signed ${plural(receipts, "receipt")}`,
    from: {
      file: "given by you",
      list: "in your list",
      signed_list: "in your list",
      rotation: "by a rotation from a key that you gave",
      operator: "not given: known only from the operator",
    },
    logFrom: { given: "given by you", claimed: "not given: known only from the operator" },
    service: "the service's, for the times of entries",
    witnessed: (at: string) => `; a witness saw the checkpoint at ${at}`,
    eventCounts: (signed: number, service: number) =>
      `${signed} signed by their agents, ${service} the service's own word`,
    unsigned: (count: number, agentId: string) =>
      `${plural(count, "event")} attributed to ${agentId} without a signature: the operator could have invented them`,
  },
  together: (count: number, org: string) => `${plural(count, "pack")} of ${org} as one chain`,
} as const;
