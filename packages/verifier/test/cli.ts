import { spawn } from "node:child_process";
import { once } from "node:events";
import { inject } from "vitest";

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs attestore-verify as a shell would, with nothing of this process's environment but its PATH.
 */
export async function attestoreVerify(
  args: string[],
  { env = {}, stdin = "" }: { env?: Record<string, string>; stdin?: string } = {},
): Promise<Finished> {
  const child = spawn(process.execPath, [inject("programs")["attestore-verify"], ...args], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
  });
  const finished: Finished = { code: null, stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (finished.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (finished.stderr += text));
  child.stdin.end(stdin);
  [finished.code] = (await once(child, "close")) as [number | null];
  return finished;
}

export interface JsonReport {
  verdict: string;
  exit_code: number;
  expect_passed: string | null;
  receipts: {
    receipt: string;
    verdict: string;
    kind: string | null;
    result: string | null;
    statement: unknown;
    checks: { id: string; title: string; result: string; detail: string; hint: string | null }[];
    error: { code: string; message: string } | null;
  }[];
}

/** Runs it with --json; the exit code in the report has to be the one that it ended with. */
export async function report(
  args: string[],
  options: Parameters<typeof attestoreVerify>[1] = {},
): Promise<JsonReport> {
  const { code, stdout, stderr } = await attestoreVerify([...args, "--json"], options);
  if (stdout === "") throw new Error(`no report; exit code ${code}: ${stderr}`);
  const parsed = JSON.parse(stdout) as JsonReport;
  if (parsed.exit_code !== code) throw new Error(`ended with ${code} and reported ${parsed.exit_code}`);
  return parsed;
}

/** The ids of the first receipt's checks with that result. */
export function checksOf({ receipts }: JsonReport, result: string): string[] {
  return (receipts[0]?.checks ?? []).filter((check) => check.result === result).map(({ id }) => id);
}
