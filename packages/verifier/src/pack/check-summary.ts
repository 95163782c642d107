import {
  canonicalJson,
  type EvidenceSummary,
  fromUtf8,
  indexPage,
  type Json,
  PACK_FILES,
  parseJson,
  ProofError,
} from "@attestore/proof";
import manifest from "../../package.json" with { type: "json" };
import type { Findings } from "./findings.ts";
import type { PackFiles } from "./files/pack-files.ts";

const MAX_SUMMARY = 64 * 1024 * 1024;
const GENERATOR = `attestore-server ${manifest.version}`;

/** Compares the summary and the page with numbers that were counted from the pack's contents. */
export async function checkSummary(
  files: PackFiles,
  findings: Findings,
  counted: EvidenceSummary,
): Promise<void> {
  await compareSummary(files, findings, counted);
  await comparePage(files, findings, counted);
}

async function compareSummary(files: PackFiles, findings: Findings, counted: EvidenceSummary): Promise<void> {
  await files.parsed("summary", PACK_FILES.summary, MAX_SUMMARY, (bytes) => {
    const said = parseJson(bytes);
    const expected = parseJson(JSON.stringify(counted));
    const all = differencesOf(said, expected, "");
    // Versions word "not proven" differently, and older ones do not say what was proven at the end.
    const isOfAnother = ({ text }: Difference): boolean =>
      text.startsWith("not_proven") || /^sources\.\d+\.proof is nothing,/.test(text);
    const differences = all.filter((each) => !each.isAdded && (isOfThisVersion(files) || !isOfAnother(each)));
    if (differences.length > 0) {
      const named = differences.slice(0, 5).map(({ text }) => text);
      throw new ProofError("malformed_evidence", `counted otherwise: ${named.join("; ")}`);
    }
    const added = all.filter(({ isAdded }) => isAdded).slice(0, 5);
    const besides =
      added.length === 0
        ? ""
        : `; unknown to this verifier and not counted: ${added.map(({ text }) => text).join("; ")}`;
    findings.hold("summary", `every number in it${besides}`);
  });
}

async function comparePage(files: PackFiles, findings: Findings, counted: EvidenceSummary): Promise<void> {
  const { generator } = files.manifest;
  await files.parsed("page", PACK_FILES.index, MAX_SUMMARY, (bytes) => {
    if (fromUtf8(bytes) === indexPage(counted, generator)) findings.hold("page", "word for word");
    else if (isOfThisVersion(files))
      throw new ProofError("malformed_evidence", "it differs from the page that the counted numbers produce");
    else
      findings.leaveOpen(
        "page",
        `it was made by ${generator}, but this verifier knows the page of ${GENERATOR}: use summary.json`,
      );
  });
}

function isOfThisVersion({ manifest: { generator } }: PackFiles): boolean {
  return generator === GENERATOR;
}

/** Where two values differ, with both values. */
interface Difference {
  text: string;
  /** A field that the recomputed object does not have: another version counts it too. */
  isAdded: boolean;
}

function differencesOf(
  said: Json | undefined,
  counted: Json | undefined,
  path: string,
  isAdded = false,
): Difference[] {
  if (isContainer(said) && isContainer(counted) && Array.isArray(said) === Array.isArray(counted)) {
    const [a, b] = [Object.entries(said), Object.entries(counted)];
    const names = new Set([...a, ...b].map(([name]) => name));
    const [mapA, mapB] = [new Map<string, Json>(a), new Map<string, Json>(b)];
    return [...names].flatMap((name) =>
      differencesOf(
        mapA.get(name),
        mapB.get(name),
        path === "" ? name : `${path}.${name}`,
        !Array.isArray(counted) && !mapB.has(name),
      ),
    );
  }
  const [left, right] = [textOf(said), textOf(counted)];
  return left === right ? [] : [{ text: `${path} is ${left}, but the count is ${right}`, isAdded }];
}

function isContainer(value: Json | undefined): value is Json[] | { [name: string]: Json } {
  return typeof value === "object" && value !== null;
}

function textOf(value: Json | undefined): string {
  return value === undefined ? "nothing" : canonicalJson(value).slice(0, 80);
}
