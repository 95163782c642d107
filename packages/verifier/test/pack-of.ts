import { createHash } from "node:crypto";
import { EVIDENCE_FORMAT } from "@attestore/proof";
import type { Findings } from "../src/pack/findings.ts";
import { PackFiles } from "../src/pack/files/pack-files.ts";
import { ZipReader } from "../src/zip/zip-reader.ts";
import { storedZip } from "./stored-zip.ts";

const moment = "2026-11-20T00:00:00.000Z";

/** A pack of these files and a manifest, and the bytes of its ZIP, which may be changed. */
export async function packOf(
  files: Readonly<Record<string, Uint8Array>>,
  findings: Findings,
): Promise<{ files: PackFiles; zip: Buffer }> {
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
  const reader = await ZipReader.open({
    size: zip.length,
    read: (position, length) => Promise.resolve(new Uint8Array(zip.subarray(position, position + length))),
    close: () => Promise.resolve(),
  });
  const opened = await PackFiles.open(reader, findings);
  if (opened === null) throw new Error("the pack has no manifest");
  return { files: opened, zip };
}
