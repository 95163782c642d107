import { createHash } from "node:crypto";
import { EVIDENCE_FORMAT } from "@attestore/proof";
import { expect, test } from "vitest";
import { storedZip } from "../../test/stored-zip.ts";
import { blobSource } from "../zip/blob-source.ts";
import { ZipReader } from "../zip/zip-reader.ts";
import { checkEntries } from "./check-entries.ts";
import type { CheckedRange } from "./check-range.ts";
import { Findings } from "./findings.ts";
import { PackFiles } from "./pack-files.ts";
import type { PackLog } from "./pack-log.ts";
import { Placement } from "./placement.ts";

const ids = ["rcpt_01jd3gqq8zb14p1s0a5r2h0y8g", "evt_01jd3gqq8zb14p1s0a5r2h0y8h"] as const;
const moment = "2026-11-20T00:00:00.000Z";

/** A pack of these files alone. */
async function packOf(files: Readonly<Record<string, Buffer>>, findings: Findings): Promise<PackFiles> {
  const listed = Object.entries(files).map(([path, bytes]) => ({
    path,
    size_bytes: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
  }));
  const manifest = {
    format: EVIDENCE_FORMAT,
    generator: "attestore-server 1",
    org_id: "org_01jd3gqq8zb14p1s0a5r2h0y8j",
    period: { from: moment, to: moment },
    exported_at: moment,
    log: { origin: "log.example.com", tree_size: 0, root_hash: "00".repeat(32) },
    files: listed,
  };
  const zip = storedZip({ ...files, "manifest.json": Buffer.from(JSON.stringify(manifest)) });
  const reader = await ZipReader.open(blobSource(new Blob([new Uint8Array(zip)])));
  return (await PackFiles.open(reader, findings)) ?? expect.unreachable();
}

test.each(["null", "[]", "1", '"a"', "{}", '{"inclusion_proof":null}', "", "{"])(
  "a receipt or event outside the period that is %j is a finding",
  async (content) => {
    const findings = new Findings();
    const [receipt, event] = ids;
    const files = await packOf(
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
