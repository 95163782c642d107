/**
 * One measured run of the pipeline, in a process of its own so that its peak memory is its own. See
 * pipeline.ts.
 */
import { createHash } from "node:crypto";
import { readCiphertext, holdToDigest } from "../src/crypto/ciphertext.ts";
import { readFilePieces, writeFilePieces } from "../src/crypto/file-pieces.ts";
import { seal } from "../src/crypto/seal.ts";
import { unseal } from "../src/crypto/unseal.ts";
import { writeBlob } from "../src/crypto/blob.ts";

const [way, input = "", output = "", key = "", sha256 = ""] = process.argv.slice(2);
const signal = new AbortController().signal;
let digest = sha256;

if (way === "seal") {
  const ciphertext = seal(readFilePieces(input), [key]);
  if (output === "") {
    const hash = createHash("sha256");
    for await (const piece of ciphertext) hash.update(piece);
    digest = hash.digest("hex");
  } else {
    digest = (await writeBlob(ciphertext, output, signal)).sha256;
  }
} else {
  const dump = unseal(holdToDigest(readCiphertext({ path: input }), sha256), [key]);
  if (output === "") for await (const _ of dump);
  else await writeFilePieces(output, dump, signal);
}

const { user, system } = process.cpuUsage();
process.stdout.write(
  JSON.stringify({
    cpu_seconds: (user + system) / 1e6,
    rss_mib: process.resourceUsage().maxRSS / 1024,
    sha256: digest,
  }),
);
