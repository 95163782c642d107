import { expect, test } from "vitest";
import { packOf } from "../../../test/pack-of.ts";
import { checkEntries } from "./check-entries.ts";
import type { CheckedRange } from "../log/check-range.ts";
import { Findings } from "../findings.ts";
import type { PackLog } from "../log/pack-log.ts";
import { Placement } from "../files/placement.ts";

const ids = ["rcpt_01jd3gqq8zb14p1s0a5r2h0y8g", "evt_01jd3gqq8zb14p1s0a5r2h0y8h"] as const;

test.each(["null", "[]", "1", '"a"', "{}", '{"inclusion_proof":null}', "", "{"])(
  "a receipt or event outside the period that is %j is a finding",
  async (content) => {
    const findings = new Findings();
    const [receipt, event] = ids;
    const { files } = await packOf(
      {
        [`receipts/${receipt}.json`]: Buffer.from(content),
        [`events/${event}.json`]: Buffer.from(content),
      },
      findings,
    );
    const range = { placement: new Placement(files.count, 0), missing: new Findings(), count: 0, range: {} };
    const seen: unknown[] = [];
    const see = (entry: unknown): void => void seen.push(entry);
    // Nothing gets as far as being compared with the log.
    await checkEntries(files, findings, {} as PackLog, new Map(), range as unknown as CheckedRange, see);
    const failed = findings.lines().filter(({ result }) => result === "failed");
    expect(failed.map(({ id, detail }) => [id, detail.split(":")[0]])).toEqual([
      ["receipts", `receipts/${receipt}.json`],
      ["events", `events/${event}.json`],
    ]);
    expect(seen).toEqual([]);
  },
);
