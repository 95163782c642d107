import { plainLine } from "@attestore/proof";
import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest, IncomingMessage } from "node:http";
import { styleText } from "node:util";
import manifest from "../package.json" with { type: "json" };
import { CannotTell } from "./cannot-tell.ts";
import { fileSha256, readSmallFile, reportReads } from "./files.ts";
import { HELP } from "./help.ts";
import { type Options, parseOptions, requireOptionsOfPacks, usage } from "./options.ts";
import { type Answer, exitCode, expectation, type Outcome, worst } from "./outcome.ts";
import { answerOfPacks, packsExpectation } from "./pack/answer-of-packs.ts";
import { packsJson, packsText } from "./pack/report-packs.ts";
import { sizesToCompare } from "./pack/files/log-sizes.ts";
import { isPack, verifyPackFile } from "./pack/verify-pack-file.ts";
import type { PackEvidence, PackOutcome } from "./pack/verify-pack.ts";
import { openFileSource } from "./zip/file-source.ts";
import { reportJson } from "./report-json.ts";
import { isOfFailedTest, type Paint, reportText } from "./report-text.ts";
import type { Service } from "./service.ts";
import { readLogKey, readPinnedKeys, readRotation, readWitnessKey } from "./trusted-keys.ts";
import { type Evidence, verifyOne } from "./verify-one.ts";

/**
 * Runs the program and returns its exit code. 1 means that a receipt is false, so no other outcome
 * may return 1.
 */
export async function run(args: string[]): Promise<0 | 1 | 2> {
  try {
    const options = parseOptions(args);
    if (options.help) return print(HELP);
    if (options.version) return print(`attestore-verify ${manifest.version}\n`);
    if (options.verbose) reportDetails();
    const packs = await Promise.all(options.receipts.map(isPack));
    if (packs.includes(true)) return await runPacks(options, packs);
    const answer = await ask(options);
    const code = exitCode(answer);
    // A true receipt of a failed restore test ends with 0, and is told of.
    if (!options.quiet || code !== 0 || answer.outcomes.some(isOfFailedTest))
      print(options.json ? reportJson(answer) : reportText(answer, paint));
    return code;
  } catch (error) {
    const message = error instanceof CannotTell ? error.message : `bug in attestore-verify: ${String(error)}`;
    process.stderr.write(`attestore-verify: ${plainLine(message)}\n`);
    return 2;
  }
}

async function runPacks(options: Options, packs: readonly boolean[]): Promise<0 | 1 | 2> {
  if (packs.includes(false)) throw usage("give either evidence packs or receipts, not both");
  requireOptionsOfPacks(options);
  const pinned = await readPinnedKeys(options);
  const evidence: PackEvidence = {
    logKey: options.logKey === undefined ? undefined : await readLogKey(options.logKey),
    keys: pinned.keys,
    keysOfOrg: pinned.orgId,
    witnessKeys: await Promise.all(options.witnessKeys.map(readWitnessKey)),
    requireWitnesses: options.witnesses,
    sizes: await sizesToCompare(options.receipts.map((pack) => () => openFileSource(pack))),
  };
  const outcomes: PackOutcome[] = [];
  // Members of a pack are read where they are in it; this reads it from beginning to end.
  if (options.verbose) for (const pack of options.receipts) await fileSha256(pack);
  for (const pack of options.receipts) outcomes.push(await verifyPackFile(pack, evidence));
  const answer = answerOfPacks(outcomes, options.expectPassed);
  const code = exitCode(answer);
  if (!options.quiet || code !== 0 || packsExpectation(outcomes) === "not_met")
    print(options.json ? packsJson(answer) : packsText(answer, paint));
  return code;
}

async function ask(options: Options): Promise<Answer> {
  const evidence: Evidence = {
    pinned: await readPinnedKeys(options),
    rotations: (await Promise.all(options.rotations.map(readRotation))).filter((each) => each !== null),
    logKey: options.logKey === undefined ? undefined : await readLogKey(options.logKey),
    witnessKeys: await Promise.all(options.witnessKeys.map(readWitnessKey)),
    requireWitnesses: options.witnesses,
    ciphertextSha256: options.ciphertext === undefined ? undefined : await fileSha256(options.ciphertext),
    requireLog: options.requireLog,
    service: await serviceOf(options),
  };
  const outcomes: Outcome[] = [];
  for (const receipt of options.receipts) outcomes.push(await verifyOne(receipt, evidence));
  return {
    verdict: worst(outcomes.map(({ verdict }) => verdict)),
    expectPassed: options.expectPassed ? expectation(outcomes) : null,
    outcomes,
  };
}

const MAX_CA_FILE = 1024 * 1024;

async function serviceOf({ prove, ca }: Options): Promise<Service | undefined> {
  if (prove === undefined) return undefined;
  const token = process.env["ATTESTORE_TOKEN"] ?? "";
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new CannotTell(
      "usage",
      "--prove needs a token for the service in the environment variable ATTESTORE_TOKEN",
    );
  return {
    url: prove,
    token,
    ca: ca === undefined ? undefined : Buffer.from(await readSmallFile(ca, MAX_CA_FILE)).toString("latin1"),
  };
}

function reportDetails(): void {
  const tell = (text: string): void => void process.stderr.write(`attestore-verify: ${plainLine(text)}\n`);
  tell(`version ${manifest.version}, Node ${process.version}`);
  reportReads(tell);
  subscribe("http.client.response.finish", (message) => {
    const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
    tell(`${request.method} https://${request.host}${request.path}: ${response.statusCode ?? 0}`);
  });
}

const paint: Paint = (style, text) => styleText(style, text, { stream: process.stdout });

function print(text: string): 0 {
  process.stdout.write(text);
  return 0;
}
