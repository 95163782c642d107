import { describe, expect, it } from "vitest";
import { fromBase64, ProofError, verifyConsistency, verifyInclusion } from "../src/index.ts";
import consistencyText from "./vectors/merkle/consistency.json?raw";
import inclusionText from "./vectors/merkle/inclusion.json?raw";

interface InclusionCase {
  case: string;
  leafIdx: bigint;
  treeSize: bigint;
  root: string;
  leafHash: string;
  proof: string[] | null;
  wantErr: boolean;
}

interface ConsistencyCase {
  case: string;
  size1: bigint;
  size2: bigint;
  root1: string;
  root2: string;
  proof: string[] | null;
  wantErr: boolean;
}

/** 64-bit sizes do not fit a double: every number is read from its source text. */
const parseBig = (text: string): unknown =>
  JSON.parse(text, ((_key: string, value: unknown, context: { source: string }) =>
    typeof value === "number" ? BigInt(context.source) : value) as (key: string, value: unknown) => unknown);

const inclusionCases = parseBig(inclusionText) as InclusionCase[];
const consistencyCases = parseBig(consistencyText) as ConsistencyCase[];

function expectOutcome(verify: () => void, wantErr: boolean): void {
  if (wantErr) expect(verify).toThrow(ProofError);
  else expect(verify).not.toThrow();
}

describe("published Merkle proof vectors", () => {
  it("holds all 196 cases, one of them beyond 2^53", () => {
    expect(inclusionCases.length + consistencyCases.length).toBe(196);
    expect(inclusionCases.some(({ leafIdx }) => leafIdx === 18446744073709551615n)).toBe(true);
  });

  it.each(inclusionCases)("$case", ({ leafIdx, treeSize, root, leafHash, proof, wantErr }) => {
    expectOutcome(() => {
      verifyInclusion({
        leafIndex: leafIdx,
        treeSize,
        leafHash: fromBase64(leafHash),
        rootHash: fromBase64(root),
        hashes: (proof ?? []).map(fromBase64),
      });
    }, wantErr);
  });

  it.each(consistencyCases)("$case", ({ size1, size2, root1, root2, proof, wantErr }) => {
    expectOutcome(() => {
      verifyConsistency({
        from: size1,
        to: size2,
        fromRoot: fromBase64(root1),
        toRoot: fromBase64(root2),
        hashes: (proof ?? []).map(fromBase64),
      });
    }, wantErr);
  });
});
