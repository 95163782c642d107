import { formatBytes } from "./format.ts";

export const quotas = {
  title: "Quotas",
  explanation:
    "Once a quota is used up, new backups wait on their hosts or no further agent can be attached. Stored backups stay, and receipts and alerts always continue.",
  askOperator: "The operator of this service can change quotas.",
  names: { bytes: "Stored bytes", objects: "Backups", agents: "Agents", requests: "Calls" },
  used: (used: string, limit: string) => `${used} of ${limit}`,
  unlimited: (used: string) => `${used}, no limit`,
  percent: (percent: number) => `${percent} % used`,
  full: "used up",
  calls: (limit: string, window_s: number) => `${limit} in ${window_s} s`,
  noLimit: "no limit",
  amount: (name: "bytes" | "objects" | "agents" | "requests", value: number) =>
    name === "bytes" ? formatBytes(value) : value.toLocaleString("en-GB"),
  change: {
    action: "Change the quotas",
    title: (org: string) => `Quotas of ${org}`,
    explanation:
      "Enter a number, or none for no limit. Leave a field empty for the service's default. The organisation's log records the change.",
    labels: {
      bytes: "Stored bytes",
      objects: "Backups",
      agents: "Agents",
      requests: "Calls in each window",
    },
    default: (value: string) => `Default: ${value}`,
    invalid: "Enter a whole number or none, or leave it empty.",
    save: "Save the quotas",
  },
} as const;
