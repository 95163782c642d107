import { formatBytes } from "./format.ts";

export const quotas = {
  title: "Quotas",
  explanation:
    "Backups beyond a quota wait on their hosts, and no further agent can be attached. What is stored stays; receipts and alarms always go on.",
  askOperator: "The operator of this service can change them.",
  names: { bytes: "Stored bytes", objects: "Backups", agents: "Agents", requests: "Calls" },
  used: (used: string, limit: string) => `${used} of ${limit}`,
  unlimited: (used: string) => `${used}, no limit`,
  percent: (percent: number) => `${percent} % used`,
  full: "nothing is left",
  calls: (limit: string, window_s: number) => `${limit} in ${window_s} s`,
  noLimit: "no limit",
  amount: (name: "bytes" | "objects" | "agents" | "requests", value: number) =>
    name === "bytes" ? formatBytes(value) : value.toLocaleString("en-GB"),
  change: {
    action: "Change the quotas",
    title: (org: string) => `Quotas of ${org}`,
    explanation:
      "A number, or none for no limit. Leave a field empty for the service's own. The organisation's log tells of the change.",
    labels: {
      bytes: "Stored bytes",
      objects: "Backups",
      agents: "Agents",
      requests: "Calls in each window",
    },
    default: (value: string) => `The service's own: ${value}`,
    invalid: "Type a whole number, none, or nothing.",
    save: "Save the quotas",
  },
} as const;
