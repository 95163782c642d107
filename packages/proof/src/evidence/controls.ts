/**
 * A control that auditors ask about, and the files of a pack that are relevant to it. The pack does
 * not claim that the control is met: auditors decide that.
 */
export interface Control {
  framework: string;
  control: string;
  asks: string;
  shows: string;
  files: string[];
}

const RUNS = "runs/";
const RECEIPTS = "receipts/";
const EVENTS = "events/";

export const CONTROLS: readonly Control[] = [
  {
    framework: "SOC 2 (Trust Services Criteria, Availability)",
    control: "A1.2",
    asks: "Data backup processes and recovery infrastructure are designed, operated and monitored to meet the objectives.",
    shows:
      "Schedules, retention and objectives in force and their changes; every scheduled backup, made or missed; what was noticed and when.",
    files: ["summary.json", "policy.json", RUNS, RECEIPTS, EVENTS],
  },
  {
    framework: "SOC 2 (Trust Services Criteria, Availability)",
    control: "A1.3",
    asks: "Recovery plan procedures are tested, to support recovery that meets the objectives.",
    shows:
      "Every scheduled restore test with its result: passed, failed or missed; checks with expectation and observation; RPO and RTO achieved.",
    files: ["summary.json", RUNS, RECEIPTS, EVENTS],
  },
  {
    framework: "ISO/IEC 27001:2022",
    control: "A.8.13",
    asks: "Backup copies are maintained and regularly tested in accordance with the agreed policy on backup.",
    shows: "The policy as it is configured, what was backed up under it, and the tests of those copies.",
    files: ["policy.json", "summary.json", RUNS, RECEIPTS],
  },
  {
    framework: "NIS2 (Directive (EU) 2022/2555)",
    control: "Article 21(2)(c)",
    asks: "Business continuity, such as backup management and disaster recovery.",
    shows:
      "Management of backups and regular restores, with failures and how long they lasted. Not crisis management.",
    files: ["summary.json", "policy.json", RUNS, RECEIPTS, EVENTS],
  },
  {
    framework: "DORA (Regulation (EU) 2022/2554)",
    control: "Article 12",
    asks: "Backup policies and procedures; restoration and recovery procedures, tested periodically; recovery time and point objectives.",
    shows:
      "Policy, tests of restoration with their checks of the restored data, recovery times against the objectives.",
    files: ["policy.json", "summary.json", RUNS, RECEIPTS, EVENTS],
  },
  {
    framework: "HIPAA (45 CFR)",
    control: "164.308(a)(7)(ii)(A), (B), (D)",
    asks: "Data backup plan, disaster recovery plan, and procedures for periodic testing and revision.",
    shows:
      "Exact copies made on schedule, restores of them, periodic tests, and changes of the plan as configured. Not the written plan itself.",
    files: ["policy.json", "summary.json", RUNS, RECEIPTS, EVENTS],
  },
];

/** The text of controls.json, the same in every pack of a version. */
export function formatControls(): string {
  return `${JSON.stringify({ v: 1, controls: CONTROLS }, null, 2)}\n`;
}
