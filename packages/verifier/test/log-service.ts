import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import {
  CompactRange,
  formatLeaf,
  leafHash,
  proveConsistency,
  proveInclusion,
  toHex,
  utf8,
  type Hash,
  type ReceiptBundle,
} from "@attestore/proof";
import { signedCheckpoint } from "../../proof/test/receipt-fixture.ts";
import type { TestKey } from "../../proof/test/signing-keys.ts";

export const TOKEN = "ats_dGhlIHRva2Vu";

/** An answer as the service would give it, which a test may then falsify. */
export interface Answers {
  bundle: (id: string) => unknown;
  head: () => Promise<unknown>;
  proof: (leaf: string, size: number, from: number) => Promise<unknown>;
  /** Only of a log that lost entries. */
  generations?: (size: number) => Promise<unknown>;
}

/** Of a log of `size` leaves: the receipt's where its bundle says, made-up ones around it. */
export function logAnswers(bundle: ReceiptBundle, log: TestKey, size: number): Answers {
  const at = bundle.inclusion_proof.log_index;
  const nodes = new Map<string, Hash>();
  const range = CompactRange.empty();
  const roots = [range.root()];
  for (let i = 0; i < size; i++) {
    const hash = leafHash(i === at ? formatLeaf(bundle.leaf) : utf8(`another leaf ${i}`));
    range.append(hash, (level, index, node) => nodes.set(`${level}/${index}`, node));
    roots.push(range.root());
  }
  const read = (level: number, index: number): Hash => nodes.get(`${level}/${index}`) ?? new Uint8Array(0);
  const checkpoint = (of: number): Promise<string> =>
    signedCheckpoint(log, of, roots[of] ?? new Uint8Array(0));
  return {
    bundle: () => bundle,
    head: async () => ({ log_id: bundle.log.origin, tree_size: size, checkpoint: await checkpoint(size) }),
    proof: async (_leaf, to, from) => ({
      inclusion: { log_index: at, tree_size: to, hashes: proveInclusion(at, to, read).map(toHex) },
      consistency: { from, to, hashes: proveConsistency(from, to, read).map(toHex) },
      checkpoint: await checkpoint(to),
    }),
  };
}

/** Answers over real HTTPS, to those who have the token. */
export class LogService {
  requests: string[] = [];
  answers: Answers;
  /** What to write in place of any answer, to the byte. */
  raw: string | null = null;
  readonly caFile: string;
  readonly #server: Server;

  constructor(directory: string, answers: Answers) {
    this.answers = answers;
    this.caFile = join(directory, "ca.pem");
    const keyFile = join(directory, "tls.key");
    selfSigned(keyFile, this.caFile);
    this.#server = createServer({
      key: readFileSync(keyFile),
      cert: readFileSync(this.caFile),
      minVersion: "TLSv1.3",
    });
    this.#server.on("request", (request, response) => {
      this.requests.push(request.url ?? "");
      if (this.raw !== null) return void request.socket.end(this.raw);
      const isKnown = request.headers.authorization === `Bearer ${TOKEN}`;
      void (isKnown ? this.#answer(request.url ?? "") : Promise.resolve(undefined)).then((body) => {
        response.statusCode = body === undefined ? (isKnown ? 404 : 401) : 200;
        const refusal = { error: isKnown ? "not_found" : "unauthenticated" };
        response.end(typeof body === "string" ? body : JSON.stringify(body ?? refusal));
      });
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, "localhost");
    await once(this.#server, "listening");
    return `https://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #answer(path: string): Promise<unknown> {
    const { pathname, searchParams } = new URL(path, "https://localhost");
    const id = /^\/api\/receipts\/(\w+)\/bundle$/.exec(pathname)?.[1];
    if (id !== undefined) return this.answers.bundle(id);
    if (pathname === "/v1/log/head") return this.answers.head();
    const number = (name: string): number => Number(searchParams.get(name));
    if (pathname === "/v1/log/generations") return this.answers.generations?.(number("tree_size"));
    if (pathname !== "/v1/log/proof") return undefined;
    return this.answers.proof(searchParams.get("leaf") ?? "", number("tree_size"), number("from"));
  }
}

function selfSigned(keyFile: string, certificateFile: string): void {
  const kind = "-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2".split(" ");
  const name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const args = ["req", ...kind, ...name, "-keyout", keyFile, "-out", certificateFile];
  const { error, status, stderr } = spawnSync("openssl", args);
  if (error) throw error;
  if (status !== 0) throw new Error(`openssl req: ${stderr.toString()}`);
}
