import { plural } from "./format.ts";

export const agents = {
  title: "Agents",
  lead: "Agents run on your hosts, make backups and restore them. Each signs its receipts with its own key.",
  attach: "Attach an agent",
  empty:
    "No agent is attached yet. An agent runs on the host that has the data. Without one, nothing is backed up.",
  noneOf: { active: "No agent is active.", revoked: "No agent is revoked." },
  show: "Show",
  filter: { active: "Active", revoked: "Revoked", all: "All" },
  column: {
    name: "Agent",
    state: "State",
    version: "Version",
    seen: "Last seen",
    spool: "Queued",
    kit: "Recovery kit",
  },
  state: {
    active: "active",
    stopped: "not running",
    silent: "silent",
    revoked: "revoked",
    new: "not seen yet",
  },
  spool: (spool: { backups: number; receipts: number; events: number } | null): string => {
    if (spool === null) return "unknown";
    const parts = [
      spool.backups > 0 ? plural(spool.backups, "backup") : "",
      spool.receipts > 0 ? plural(spool.receipts, "receipt") : "",
      spool.events > 0 ? plural(spool.events, "event") : "",
    ].filter((part) => part !== "");
    return parts.length === 0 ? "nothing" : parts.join(", ");
  },
  kit: {
    unknown: "unknown",
    none: "none",
    untested: "never tested",
    old: "test is over a year old",
    tested: "tested",
  },
  nudge: {
    title: "If these hosts and their keys are lost, so are their backups",
    text: (names: string) => `Not covered by a tested recovery kit: ${names}.`,
    make: "On each of them, make a kit, print it, and test it:",
  },
  detail: {
    facts: "Details",
    name: "Name",
    hostname: "Host name",
    platform: "Platform",
    version: "Version",
    attached: "Attached",
    seen: "Last seen",
    revoked: "Revoked",
    spool: "Queued",
    id: "Identifier",
    keys: "Keys",
    signing: "Signing key",
    signingExplained:
      "This agent's receipts are verified against this key. To compare the fingerprint, run attestore doctor on the host.",
    fingerprint: "Fingerprint",
    publicKey: "Public key (base64)",
    copyKey: "Copy public key",
    earlierKey: "Public key",
    earlier: "Earlier signing keys",
    earlierExplained:
      "Each key signed its successor. Receipts signed before a key was replaced stay valid and can be verified with it.",
    earlierFrom: "From",
    earlierUntil: "Replaced",
    recipients: "Backups are encrypted to",
    recipientsUnknown:
      "The agent has not reported this yet. Version 0.1.0 and later report it with every heartbeat.",
    isKit: "recovery kit",
    kit: "Recovery kit",
    kitNone: "There is none. If this host and its keys are lost, so are its backups. On the host:",
    kitUntested: "It was made but never tested, so nobody knows whether it works. On the host:",
    kitOld: "It was last tested over a year ago. Test it again. On the host:",
    kitTested: "It was tested and works.",
    kitCommands: "Commands for the recovery kit",
    kitMade: "Made",
    kitTestedAt: "Tested",
    sources: "Sources of this agent",
    noSources:
      "It backs up nothing yet. Add a source on the page Sources, or run attestore source add on its host.",
    sourceName: "Source",
    engine: "Engine",
    lastBackup: "Last backup",
    lastProven: "Last proof",
    never: "never",
  },
  rename: {
    action: "Rename",
    label: "Name of the agent",
    save: "Save",
    done: (name: string) => `The agent is now called ${name}.`,
  },
  revoke: {
    action: "Revoke",
    title: (name: string) => `Revoke ${name}?`,
    confirm: (name: string) => `Revoke ${name}`,
    goes: "From now on every call of this agent is refused, permanently. Receipts still queued on the host will be rejected.",
    sources: (names: string) => `No longer backed up until you give them to another agent: ${names}.`,
    stays: "What stays: its record, its public key, its backups and its receipts.",
    already: "This agent is already revoked",
  },
} as const;
